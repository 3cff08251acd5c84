-- plain.lua: the routes of the benchmarks on the plain-Lua server.

local json = require("plain.json")
local router = require("plain.router")
local server = require("plain.server")

local TEXT = "text/plain; charset=utf-8"

local hosts = {}

function hosts.plain(options, finish, big)
  local routes = router.new()
  local function health()
    return 200, TEXT, "OK"
  end
  routes:add("GET", "/health", health)
  routes:add("GET", "/api/health", health)
  routes:add("GET", "/units/:id", function(_, params)
    return 200, "application/json", json.encode({ id = params.id, alive = true })
  end)
  routes:add("GET", "/big", function()
    return 200, "application/octet-stream", big
  end)
  routes:add("GET", "/finish", function()
    finish()
    return 200, TEXT, "OK"
  end)
  return assert(server.listen(options, function(request)
    local handler, params = routes:find(request.method, request.path)
    if handler then
      return handler(request, params)
    end
    return params and 405 or 404, TEXT, params and "Method Not Allowed" or "Not Found"
  end))
end

return hosts
