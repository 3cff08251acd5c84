-- leaks.lua: a little of everything, over and over, for a tool that looks for memory that nobody gives back when the
-- Lua state ends. Prints nothing and leaves objects of every kind for the state to close.

local fastslua = require("fastslua")
local json = fastslua.json

-- Objects that live until the state closes.
_G.kept = {}

local function application()
  local app = fastslua.app({ json = { sort_keys = true } })
  local router = fastslua.router()
  router:get("/:name", function(req, res)
    res
      :set("X-Name", req.params.name)
      :cookie("seen", req.params.name)
      :json({ name = req.params.name, query = req.query })
  end)
  router:post("/form", function(req)
    return req:form().a or req:multipart()[1].body
  end)
  app:use(function(req, res, next)
    res:on_finish(function() end)
    req.mark = req:accepts("json", "html") or req:is("json")
    req.seen = { req.cookies, req.headers, req.host, req.remote_address, req:query_all("x"), req:header_all("host") }
    res:vary("Accept"):links({ next = "/" }):append("X-List", { "a", 1 })
    return next()
  end)
  app:use("/under/:team", router)
  app:get("/fails/:how", function(req)
    error(req.params.how == "status" and fastslua.error(418, "tea", { details = { 1 } }) or { "lost" })
  end)
  app:get("/large", function(_, res)
    res:send(("x"):rep(100000))
  end)
  app:on_error(function(failure, _, _, next)
    next(failure)
  end)
  return app
end

local multipart = '--b\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\ncontent\r\n--b--\r\n'

for round = 1, 20 do
  local app = application()
  local client = fastslua.test(app, {
    trusted_proxies = { "10.0.0.0/8" },
    allowed_hosts = { "localhost" },
    access_log = function() end,
    on_error = function() end,
  })
  client.server:on("request", function() end):once("disconnect", function() end)
  client:get("/under/red/one?x=1&x=2", { cookies = { a = "b" } })
  client:post("/under/red/form", { form = { a = "%" } })
  client:post(
    "/under/red/form",
    { body = multipart, headers = { ["Content-Type"] = "multipart/form-data; boundary=b" } }
  )
  client:get("/fails/status")
  client:get("/fails/otherwise")
  client:get("/large")
  client:get("/none")
  client:raw("GET / HTTP/1.1\r\nHost: evil\r\n\r\n")
  client:connect():send("GET /under")
  pcall(json.encode, { a = { b = print } }, { sort_keys = true })
  json.decode(json.encode({ "\n", { x = { y = {} } } }))
  json.decode("[1, {")
  pcall(fastslua.listen, { port = 0, colour = 1 }, print)
  local server = assert(app:listen({ host = "127.0.0.1", port = 0 }))
  server:step()
  if round % 2 == 0 then
    server:close()
  end
  if round % 5 == 0 then
    _G.kept[#_G.kept + 1] = { app, client, server }
  end
  if round % 3 == 0 then
    collectgarbage()
  end
end
