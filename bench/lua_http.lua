-- lua_http.lua: lua-http, a server in Lua over cqueues, with the routes that the capacity scenarios ask, to compare
-- with.

local headers = require("http.headers")
local http_server = require("http.server")

local function answer(path)
  if path == "/health" then
    return "200", "text/plain; charset=utf-8", "OK"
  end
  local id = path:match("^/units/(%d+)$")
  if id then
    return "200", "application/json", ('{"id":"%s","alive":true}'):format(id)
  end
  return "404", "text/plain; charset=utf-8", "Not Found"
end

local server = assert(http_server.listen({
  host = "127.0.0.1",
  port = 0,
  tls = false,
  version = 1.1,
  onstream = function(_, stream)
    local request = stream:get_headers()
    if not request then
      return
    end
    local status, media_type, body = answer(request:get(":path"))
    local response = headers.new()
    response:append(":status", status)
    response:append("content-type", media_type)
    response:append("content-length", tostring(#body))
    if stream:write_headers(response, false) then
      stream:write_chunk(body, true)
    end
  end,
  -- Clients that leave at the end of a run are no news.
  onerror = function() end,
}))
assert(server:listen())
local _, _, port = server:localname()
io.stdout:write(("lua-http on http://127.0.0.1:%d\n"):format(port))
io.stdout:flush()
assert(server:loop())
