-- The examples as a user runs them: processes of their own, on a port that the system chooses.

local http = require("socket.http")
local ltn12 = require("ltn12")

local lua = rawget(_G, "jit") and "luajit" or "lua5.1"

-- Starts a script and returns a reader of its output and what ends it. The shell tells its process id before the
-- script takes its place.
local function start(script)
  local output = assert(io.popen(("echo $$; exec %s %s 2>&1"):format(lua, script)))
  local pid = assert(output:read("*l"):match("^%d+$"))
  return output, function()
    os.execute("kill " .. pid)
    output:close()
  end
end

local function ask(method, url, body)
  local parts = {}
  local _, status, fields = http.request({
    method = method,
    url = url,
    source = body and ltn12.source.string(body),
    headers = body and { ["content-length"] = #body, ["content-type"] = "text/x-test" },
    sink = ltn12.sink.table(parts),
  })
  return status, table.concat(parts), fields
end

describe("examples/hello.lua", function()
  local output, stop, base

  setup(function()
    output, stop = start("examples/hello.lua 0")
    base = assert(output:read("*l"):match("^listening on (http://127%.0%.0%.1:%d+)$"))
  end)

  teardown(function()
    stop()
  end)

  it("serves what it says", function()
    local status, body, fields = ask("GET", base .. "/health")
    assert.same({ 200, "OK" }, { status, body })
    assert.truthy(fields["content-type"]:find("text/plain", 1, true))
    status, body = ask("GET", base .. "/")
    assert.equal(200, status)
    assert.truthy(body:find("Hello", 1, true))
    status, body, fields = ask("GET", base .. "/units/a%20b")
    assert.equal(200, status)
    assert.truthy(fields["content-type"]:find("application/json", 1, true))
    assert.truthy(body:find('"id":"a b"', 1, true))
    assert.equal(204, (ask("GET", base .. "/nocontent")))
    assert.equal(304, (ask("GET", base .. "/notmodified")))
    assert.equal(404, (ask("GET", base .. "/nowhere")))
  end)

  it("gives a body back with its type", function()
    local sent = ("\0\1\255"):rep(50000)
    local status, body, fields = ask("POST", base .. "/echo", sent)
    assert.equal(200, status)
    assert.equal("text/x-test", fields["content-type"])
    assert.is_true(body == sent)
  end)

  it("sends 8 MiB", function()
    local status, body = ask("GET", base .. "/big")
    assert.equal(200, status)
    assert.is_true(body == ("fastslua"):rep(1024 * 1024))
  end)

  it("says in one line that the port is taken", function()
    local port = base:match("%d+$")
    local second = assert(io.popen(("%s examples/hello.lua %s 2>&1; echo $?"):format(lua, port)))
    local line, code, rest = second:read("*l"), second:read("*l"), second:read("*l")
    second:close()
    assert.equal("cannot listen: 127.0.0.1:" .. port, line:match("^cannot listen: [%d.]+:%d+"))
    assert.equal("1", code)
    assert.is_nil(rest)
  end)

  it("refuses what is no port", function()
    for _, port in ipairs({ "http", "65536", "-1", "80.5" }) do
      local run = assert(io.popen(("%s examples/hello.lua %s 2>&1; echo $?"):format(lua, port)))
      assert.same({ "not a port: " .. port, "2" }, { run:read("*l"), run:read("*l") })
      run:close()
    end
  end)
end)

describe("examples/frame_loop.lua", function()
  it("serves between its frames and tells its longest step", function()
    local output = start("examples/frame_loop.lua 0 1")
    local url = assert(output:read("*l"):match("^listening on (http://127%.0%.0%.1:%d+/frame)$"))
    local status, body = ask("GET", url)
    assert.equal(200, status)
    assert.truthy(body:find('^{"frame":%d+}$'))
    assert.truthy(output:read("*l"):find("^%d+ frames, longest step %d+%.%d+ ms$"))
    output:close()
  end)
end)
