-- wsapi: what an application gets and what becomes of what it returns. The applications here need no WSAPI; those of
-- wsapi_real_spec.lua do.

local fastslua = require("fastslua")
local live = require("spec.support.live")
local serve = require("spec.support.serve")
local wsapi = require("fastslua.adapters.wsapi")

-- An iterator over these pieces.
local function each(...)
  local pieces, at = { ... }, 0
  return function()
    at = at + 1
    return pieces[at]
  end
end

local function plain(...)
  return 200, { ["Content-Type"] = "text/plain" }, each(...)
end

-- A server with an application mounted at a prefix, and the list of what went wrong.
local function mounted(prefix, app, settings, options)
  local outer, failures = fastslua.app(), {}
  outer:use(prefix, wsapi(app, settings))
  options = options or {}
  options.on_error = function(text, _, value)
    failures[#failures + 1] = { text = text, value = value }
  end
  return serve.with(outer, options), failures
end

-- The variables of one request, as the application sees them.
local function variables(names, target, fields, settings, body)
  local seen = {}
  local server = mounted("/app", function(env)
    for _, name in ipairs(names) do
      seen[name] = env[name]
    end
    return plain("ok")
  end, settings)
  local response = serve.ask(server, body and "POST" or "GET", target or "/app/x", fields, body)
  assert.are.equal(200, response.status)
  return seen, server
end

describe("the environment of a WSAPI application", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    { "/app", "/app", "/", "" },
    { "/app/", "/app", "/", "" },
    { "/app/a/b", "/app", "/a/b", "" },
    { "/app/a%20b?c=d%20e&f", "/app", "/a b", "c=d%20e&f" },
    { "/app//x", "/app", "//x", "" },
    { "/app/a%2Fb", "/app", "/a/b", "" },
    { "/app/..a/b..", "/app", "/..a/b..", "" },
    { "/APP/x", "/APP", "/x", "" },
  }) do
    it("splits " .. row[1], function()
      local seen = variables({ "SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "REQUEST_URI" }, row[1])
      assert.are.same({ SCRIPT_NAME = row[2], PATH_INFO = row[3], QUERY_STRING = row[4], REQUEST_URI = row[1] }, seen)
    end)
  end

  it("tells of request, client and server", function()
    local names = { "REQUEST_METHOD", "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "SERVER_SOFTWARE" }
    for _, name in ipairs({
      "GATEWAY_INTERFACE",
      "REMOTE_ADDR",
      "REMOTE_HOST",
      "REMOTE_PORT",
      "REQUEST_SCHEME",
      "HTTPS",
    }) do
      names[#names + 1] = name
    end
    local seen = variables(names, "/app/x")
    assert.is_truthy(seen.REMOTE_PORT:find("^%d+$"))
    seen.REMOTE_PORT = nil
    assert.are.same({
      REQUEST_METHOD = "GET",
      SERVER_NAME = "127.0.0.1",
      SERVER_PORT = "80",
      SERVER_PROTOCOL = "HTTP/1.1",
      SERVER_SOFTWARE = "fastslua/" .. fastslua.version,
      GATEWAY_INTERFACE = "CGI/1.1",
      REMOTE_ADDR = "127.0.0.1",
      REMOTE_HOST = "127.0.0.1",
      REQUEST_SCHEME = "http",
      HTTPS = "",
    }, seen)
  end)

  it("names the server as the client does, and else as it is bound", function()
    local seen = {}
    local server = mounted("/", function(env)
      seen[#seen + 1] = ("%s %s %s"):format(env.SERVER_NAME, env.SERVER_PORT, env.SERVER_PROTOCOL)
      return plain("ok")
    end)
    local client = live.client(server)
    client:send("GET / HTTP/1.1\r\nHost: localhost:81\r\n\r\n")
    assert.are.equal(200, client:response().status)
    client:send("GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n")
    assert.are.equal(200, client:response().status)
    client:send("GET / HTTP/1.0\r\n\r\n")
    assert.are.equal(200, client:response().status)
    client:close()
    local bound = ("127.0.0.1 %d HTTP/1.0"):format(server:port())
    assert.are.same({ "localhost 81 HTTP/1.1", "[::1] 80 HTTP/1.1", bound }, seen)
  end)

  it("has the header fields, repeats joined", function()
    local fields = "X-One: 1\r\nX-Many: a\r\nx-many: b\r\nCookie: c=1\r\nCookie: d=2\r\nContent-Type: text/x\r\n"
    local names = { "HTTP_X_ONE", "HTTP_X_MANY", "HTTP_COOKIE", "HTTP_HOST", "HTTP_NOT_THERE", "CONTENT_TYPE" }
    assert.are.same({
      HTTP_X_ONE = "1",
      HTTP_X_MANY = "a, b",
      HTTP_COOKIE = "c=1; d=2",
      HTTP_HOST = "127.0.0.1",
      HTTP_NOT_THERE = "",
      CONTENT_TYPE = "text/x",
    }, (variables(names, nil, fields)))
  end)

  it("hides the Proxy field, and takes no underscore for a dash", function()
    local fields = "Proxy: http://evil.example/\r\nX_Forwarded_For: 1.2.3.4\r\n"
    local names = { "HTTP_PROXY", "HTTP_X_FORWARDED_FOR" }
    assert.are.same({ HTTP_PROXY = "", HTTP_X_FORWARDED_FOR = "" }, (variables(names, nil, fields)))
  end)

  it("is the empty string for all else", function()
    local names = { "REMOTE_USER", "AUTH_TYPE", "headers", "HTTP_", "CONTENT_LENGTH", "DOCUMENT_ROOT", "APP_PATH" }
    for _, value in pairs((variables(names))) do
      assert.are.equal("", value)
    end
  end)

  it("tells the user that a middleware has let pass", function()
    local app, seen = fastslua.app(), nil
    app:use(require("fastslua.middleware.basic_auth")({ users = { anna = "b" } }))
    app:use(
      "/",
      wsapi(function(env)
        seen = env.REMOTE_USER .. " " .. env.AUTH_TYPE
        return plain("ok")
      end)
    )
    -- "anna:b" in Base64.
    assert.are.equal(200, serve.get(serve.with(app), "/", "Authorization: Basic YW5uYTpi\r\n").status)
    assert.are.equal("anna Basic", seen)
  end)

  it("tells what a trusted proxy says, and no port of the proxy's", function()
    local names = { "REMOTE_ADDR", "REMOTE_PORT", "REQUEST_SCHEME", "HTTPS", "SERVER_NAME", "SERVER_PORT" }
    local seen = {}
    local server = mounted("/", function(env)
      for _, name in ipairs(names) do
        seen[name] = env[name]
      end
      return plain("ok")
    end, nil, { trusted_proxies = { "loopback" }, allowed_hosts = { "example.org", "127.0.0.1" } })
    local told = "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: example.org\r\n"
    assert.are.equal(200, serve.get(server, "/", told).status)
    assert.are.same({
      REMOTE_ADDR = "192.0.2.7",
      REMOTE_PORT = "",
      REQUEST_SCHEME = "https",
      HTTPS = "on",
      SERVER_NAME = "example.org",
      SERVER_PORT = "443",
    }, seen)
  end)

  it("takes names and folders from the options", function()
    local names = { "SCRIPT_NAME", "PATH_INFO", "DOCUMENT_ROOT", "PATH_TRANSLATED", "APP_PATH", "X", "SERVER_NAME" }
    local seen = variables(names, "/app/x/y", nil, {
      script_name = "/app/x",
      document_root = "/srv/www",
      app_path = "/srv/app",
      variables = { X = "1", SERVER_NAME = "other" },
    })
    assert.are.same({
      SCRIPT_NAME = "/app/x",
      PATH_INFO = "/y",
      DOCUMENT_ROOT = "/srv/www",
      PATH_TRANSLATED = "/srv/www/y",
      APP_PATH = "/srv/app",
      X = "1",
      SERVER_NAME = "other",
    }, seen)
  end)

  for _, target in ipairs({
    "/app/../x",
    "/app/%2e%2e/x",
    "/app/..%2fx",
    "/app/a/..",
    "/app/..%5Cx",
    "/app/a%00.txt",
  }) do
    it("never comes to be for " .. target, function()
      local called = false
      local server, failures = mounted("/app", function()
        called = true
        return plain("ok")
      end)
      assert.are.equal(400, serve.get(server, target).status)
      assert.is_false(called)
      assert.are.same({}, failures)
    end)
  end
end)

describe("the body for a WSAPI application", function()
  after_each(serve.close_all)

  -- What `use(env)` returns for a body.
  local function reading(use, body, fields)
    local server = mounted("/", function(env)
      return plain(tostring(use(env)))
    end)
    return serve.ask(server, "POST", "/", fields, body).body
  end

  it("is read in pieces, and nil at its end", function()
    local shown = reading(function(env)
      local pieces = {}
      for _, count in ipairs({ 3, 0, 4, -1, math.huge, 1 }) do
        pieces[#pieces + 1] = tostring(env.input:read(count))
      end
      return table.concat(pieces, ",")
    end, "abcdefgh\0\r\n")
    assert.are.equal("abc,nil,defg,nil,h\0\r\n,nil", shown)
  end)

  it("is read whole without a number", function()
    local shown = reading(function(env)
      return ("%s %d %s %s"):format(env.CONTENT_LENGTH, env.input.length, env.input:read(), tostring(env.input:read()))
    end, "hello")
    assert.are.equal("5 5 hello nil", shown)
  end)

  it("has its length when it came in chunks, and no coding", function()
    local server = mounted("/", function(env)
      return plain(("%s|%s|%s"):format(env.CONTENT_LENGTH, env.HTTP_TRANSFER_ENCODING, env.input:read(100)))
    end)
    local client = live.client(server)
    client:send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    client:send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert.are.equal("5||abcde", client:response().body)
    client:close()
  end)

  it("may be empty or missing", function()
    local function show(env)
      return ("'%s' %s"):format(env.CONTENT_LENGTH, tostring(env.input:read(10)))
    end
    assert.are.equal("'0' nil", reading(show, ""))
    assert.are.equal("'' nil", reading(show))
  end)

  it("is not read by a pattern", function()
    local server, failures = mounted("/", function(env)
      return plain(env.input:read("*a"))
    end)
    assert.are.equal(500, serve.ask(server, "POST", "/", nil, "abc").status)
    assert.is_truthy(failures[1].text:find("input:read needs a number of bytes, got a string", 1, true))
  end)
end)

describe("the answer of a WSAPI application", function()
  after_each(serve.close_all)

  -- What becomes of these results.
  local function answered(...)
    local results, count = { ... }, select("#", ...)
    local server, failures = mounted("/", function()
      return unpack(results, 1, count)
    end)
    return serve.get(server, "/"), failures
  end

  for _, row in ipairs({
    { 201, 201 },
    { "201", 201 },
    { "404 Not Found", 404 },
    { "299 Strange", 299 },
    { nil, 500 },
  }) do
    it(("has the status of %s"):format(tostring(row[1])), function()
      local response, failures = answered(row[1], {}, each("x"))
      assert.are.same({ row[2], "x" }, { response.status, response.body })
      assert.are.same({}, failures)
    end)
  end

  it("is put together of the iterator's pieces", function()
    local response = answered(200, { ["Content-Type"] = "text/x" }, each("a", "", "b", 3, "c"))
    assert.are.same({ "ab3c", "4", "text/x" }, {
      response.body,
      response.fields["content-length"],
      response.fields["content-type"],
    })
  end)

  it("takes coroutines as iterators", function()
    local response = answered(
      200,
      {},
      coroutine.wrap(function()
        coroutine.yield("a")
        coroutine.yield("b")
      end)
    )
    assert.are.equal("ab", response.body)
  end)

  it("may have no body", function()
    local response = answered(204, { ["X-A"] = "b" })
    assert.are.same({ 204, "", "b" }, { response.status, response.body, response.fields["x-a"] })
  end)

  it("has every header but those that are the server's", function()
    local response = answered(200, {
      ["Content-Length"] = 7,
      ["Transfer-Encoding"] = "chunked",
      ["Status"] = "404",
      ["Keep-Alive"] = "timeout=5",
      ["Connection"] = "keep-alive",
      ["X-Number"] = 5,
      ["X-Flag"] = true,
      ["Set-Cookie"] = { "a=1", "b=2" },
    }, each("abc"))
    local fields = response.fields
    assert.are.same({ 200, "abc", "3" }, { response.status, response.body, fields["content-length"] })
    assert.are.same({ "5", "true", "a=1, b=2" }, { fields["x-number"], fields["x-flag"], fields["set-cookie"] })
    assert.is_nil(fields["transfer-encoding"] or fields["status"] or fields["keep-alive"] or fields["connection"])
  end)

  it("may end the connection", function()
    local server = mounted("/", function()
      return 200, { connection = "Close" }, each("x")
    end)
    local client = live.client(server)
    client:send(serve.bytes("GET", "/"))
    assert.are.equal("close", client:response().fields.connection)
    assert.is_true(client:closed())
    client:close()
  end)

  it("has headers that the iterator sets", function()
    local headers = {}
    local response = answered(200, headers, function()
      if not headers["X-Late"] then
        headers["X-Late"] = "yes"
        return "x"
      end
    end)
    assert.are.equal("yes", response.fields["x-late"])
  end)

  for name, row in pairs({
    ["a status that is none"] = { { "hello" }, "has returned the status 'hello'" },
    ["a status below 200"] = { { 100, {} }, "has returned the status '100'" },
    ["a status above 599"] = { { 600, {} }, "has returned the status '600'" },
    ["a status of four digits"] = { { "2000", {} }, "has returned the status '2000'" },
    ["headers that are text"] = { { 200, "x" }, "has returned a string as headers" },
    ["a header without a name"] = { { 200, { "x" } }, "a header with a number as name" },
    ["a header with a line break"] = { { 200, { ["X-A"] = "a\r\nB: c" } }, "X-A" },
    ["a body that is text"] = { { 200, {}, "text" }, "has returned a string as iterator" },
    ["a piece that is a table"] = { { 200, {}, each({}) }, "has a table in it" },
  }) do
    it("is 500 and told for " .. name, function()
      local response, failures = answered(unpack(row[1], 1, 3))
      assert.are.equal(500, response.status)
      assert.are.equal(1, #failures)
      assert.is_truthy(failures[1].text:find(row[2], 1, true), failures[1].text)
    end)
  end

  it("ends an endless body at max_response_bytes", function()
    local pieces = 0
    local server, failures = mounted("/", function()
      return 200, {}, function()
        pieces = pieces + 1
        return ("x"):rep(100)
      end
    end, nil, { max_response_bytes = 1000 })
    assert.are.equal(500, serve.get(server, "/").status)
    assert.are.equal(11, pieces)
    assert.is_truthy(failures[1].text:find("longer than max_response_bytes (1000)", 1, true), failures[1].text)
  end)

  it("to HEAD has no body; head_as_get hides HEAD from the application", function()
    local function app(env)
      return 200, {}, each(env.REQUEST_METHOD)
    end
    for head_as_get, length in pairs({ [true] = "3", [false] = "4" }) do
      local response = serve.ask(mounted("/", app, { head_as_get = head_as_get }), "HEAD", "/")
      assert.are.same({ 200, "", length }, { response.status, response.body, response.fields["content-length"] })
    end
  end)
end)

describe("a WSAPI application that fails", function()
  after_each(serve.close_all)

  it("is told with its own traceback, and others go on", function()
    local function deep_inside()
      error("broken")
    end
    local server, failures = mounted("/", function(env)
      if env.PATH_INFO == "/fail" then
        deep_inside()
      end
      return plain("fine")
    end)
    assert.are.equal(500, serve.get(server, "/fail").status)
    assert.is_truthy(failures[1].text:find("wsapi_spec.lua:%d+: broken"), failures[1].text)
    assert.is_truthy(failures[1].text:find("deep_inside", 1, true), failures[1].text)
    assert.are.equal("fine", serve.get(server, "/").body)
  end)

  it("hears of an application that returns nothing", function()
    local server, failures = mounted("/", function() end)
    assert.are.equal(500, serve.get(server, "/").status)
    assert.is_truthy(failures[1].text:find("has returned nothing", 1, true), failures[1].text)
  end)

  it("sends nothing of a body whose iterator fails", function()
    local server, failures = mounted("/", function()
      local first = true
      return 200,
        { ["X-A"] = "b" },
        function()
          if not first then
            error("in the middle")
          end
          first = false
          return "begun"
        end
    end)
    local response = serve.get(server, "/")
    assert.are.equal(500, response.status)
    assert.is_nil(response.body:find("begun", 1, true))
    assert.is_nil(response.fields["x-a"])
    assert.is_truthy(failures[1].text:find("in the middle", 1, true))
  end)

  it("answers with the status of { status, message }", function()
    local server = mounted("/", function()
      error({ 404, "Resource x not found" }, 0)
    end)
    local response = serve.get(server, "/")
    assert.are.equal(404, response.status)
    assert.is_truthy(response.body:find("Resource x not found", 1, true))
  end)

  it("keeps what else it raises", function()
    local value = setmetatable({ 404 }, {})
    local server, failures = mounted("/", function()
      error(value)
    end)
    assert.are.equal(500, serve.get(server, "/").status)
    assert.are.equal(value, failures[1].value)
  end)

  it("writes its own words to the object of the option", function()
    local written = {}
    local server = mounted("/", function(env)
      env.error:write("a", 1, "\n")
      return plain("ok")
    end, {
      error = {
        write = function(_, ...)
          written[#written + 1] = table.concat({ ... })
        end,
      },
    })
    assert.are.equal(200, serve.get(server, "/").status)
    assert.are.same({ "a1\n" }, written)
  end)
end)

describe("wsapi", function()
  after_each(serve.close_all)

  it("serves without an application of fastslua", function()
    local server = serve.with(wsapi({
      run = function(env)
        return plain(env.SCRIPT_NAME .. "|" .. env.PATH_INFO)
      end,
    }))
    assert.are.equal("|/a/b", serve.get(server, "/a/b").body)
  end)

  it("serves an application that is asked without a port", function()
    local app = fastslua.app()
    app:use(
      "/app",
      wsapi(function(env)
        return plain(env.PATH_INFO .. " " .. env.REMOTE_ADDR .. " " .. env.input:read(3))
      end)
    )
    local client = fastslua.test(app)
    assert.are.equal("/x 127.0.0.1 abc", client:post("/app/x", { body = "abcdef" }).body)
  end)

  it("refuses wrong arguments by name", function()
    local function make(arguments)
      local made = wsapi(arguments[1], arguments[2])
      return made
    end
    local app = function() end
    for _, row in ipairs({
      { {}, "wsapi needs an application, a function or a table with a function 'run', got nil" },
      { { {} }, "got a table" },
      { { "hello" }, "got a string" },
    }) do
      local fine, message = pcall(make, row[1])
      assert.is_false(fine)
      assert.is_truthy(message:find(row[2], 1, true), message)
    end
    for _, row in ipairs({
      { "x", "wsapi needs a table of options, got a string" },
      { { path = "x" }, "wsapi: unknown option 'path'" },
      { { script_name = "app" }, "wsapi: option 'script_name' must be empty or begin with '/'" },
      { { script_name = "/app/" }, "wsapi: option 'script_name' must be empty or begin with '/'" },
      { { error = {} }, "wsapi: option 'error' must be an object with a method 'write'" },
      { { error = 5 }, "wsapi: option 'error' must be an object with a method 'write'" },
      { { variables = { A = 5 } }, "wsapi: option 'variables' must be a table of strings by name, got a number in it" },
      { { head_as_get = 1 }, "wsapi: option 'head_as_get' must be a boolean, got a number" },
    }) do
      local fine, message = pcall(make, { app, row[1] })
      assert.is_false(fine)
      assert.is_truthy(message:find("wsapi_spec.lua:%d+: "), message)
      assert.is_truthy(message:find(row[2], 1, true), message)
    end
  end)
end)
