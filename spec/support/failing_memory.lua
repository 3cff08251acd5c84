-- failing_memory.lua: what failing_memory.c runs. One round uses as much of the boundary as fits three requests.

local fastslua = require("fastslua")
local socket = require("socket")

local app = fastslua.app()
local big = ("x"):rep(100000)

-- No closure per request: LuaJIT itself loses one that it has no memory to finish.
local function finished(req, res)
  req.user = { res.status_code, res.bytes }
end

app:post("/units/:id", function(req, res)
  req.user = "me"
  res:on_finish(finished)
  local seen = { req.params.id, req.query.q, req.headers.Host, req:header("host"), req.body, req:json(), req.path }
  seen[#seen + 1] = req.cookies.a .. req:accepts("json") .. req:is("json") .. req.scheme .. req.host
  res:set("X-List", { "a", "b" }):cookie("a", "1", { path = "/" }):vary("Accept"):links({ next = "/" }):type("json")
  res:json({ id = req.params.id, text = fastslua.json.encode(seen), route = req.route, from = req.remote_address })
end)
app:get("/error", function()
  error({})
end)
app:get("/big", function()
  return big
end)

local server = assert(app:listen({ port = 0, on_error = function() end, access_log = function() end }))
local client

-- One round. A round that memory has failed may have lost its connection, or answers: the next one begins anew.
local function round()
  local host = " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
  local body = '{"a":[1,"\\n"]}'
  if not client then
    client = assert(socket.connect("127.0.0.1", server:port()))
    client:settimeout(0)
  end
  local fields = "Content-Type: application/json\r\nCookie: a=1\r\nContent-Length: " .. #body .. "\r\n\r\n"
  client:send("POST /units/7?q=1" .. host .. fields .. body)
  client:send("GET /error" .. host .. "\r\nGET /big" .. host .. "\r\n")
  local wanted = server:stats().requests + 3
  for _ = 1, 10000 do
    server:step(1)
    local whole, problem, part = client:receive(65536)
    local quiet = #(whole or part or "") == 0
    if problem == "closed" then
      client = nil
      return
    end
    if quiet and server:stats().requests >= wanted then
      return
    end
  end
  error("the requests of a round were not dispatched")
end

return function()
  local fine, message = pcall(round)
  if not fine then
    if client then
      client:close()
      client = nil
    end
    error(message, 0)
  end
end
