-- http_server: the class HttpServer as programs know it that were compiled by TypeScriptToLua, and as Lua makes it.

local adapter = require("fastslua.adapters.http_server")
local live = require("spec.support.live")
local serve = require("spec.support.serve")

local HttpServer, HttpStatus = adapter.HttpServer, adapter.HttpStatus

local open = {}

local function close_all()
  for index = #open, 1, -1 do
    open[index]:close()
    open[index] = nil
  end
end

-- A server with this handler; what goes wrong is put into `failures`.
local function served(handler, options, failures)
  options = options or {}
  function options.on_error(text)
    if failures then
      failures[#failures + 1] = text
    end
  end
  local server = HttpServer.new("127.0.0.1", 0, handler, options)
  open[#open + 1] = server
  return server
end

local function ask(server, ...)
  return serve.ask(server.fastslua, ...)
end

-- What `new` is in compiled programs.
local function new(class, ...)
  local object = setmetatable({}, class.prototype)
  object:____constructor(...)
  return object
end

-- How a compiled class with an accessor of its own reads fields.
local function read_descriptors(object, name)
  local class = getmetatable(object)
  while class do
    local value = rawget(class, name)
    local descriptors = rawget(class, "_descriptors")
    if value ~= nil then
      return value
    elseif descriptors and descriptors[name] then
      return descriptors[name].get(object)
    end
    class = getmetatable(class)
  end
end

-- What `extends` is there: fields of the class, then of the class it extends; accessors by the function of the latter.
local function extend(base)
  local class = { name = "Extended", ____super = base }
  class.prototype = { constructor = class }
  class.prototype.__index = class.prototype
  setmetatable(class, setmetatable({ __index = base }, base))
  setmetatable(class.prototype, base.prototype)
  if type(base.prototype.__index) == "function" then
    class.prototype.__index = base.prototype.__index
  end
  return class
end

local function ok(_, _, res)
  res.status = HttpStatus.OK
  res.body = "ok"
  return res
end

describe("the handler of HttpServer", function()
  after_each(close_all)

  it("gets the server, the request and an empty 404", function()
    local seen
    local server = served(function(self, req, res)
      seen = { self = self, req = req, status = res.status, headers = next(res.headers), body = res.body }
      return res
    end)
    local response = ask(server, "POST", "/a%20b?x=%41&y=1=2&z&x=2&=e", "X-Two: b\r\nAccept: */*\r\n", "hi\0")
    assert.are.same({ 404, "" }, { response.status, response.body })
    assert.are.equal(server, seen.self)
    assert.are.same({ status = 404 }, { status = seen.status, headers = seen.headers, body = seen.body })
    local req = seen.req
    assert.are.same({ "POST", "/a%20b", "/a%20b?x=%41&y=1=2&z&x=2&=e", "HTTP/1.1", "hi\0" }, {
      req.method,
      req.path,
      req.originalUrl,
      req.protocol,
      req.body,
    })
    assert.are.same({ x = "2", y = "1=2", [""] = "e" }, req.parameters)
    local headers = {}
    for name, value in pairs(req.headers) do
      headers[name] = value
    end
    assert.are.same({ host = "127.0.0.1", accept = "*/*", ["x-two"] = "b", ["content-length"] = "3" }, headers)
    assert.are.equal("b", req.headers["X-Two"])
  end)

  it("keeps a request that is plain data", function()
    local kept = {}
    local server = served(function(_, req, res)
      kept[#kept + 1] = req
      return res
    end)
    ask(server, "GET", "/one?a=1")
    ask(server, "GET", "/two", "X-A: b\r\n")
    assert.are.same({ "/one", "1", nil }, { kept[1].path, kept[1].parameters.a, kept[1].headers["x-a"] })
    assert.are.same({ "/two", "b" }, { kept[2].path, kept[2].headers["x-a"] })
  end)

  it("answers by what it returns", function()
    local server = served(function(_, _, res)
      res.status = 201
      res.headers["Content-Type"] = "application/json"
      res.headers["X-Number"] = 5
      res.headers["Content-Length"] = "99"
      res.headers["Transfer-Encoding"] = "chunked"
      res.headers["Connection"] = "keep-alive"
      res.body = '{"id":1}'
      return res
    end)
    local response = ask(server, "GET", "/")
    assert.are.same({ 201, '{"id":1}' }, { response.status, response.body })
    local fields = response.fields
    assert.are.same({ "application/json", "5", "8" }, {
      fields["content-type"],
      fields["x-number"],
      fields["content-length"],
    })
    assert.is_nil(fields.connection)
  end)

  it("may return a response of its own, with a number as body", function()
    local server = served(function()
      return { status = 418, headers = { connection = "close" }, body = 12 }
    end)
    local response = ask(server, "GET", "/")
    assert.are.same({ 418, "12", "close" }, { response.status, response.body, response.fields.connection })
  end)

  for name, row in pairs({
    ["nothing"] = { nil, "has not returned a response" },
    ["a text"] = { "ok", "has not returned a response" },
    ["no headers"] = { { status = 200 }, "has not returned a response" },
    ["a status that is text"] = { { status = "200", headers = {} }, "has not returned a response" },
    ["a status that is none"] = { { status = 999, headers = {} }, "status" },
    ["a table as body"] = { { status = 200, headers = {}, body = {} }, "has returned a table as body" },
    ["a header with a line break"] = { { status = 200, headers = { ["X-A"] = "a\r\nb: c" } }, "X-A" },
  }) do
    it("is 500 and told when it returns " .. name, function()
      local failures = {}
      local server = served(function()
        return row[1]
      end, nil, failures)
      assert.are.equal(500, ask(server, "GET", "/").status)
      assert.are.equal(1, #failures)
      assert.is_truthy(failures[1]:find(row[2], 1, true), failures[1])
    end)
  end

  it("may fail, and others go on", function()
    local failures = {}
    local server = served(function(self, req, res)
      if req.path == "/fail" then
        error("exploded")
      end
      return ok(self, req, res)
    end, nil, failures)
    assert.are.equal(500, ask(server, "GET", "/fail").status)
    assert.is_truthy(failures[1]:find("exploded", 1, true))
    assert.are.equal("ok", ask(server, "GET", "/").body)
  end)

  it("may be replaced, and may close the server", function()
    local server = served(ok)
    function server.handler(self, _, res)
      self:close()
      return res
    end
    local client = live.client(server.fastslua)
    client:send(serve.bytes("GET", "/"))
    assert.is_true(client:closed())
    client:close()
    assert.are.equal(0, server.activeConnections)
    server:acceptNextClient()
    assert.are.equal(0, server:pump().accepted)
  end)
end)

describe("HttpServer", function()
  after_each(close_all)

  it("makes a turn with acceptNextClient and with pump", function()
    local server = served(ok)
    for _, method in ipairs({ "acceptNextClient", "pump" }) do
      local client = live.client({
        port = function()
          return server.fastslua:port()
        end,
        step = function()
          server[method](server)
        end,
      })
      client:send(serve.bytes("GET", "/"))
      assert.are.equal("ok", client:response().body)
      client:close()
    end
  end)

  it("tells what a pump has done", function()
    local server = served(ok)
    local told = server:pump()
    assert.are.same({ 0, 0, 0, 0, 0, 0 }, {
      told.accepted,
      told.dispatched,
      told.bytesRead,
      told.bytesWritten,
      told.closed,
      told.active,
    })
    local sums = { accepted = 0, dispatched = 0, bytesRead = 0, bytesWritten = 0, closed = 0 }
    local client = live.client({
      port = function()
        return server.fastslua:port()
      end,
      step = function()
        told = server:pump()
        for name in pairs(sums) do
          sums[name] = sums[name] + told[name]
        end
      end,
    })
    local bytes = serve.bytes("GET", "/")
    client:send(bytes)
    assert.are.equal("ok", client:response().body)
    assert.are.same({ 1, 1 }, { told.active, server.activeConnections })
    client:finish()
    assert.is_true(client:closed())
    client:close()
    assert.are.same({ 1, 1, #bytes, 1 }, { sums.accepted, sums.dispatched, sums.bytesRead, sums.closed })
    assert.is_true(sums.bytesWritten > 50)
    assert.are.equal(0, server.activeConnections)
  end)

  it("takes the options of tslua-http and our own", function()
    local server = served(ok, { maxRequestBodyBytes = 4, maxPumpSeconds = 0.01, ioChunkBytes = 1, allowed_hosts = "*" })
    assert.are.equal(200, ask(server, "POST", "/", nil, "four").status)
    assert.are.equal(413, ask(server, "POST", "/", nil, "fives").status)
    local client = live.client(server.fastslua)
    client:send("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")
    assert.are.equal(200, client:response().status)
    client:close()
  end)

  it("maps each of them to an option that there is", function()
    for name, value in pairs({
      maxConnections = 8,
      maxRequestHeaderBytes = 8192,
      maxRequestHeaderCount = 64,
      maxRequestBodyBytes = 1048576,
      maxResponseBytes = 4194304,
      maxBufferedBytes = 33554432,
      requestTimeout = 10,
      responseTimeout = 30,
      idleTimeout = 0,
      ioChunkBytes = 8192,
      maxIoBytesPerVisit = 32768,
      maxIoBytesPerPump = 262144,
      maxAcceptsPerPump = 4,
      maxVisitsPerPump = 32,
      maxDispatchesPerPump = 4,
      maxPumpSeconds = 0.005,
      clock = os.time,
    }) do
      assert.are.equal(200, ask(served(ok, { [name] = value }), "GET", "/").status)
    end
  end)

  it("raises what is wrong with its arguments, at its caller", function()
    for _, row in ipairs({
      { { nil, 0, ok }, "HttpServer: bindAddress must be a string, got nil" },
      { { "127.0.0.1", "0", ok }, "HttpServer: port must be a number, got a string" },
      { { "127.0.0.1", 0 }, "HttpServer: handler must be a function, got nil" },
      { { "127.0.0.1", 0, ok, 5 }, "HttpServer: options must be a table, got a number" },
      { { "127.0.0.1", 0, ok, { maxThings = 5 } }, "maxThings" },
      { { "127.0.0.1", 0, ok, { maxConnections = -1 } }, "max_connections" },
    }) do
      local fine, message = pcall(function()
        local server = HttpServer.new(unpack(row[1], 1, 4))
        return server
      end)
      assert.is_false(fine)
      assert.is_truthy(message:find("http_server_spec.lua:%d+: HttpServer: "), message)
      assert.is_truthy(message:find(row[2], 1, true), message)
    end
  end)

  it("raises when the address cannot be bound", function()
    local port = served(ok).fastslua:port()
    local fine, message = pcall(HttpServer.new, "127.0.0.1", port, ok)
    assert.is_false(fine)
    assert.is_truthy(message:find(("Failed to bind 127.0.0.1:%d: "):format(port), 1, true), message)
  end)

  it("is made by new and extended as TypeScriptToLua does it", function()
    local Application = extend(HttpServer)
    local prototype = Application.prototype
    function prototype:____constructor(host, port)
      HttpServer.prototype.____constructor(self, host, port, function(_, req, res)
        return self:handleRequest(req, res)
      end)
      self.greeting = "hello "
    end
    function prototype:handleRequest(req, res)
      res.status = 200
      res.body = self.greeting .. req.path
      return res
    end
    function prototype:connectionCount()
      return self.activeConnections
    end
    local app = new(Application, "127.0.0.1", 0)
    open[#open + 1] = app
    assert.are.equal("hello /x", ask(app, "GET", "/x").body)
    app:pump()
    assert.are.equal(0, app:connectionCount())
    assert.is_nil(app.nothing)
    assert.are.equal(Application, app.constructor)

    prototype._descriptors = {
      count = {
        get = function(self)
          return self.activeConnections
        end,
      },
    }
    prototype.__index = read_descriptors
    assert.are.equal(0, app.count)

    local plain = new(HttpServer, "127.0.0.1", 0, ok)
    open[#open + 1] = plain
    assert.are.equal("ok", ask(plain, "GET", "/").body)
    assert.are.equal(HttpServer, plain.constructor)
  end)

  it("is forgotten with its server", function()
    local gone = setmetatable({}, { __mode = "k" })
    do
      local server = HttpServer.new("127.0.0.1", 0, ok)
      gone[server] = true
      server:pump()
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(gone))
  end)
end)

describe("beside HttpServer", function()
  it("there are codes by name, names by code, and reason phrases", function()
    assert.are.same({ 200, 404, 511 }, {
      HttpStatus.OK,
      HttpStatus.NOT_FOUND,
      HttpStatus.NETWORK_AUTHENTICATION_REQUIRED,
    })
    assert.are.equal("INTERNAL_SERVER_ERROR", HttpStatus[500])
    assert.are.equal("Internal Server Error", adapter.StatusText[500])
    assert.is_nil(adapter.StatusText[299])
  end)

  it("there is getQueryParams", function()
    assert.are.same({ a = "2", b = "%20" }, adapter.getQueryParams(nil, "http://x/y?a=1&a=2&&b=%20&c"))
    assert.are.same({}, adapter.getQueryParams(nil, "/y"))
    assert.are.same({}, adapter.getQueryParams(nil, "/y?"))
    assert.are.same({ a = "1" }, adapter.getQueryParams(nil, "/y?a=1?b=2"))
  end)
end)
