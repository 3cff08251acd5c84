-- The options of listen: every misuse is an error that names the option, before any port is bound.

local fastslua = require("fastslua")
local serve = require("spec.support.serve")

local function handler() end

local function failure(options, ...)
  local ok, message = pcall(fastslua.listen, options, ...)
  assert.is_false(ok)
  assert.are.equal("string", type(message))
  return message
end

local counts = {
  "backlog",
  "max_connections",
  "max_connections_per_address",
  "max_header_bytes",
  "max_headers",
  "max_target_bytes",
  "max_body_bytes",
  "max_response_bytes",
  "max_buffered_bytes",
  "max_requests_per_connection",
  "max_accepts_per_step",
  "max_dispatches_per_step",
  "max_io_bytes_per_step",
  "max_io_bytes_per_visit",
}
local durations = {
  "header_timeout",
  "body_timeout",
  "keep_alive_timeout",
  "write_timeout",
  "dispatch_timeout",
  "step_seconds",
}

describe("options", function()
  after_each(serve.close_all)

  for _, name in ipairs(counts) do
    it(name .. " is a whole number", function()
      for _, bad in ipairs({ "7", -1, 1.5, 0 / 0, 1 / 0, -1 / 0, 1e300, true, {}, handler }) do
        local message = failure({ port = 0, [name] = bad }, handler)
        assert.is_truthy(message:find("option '" .. name .. "'", 1, true), message)
      end
    end)
  end

  for _, name in ipairs(durations) do
    it(name .. " is a number of seconds", function()
      for _, bad in ipairs({ "7", -1, -0.001, 0 / 0, 1 / 0, 1e300, true, {}, handler }) do
        local message = failure({ port = 0, [name] = bad }, handler)
        assert.is_truthy(message:find("option '" .. name .. "'", 1, true), message)
      end
    end)
  end

  for _, row in ipairs({
    { "port is missing", {}, "'port' is required" },
    { "port is too large", { port = 65536 }, "'port' must be at most 65535" },
    { "port is text", { port = "80" }, "'port' must be a whole number, got a string" },
    { "host is a number", { port = 0, host = 5 }, "'host' must be a string, got a number" },
    { "host is a name", { port = 0, host = "example.org" }, "'host' must be an IP address, 'localhost' or '*'" },
    { "an option nobody knows", { port = 0, max_conections = 5 }, "unknown option 'max_conections'" },
    { "a name that is no name", { 8080 }, "names of options are strings" },
    {
      "a list with a number in it",
      { port = 0, allowed_hosts = { "a", 5 } },
      "'allowed_hosts' must be a list of strings",
    },
    {
      "hosts as a set",
      { port = 0, allowed_hosts = { sim = true } },
      "'allowed_hosts' must be a list, got a table with",
    },
    { "origins with a hole", { port = 0, allowed_origins = { [2] = "a" } }, "'allowed_origins' must be a list" },
    { "proxies as a set", { port = 0, trusted_proxies = { a = 1 } }, "'trusted_proxies' must be a list" },
    { "a host with NUL", { port = 0, allowed_hosts = { "a\0b" } }, "'allowed_hosts' holds 'a\\0b', which is no name" },
    { "a host without a name", { port = 0, allowed_hosts = { "" } }, "'allowed_hosts' holds '', which is no name" },
    { "hosts as a string", { port = 0, allowed_hosts = "a" }, "'allowed_hosts' must be a list of strings or '*'" },
    { "origins as a number", { port = 0, allowed_origins = 5 }, "'allowed_origins' must be a list of strings or '*'" },
    { "proxies as a string", { port = 0, trusted_proxies = "*" }, "'trusted_proxies' must be a list of strings" },
    {
      "a proxy that is no address",
      { port = 0, trusted_proxies = { "10.0.0.0/33" } },
      "'trusted_proxies' holds '10.0.0.0/33', which is no address",
    },
    { "proxies with a number", { port = 0, trusted_proxies = { 5 } }, "'trusted_proxies' must be a list of strings" },
    { "another proxy_header", { port = 0, proxy_header = "via" }, "must be 'x-forwarded' or 'forwarded', got 'via'" },
    { "a proxy_header of a number", { port = 0, proxy_header = 5 }, "'proxy_header' must be a string, got a number" },
    { "etag as a string", { port = 0, etag = "weak" }, "'etag' must be true or false, got a string" },
    { "on_error is no function", { port = 0, on_error = "print" }, "'on_error' must be a function, got a string" },
    { "access_log is no function", { port = 0, access_log = "x" }, "'access_log' must be a function, got a string" },
    { "on_log is no function", { port = 0, on_log = {} }, "'on_log' must be a function, got a table" },
    {
      "a body larger than all buffers",
      { port = 0, max_body_bytes = 2 ^ 21, max_buffered_bytes = 2 ^ 20 },
      "'max_body_bytes' is 2097152, more than max_buffered_bytes (1048576)",
    },
    { "no connections", { port = 0, max_connections = 0 }, "'max_connections' must be between 1 and" },
    { "no time for a head", { port = 0, header_timeout = 0 }, "'header_timeout' must be above 0" },
  }) do
    it("are refused: " .. row[1], function()
      local message = failure(row[2], handler)
      assert.is_truthy(message:find(row[3], 1, true), message)
    end)
  end

  it("are a table or a port", function()
    assert.is_truthy(failure(nil, handler):find("options must be a table or a port number, got nil", 1, true))
    assert.is_truthy(failure({ port = 0 }, nil):find("handler must be a function, got nil", 1, true))
    assert.is_truthy(failure({ port = 0 }, {}):find("handler must be a function, got a table", 1, true))
  end)

  it("point to the line that is wrong", function()
    local ok, message = pcall(function()
      local server = fastslua.listen({ port = -1 }, handler)
      return server
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("^[^:]*options_spec%.lua:%d+: option 'port'"), message)
    ok, message = pcall(function()
      local server = fastslua.app():listen({ port = -1 })
      return server
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("^[^:]*options_spec%.lua:%d+: option 'port'"), message)
  end)

  it("take every documented value", function()
    local options = { host = "localhost", on_error = handler, on_log = handler }
    options.allowed_hosts, options.allowed_origins = { "game.test" }, "*"
    local server = serve.with(handler, options)
    local host, port = server:address()
    assert.are.equal("127.0.0.1", host)
    assert.are.equal(server:port(), port)
    assert.is_true(port > 0)
  end)

  it("tell names that requests may use", function()
    local server = serve.with(function()
      return "in"
    end, { allowed_hosts = { "Game.Test" } })
    assert.are.equal(421, serve.get(server, "/").status)
    local client = require("spec.support.live").client(server)
    client:send("GET / HTTP/1.1\r\nHost: game.test:99\r\n\r\n")
    assert.are.equal("in", client:response().body)
  end)
end)
