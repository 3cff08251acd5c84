-- Events: who is told what, in which order, and what listeners may do.

local fastslua = require("fastslua")

local function app()
  local made = fastslua.app()
  made:get("/", function()
    return "OK"
  end)
  made:get("/req/:id", function(req, res)
    res:text(req.params.id .. tostring(req.mark) .. tostring(res.mark))
  end)
  made:get("/fails", function()
    error("lost")
  end)
  return made
end

-- A client, and a list of what its server tells of all events.
local function listened(options)
  local client = fastslua.test(app(), options)
  local told = {}
  for _, event in ipairs({ "listening", "connection", "disconnect", "request", "response", "error", "close" }) do
    client.server:on(event, function(one)
      told[#told + 1] = event .. ((event == "disconnect" and " " .. one.reason) or "")
    end)
  end
  return client, told
end

describe("a server's events", function()
  it("come in their order", function()
    local client, told = listened()
    assert.are.equal("OK", client:get("/").body)
    assert.are.equal(500, client:get("/fails").status)
    client:close()
    client:close()
    client.server:step()
    assert.are.same({
      "listening",
      "connection",
      "request",
      "response",
      "disconnect peer_closed",
      "connection",
      "request",
      "error",
      "response",
      "disconnect peer_closed",
      "close",
    }, told)
  end)

  it("tell of connections that ask nothing, and why they end", function()
    local client, told = listened({ header_timeout = 1 })
    client:connect("10.1.2.3")
    local late = client:connect()
    late:send("GET")
    client:advance(1)
    late:close()
    client:close()
    assert.are.same(
      { "listening", "connection", "connection", "disconnect refused", "disconnect server_closed", "close" },
      told
    )
  end)

  it("bring what they are about", function()
    local client = fastslua.test(app())
    local server = client.server
    local got = {}
    for _, event in ipairs({ "listening", "connection", "disconnect", "request", "response", "error", "close" }) do
      server:on(event, function(...)
        got[event] = { ... }
      end)
    end
    client:get("/fails", { remote_address = "10.1.2.3" })
    assert.are.equal(server, got.listening[1])
    assert.are.equal("10.1.2.3", got.connection[1].remote_address)
    assert.are.equal(1, got.connection[1].id)
    assert.are.equal("number", type(got.connection[1].remote_port))
    assert.is_nil(got.connection[1].reason)
    assert.are.same("peer_closed", got.disconnect[1].reason)
    assert.are.equal(1, got.disconnect[1].id)
    assert.are.equal(got.request[1], got.response[1])
    assert.are.equal(got.request[2], got.response[2])
    assert.is_truthy(got.error[1]:find("lost", 1, true))
    assert.are.equal(got.request[1], got.error[2])
    assert.is_truthy(got.error[3]:find("lost", 1, true))
    server:close()
    assert.are.equal(server, got.close[1])
  end)

  it("of requests come before the handler, which sees what they leave", function()
    local client = fastslua.test(app())
    local status
    client.server:on("request", function(req, res)
      req.mark, res.mark = req.path, req.connection_id
    end)
    client.server:on("response", function(_, res)
      status = res.status_code
    end)
    assert.are.equal("7/req/71", client:get("/req/7").body)
    assert.are.equal(200, status)
    client:get("/none")
    assert.are.equal(404, status)
  end)

  it("let a listener answer in the handler's place", function()
    local client = fastslua.test(app())
    client.server:on("request", function(req, res)
      if req.path == "/" then
        res:status(503):text("later")
      end
    end)
    assert.are.equal(503, client:get("/").status)
    assert.are.equal("7nilnil", client:get("/req/7").body)
    assert.are.same({}, client.log)
  end)

  it("are told once, or no more", function()
    local client = fastslua.test(app())
    local server, count = client.server, 0
    local function listener()
      count = count + 1
    end
    assert.are.equal(server, server:once("request", listener))
    client:get("/")
    client:get("/")
    assert.are.equal(1, count)
    server:once("request", listener)
    assert.are.equal(server, server:off("request", listener))
    client:get("/")
    assert.are.equal(1, count)
    server:on("request", listener):on("request", listener):once("request", listener)
    client:get("/")
    assert.are.equal(4, count)
    server:off("request")
    client:get("/")
    assert.are.equal(4, count)
    server:off("request", listener):off("close")
  end)

  it("may change who listens while they are told", function()
    local client = fastslua.test(app())
    local server, told = client.server, {}
    local function second()
      told[#told + 1] = "second"
    end
    local function first()
      told[#told + 1] = "first"
      server:off("request", first):off("request", second)
      server:on("request", function()
        told[#told + 1] = "third"
      end)
    end
    server:on("request", first):on("request", second)
    client:get("/")
    assert.are.same({ "first", "second" }, told)
    client:get("/")
    assert.are.same({ "first", "second", "third" }, told)
  end)

  it("survive listeners that fail", function()
    local client = fastslua.test(app())
    local heard = 0
    for _, event in ipairs({ "listening", "connection", "disconnect", "request", "response", "error", "close" }) do
      client.server:on(event, function()
        error({ event })
      end)
      client.server:on(event, function()
        heard = heard + 1
        error("in " .. event)
      end)
    end
    assert.are.equal("OK", client:get("/").body)
    assert.are.equal(500, client:get("/fails").status)
    client:close()
    assert.are.equal(11, heard)
    assert.are.equal(23, #client.log)
    assert.are.equal("listening", client.log[1].fields.event)
    assert.is_truthy(client.log[2].message:find("in listening", 1, true))
  end)

  it("may close the server, wherever they are", function()
    for _, event in ipairs({ "listening", "connection", "disconnect", "request", "response", "error", "close" }) do
      local client = fastslua.test(app())
      local closed = 0
      client.server:on("close", function()
        closed = closed + 1
      end)
      client.server:on(event, function()
        client.server:close()
      end)
      client:get("/fails")
      client:close()
      assert.are.equal(1, closed, event)
      assert.are.equal(0, client.server:stats().active)
    end
  end)

  it("refuse a step within, like a handler does", function()
    local client = fastslua.test(app())
    client.server:on("connection", function()
      client.server:step()
    end)
    client:get("/")
    assert.is_truthy(client.log[1].message:find("step inside step", 1, true))
  end)

  it("die with the server, and it with them", function()
    local weak = setmetatable({}, { __mode = "v" })
    for index = 1, 3 do
      local client = fastslua.test(app())
      local server = client.server
      server:once("request", function()
        return server
      end)
      server:on("close", function()
        return server
      end)
      client:get("/")
      weak[index] = server
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
  end)

  it("come at the end of a shutdown", function()
    local client, told = listened()
    client.server:shutdown(1)
    client.server:step()
    assert.are.same({ "listening", "close" }, told)
  end)

  it("name what they are misused with", function()
    local server = fastslua.test(app()).server
    local function fails(wanted, run, ...)
      local fine, message = pcall(run, ...)
      assert.is_false(fine)
      assert.is_truthy(message:find(wanted, 1, true), message)
    end
    fails("event must be one of listening, connection,", server.on, server, "open", print)
    fails("got 'open'", server.once, server, "open", print)
    fails("got a nil", server.off, server)
    fails("server:on: fn must be a function, got a nil", server.on, server, "close")
    fails("server:off: fn must be a function, got a number", server.off, server, "close", 5)
    fails("a server is needed before the colon", server.on, {}, "close", print)
  end)
end)
