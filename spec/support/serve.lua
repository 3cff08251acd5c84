-- serve.lua: a server for one test, asked in the simplest way, and closed when the test is over.

local fastslua = require("fastslua")
local live = require("spec.support.live")

local serve = {}

local open = {}

-- A server with this handler (or application) on a port of the system's choice.
function serve.with(handler, options)
  local given = { port = 0 }
  for name, value in pairs(options or {}) do
    given[name] = value
  end
  local server, message
  if type(handler) == "function" then
    server, message = fastslua.listen(given, handler)
  else
    server, message = handler:listen(given)
  end
  open[#open + 1] = assert(server, message)
  return server
end

-- Closes every server of the test: for after_each.
function serve.close_all()
  for index = #open, 1, -1 do
    open[index]:close()
    open[index] = nil
  end
end

-- The bytes of a request; a body gets its length.
function serve.bytes(method, target, fields, body)
  local lines = { ("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n"):format(method, target), fields or "" }
  if body then
    lines[#lines + 1] = ("Content-Length: %d\r\n"):format(#body)
  end
  lines[#lines + 1] = "\r\n" .. (body or "")
  return table.concat(lines)
end

-- Sends a request on a connection of its own and returns the response.
function serve.ask(server, method, target, fields, body)
  local client = live.client(server)
  client:send(serve.bytes(method, target, fields, body))
  local response = client:response(method == "HEAD")
  client:close()
  return response
end

function serve.get(server, target, fields)
  return serve.ask(server, "GET", target, fields)
end

-- What one handler makes of one GET: its response.
function serve.once(handler, target, fields)
  return serve.get(serve.with(handler), target or "/", fields)
end

return serve
