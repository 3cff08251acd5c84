-- finalizers.lua [SEED [ROUNDS]]: requests of every kind while finalizers run at every collection, call into the
-- library in the midst of whatever it does, and fail now and then, which Lua raises wherever the collection happens to
-- be. Prints how many have run, and every "internal error" that was raised.

local fastslua = require("fastslua")

math.randomseed(tonumber(arg and arg[1] or 1))
local rounds = tonumber(arg and arg[2] or 10)

-- What is being served, for the finalizers.
local req, res, app, client
local other = fastslua.test(function(request)
  return { request.query.x }
end)

local long = ("x"):rep(900)
local count, depth, armed = 0, 0, true

-- What a finalizer does, by chance.
local ACTS = {
  function()
    return req.headers.Host, req.query, req.params, req.cookies, req.body, req.path
  end,
  function()
    req.late = count
    res.late = count
  end,
  function()
    return fastslua.json.encode({ a = 1, b = { long } }, { sort_keys = true })
  end,
  function()
    return fastslua.json.decode('{"a":["\\u0041\\n",{}]}')
  end,
  function()
    return res:get("X"), res:has("Y"), res.status_code
  end,
  function()
    res:set("X-Late", count)
  end,
  function()
    res:cookie("c" .. count % 5, count)
  end,
  function()
    return client.server:stats(), client.server:address(), tostring(client.server), tostring(req)
  end,
  function()
    client.server:step()
  end,
  function()
    return other:get("/?x=1")
  end,
  function()
    return fastslua
      .test(function()
        return long
      end)
      :get("/")
  end,
  function()
    res:on_finish(function() end)
  end,
  function()
    app:get("/late/" .. count, function() end)
  end,
  function()
    client.server:on("request", function() end)
  end,
  function()
    return req:form(), req:multipart(), req:json()
  end,
  function()
    return req:accepts("json", "html"), req:is("json")
  end,
  function()
    collectgarbage()
  end,
  function()
    if count % 9 == 0 then
      res:send("late")
    end
  end,
  function()
    if count % 50 == 0 then
      client.server:close()
    end
  end,
}

local function note(fine, failure)
  if not fine and tostring(failure):find("internal error", 1, true) then
    io.write(failure, "\n")
  end
end

local function arm()
  getmetatable(newproxy(true)).__gc = function()
    if not armed then
      return
    end
    count = count + 1
    local fails = count % 17 == 0
    arm()
    if depth < 2 then
      depth = depth + 1
      note(pcall(ACTS[math.random(#ACTS)]))
      depth = depth - 1
    end
    if fails then
      error("a finalizer fails")
    end
  end
end

local function handler(request, response)
  req, res = request, response
  req.early, res.early = 1, 2
  local seen = { req.headers.host, req.query.a, req.params.id, req.cookies.c, req.path, req.remote_address, req.host }
  seen[#seen + 1] = #req:query_all("a") + #req:header_all("host")
  res:set("X", "1"):append("X", 2):vary("Accept"):links({ next = "/a" }):cookie("k", "v", { path = "/" }):type("json")
  res:on_finish(function()
    collectgarbage("step")
  end)
  note(pcall(req.json, req))
  note(pcall(req.form, req))
  note(pcall(req.multipart, req))
  local kind = req.params.id
  if kind == "fails" then
    error(setmetatable({}, {
      __tostring = function()
        collectgarbage("step")
        return long .. long
      end,
    }))
  elseif kind == "status" then
    error(fastslua.error(418, "tea", { details = { 1 }, headers = { ["X-A"] = "b" } }))
  elseif kind == "large" then
    return ("y"):rep(70000)
  elseif kind == "json" then
    return fastslua.json.decode(fastslua.json.encode({ seen, long, { b = { 1, 2, {} } } }))
  end
  return 201, { text = tostring(req) }, { ["X-Z"] = "1" }
end

local function begin()
  app = fastslua.app({ json = { sort_keys = true } })
  local router = fastslua.router()
  router:get("/:id", handler):post("/:id", handler)
  app:use(function(_, _, next)
    return next()
  end)
  app:use("/under/:team", router)
  app:get("/a/:id", handler):post("/a/:id", handler)
  app:on_error(function(failure, _, _, next)
    return next(failure)
  end)
  local function fails()
    error("listener")
  end
  client = fastslua.test(app, { on_error = function() end, access_log = function() end, on_log = fails })
  client.server:on("request", function(request)
    request.seen = 1
  end)
  client.server:on("connection", function() end):on("disconnect", fails):on("error", fails):on("response", fails)
end

local multipart = '--b\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\n' .. long .. "\r\n--b--\r\n"
local multipart_fields = { ["Content-Type"] = "multipart/form-data; boundary=b" }

local function round()
  for _, id in ipairs({ "one", "fails", "large", "status", "json" }) do
    note(pcall(client.get, client, "/a/" .. id .. "?a=1&a=%42", { cookies = { c = "d%41" } }))
    note(pcall(client.post, client, "/under/t/" .. id, { json = { a = "\n" } }))
    note(pcall(client.post, client, "/a/" .. id, { form = { a = "b" } }))
    note(pcall(client.post, client, "/a/" .. id, { body = multipart, headers = multipart_fields }))
    note(pcall(client.get, client, "/none"))
  end
end

begin()
collectgarbage("setpause", 0)
collectgarbage("setstepmul", 100000)
arm()
arm()
arm()
for number = 1, rounds do
  if number % 3 == 0 then
    note(pcall(begin))
  end
  -- It may be interrupted by the failure of a finalizer, anywhere.
  note(pcall(round))
end
armed = false
collectgarbage("setpause", 200)
io.write(count, " finalizers\n")
