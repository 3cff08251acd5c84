-- access_log: a line for each request that was answered, whoever has answered it.

local fastslua = require("fastslua")
local live = require("spec.support.live")
local serve = require("spec.support.serve")

-- A server whose access log keeps what it hears.
local function watched(handler, options)
  local heard = {}
  options = options or {}
  function options.access_log(line, req, res, seconds)
    heard[#heard + 1] = { line = line, req = req, status = res.status_code, bytes = res.bytes, seconds = seconds }
  end
  return serve.with(handler, options), heard
end

local function failing()
  error("boom")
end

describe("access_log", function()
  after_each(serve.close_all)

  local app = fastslua.app()
  app:get("/text", function()
    return "text"
  end)
  app:get("/none", function(_, res)
    res:status(204):finish()
  end)
  app:get("/fails", failing)
  app:get("/json", function(req)
    return req:json()
  end)
  app:use("/silent", function(_, _, next)
    next()
  end)

  for _, row in ipairs({
    { "GET", "/text", '"GET /text HTTP/1.1" 200 4' },
    { "HEAD", "/text?a=%20", '"HEAD /text?a=%20 HTTP/1.1" 200 -' },
    { "GET", "/none", '"GET /none HTTP/1.1" 204 -' },
    { "GET", "/fails", '"GET /fails HTTP/1.1" 500 40' },
    { "GET", "/json", '"GET /json HTTP/1.1" 400 ' },
    { "GET", "/nowhere", '"GET /nowhere HTTP/1.1" 404 31' },
    { "GET", "/silent", '"GET /silent HTTP/1.1" 404 31' },
    { "POST", "/text", '"POST /text HTTP/1.1" 405 ' },
    { "OPTIONS", "/text", '"OPTIONS /text HTTP/1.1" 204 -' },
    { "GET", '/"\\é', [["GET /\"\\\xc3\xa9 HTTP/1.1" 404 31]] },
  }) do
    it("hears of " .. row[1] .. " " .. row[2], function()
      local server, heard = watched(app, { on_error = function() end })
      local response = serve.ask(server, row[1], row[2])
      assert.are.equal(1, #heard)
      local address, date, rest = heard[1].line:match("^(%S+) %- %- %[(.-)%] (.*)$")
      assert.are.equal("127.0.0.1", address)
      assert.is_truthy(date:find("^%d%d/%a%a%a/%d%d%d%d:%d%d:%d%d:%d%d %+0000$"), date)
      assert.are.equal(row[3], rest:sub(1, #row[3]))
      assert.are.same({ response.status, #response.body }, { heard[1].status, heard[1].bytes })
      assert.is_true(heard[1].seconds >= 0 and heard[1].seconds < 1)
    end)
  end

  it("has the request with what its handler put on it, and the address that a proxy tells", function()
    local name
    local server = serve.with(function(req)
      req.name = "me"
      return ""
    end, {
      trusted_proxies = { "loopback" },
      access_log = function(line, req)
        name = req.name .. " " .. line:match("^%S+")
      end,
    })
    serve.get(server, "/", "X-Forwarded-For: 192.0.2.1\r\n")
    assert.are.equal("me 192.0.2.1", name)
  end)

  it("hears after on_finish, of each request once", function()
    local order = {}
    local server = serve.with(function(_, res)
      res:on_finish(function()
        order[#order + 1] = "finish"
      end)
      return "x"
    end, {
      access_log = function()
        order[#order + 1] = "log"
      end,
    })
    local client = live.client(server)
    client:send(serve.bytes("GET", "/") .. serve.bytes("GET", "/"))
    assert(client:response() and client:response())
    client:close()
    assert.are.same({ "finish", "log", "finish", "log" }, order)
  end)

  it("hears nothing of a request that the handler has closed the server under", function()
    local server, heard
    server, heard = watched(function()
      server:close()
    end)
    local client = live.client(server)
    client:send(serve.bytes("GET", "/"))
    client:closed()
    client:close()
    assert.are.equal(0, #heard)
  end)

  it("cannot break an answer or the step", function()
    local failures = {}
    local server = serve.with(function()
      return "fine"
    end, {
      access_log = function()
        error("a full disk")
      end,
      on_error = function(text)
        failures[#failures + 1] = text
      end,
    })
    local response = serve.get(server, "/")
    assert.are.same({ 200, "fine" }, { response.status, response.body })
    assert.are.equal(1, #failures)
    assert.is_truthy(failures[1]:find("a full disk", 1, true), failures[1])
  end)

  it("has a long target whole", function()
    local server, heard = watched(app)
    local target = "/" .. ("x"):rep(5000)
    serve.get(server, target)
    assert.is_truthy(heard[1].line:find('"GET ' .. target .. ' HTTP/1.1" 404 31', 1, true))
  end)
end)
