-- Ctrl-C while run() sleeps or a handler works: the script ends with "interrupted!", as any Lua script does.

local socket = require("socket")

local interpreter = rawget(_G, "jit") and "luajit" or "lua5.1"

-- Starts a script in a process of its own: its output, its number, and the port it listens on. A shell starts commands
-- with its own number when it is told to put them in its place.
local function start(body, options)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write('local server = assert(require("fastslua").listen({ port = 0, ', options or "", "}, ", body, "))\n")
  file:write('print(server:port()) io.stdout:flush() server:run() print("never")\n')
  file:close()
  local output = io.popen(("sh -c 'echo $$; exec %s %s' 2>&1"):format(interpreter, path))
  local process = output:read("*l")
  local port = tonumber(output:read("*l"))
  return output, process, port, path
end

local function finish(output, process, path)
  os.execute("kill -INT " .. process)
  local text = output:read("*a")
  output:close()
  os.remove(path)
  return text
end

describe("Ctrl-C", function()
  it("ends run() while it sleeps", function()
    local output, process, port, path = start("function() end")
    assert.is_truthy(port)
    local text = finish(output, process, path)
    assert.is_truthy(text:find("interrupted!", 1, true), text)
    assert.is_nil(text:find("never", 1, true))
  end)

  it("ends run() while a handler works, and the client gets its 500", function()
    local body = "function() if jit then jit.off(true, true) end print('busy') io.stdout:flush() while true do end end"
    local output, process, port, path = start(body)
    local client = assert(socket.connect("127.0.0.1", port))
    client:send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert.are.equal("busy", output:read("*l"))
    local text = finish(output, process, path)
    assert.is_truthy(text:find("interrupted!", 1, true), text)
    assert.are.equal("HTTP/1.1 500 Internal Server Error", client:receive("*l"))
    client:close()
  end)

  it("ends run() while on_error works", function()
    local busy = "function() if jit then jit.off(true, true) end print('busy') io.stdout:flush() while true do end end"
    local output, process, port, path = start("function() error('x') end", "on_error = " .. busy)
    local client = assert(socket.connect("127.0.0.1", port))
    client:send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert.are.equal("busy", output:read("*l"))
    local text = finish(output, process, path)
    assert.is_truthy(text:find("interrupted!", 1, true), text)
    assert.are.equal("HTTP/1.1 500 Internal Server Error", client:receive("*l"))
    client:close()
  end)
end)
