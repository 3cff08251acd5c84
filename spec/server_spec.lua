-- The server's userdata: its life, its turns, and what it says of itself.

local fastslua = require("fastslua")
local live = require("spec.support.live")
local serve = require("spec.support.serve")

local function ok()
  return "ok"
end

describe("a server", function()
  after_each(serve.close_all)

  it("says what it is", function()
    local server = serve.with(ok)
    assert.are.equal(("fastslua.server (127.0.0.1:%d)"):format(server:port()), tostring(server))
    server:close()
    assert.is_truthy(tostring(server):find("closed", 1, true))
    assert.are.equal("protected", getmetatable(server))
  end)

  it("reports a taken port", function()
    local server = serve.with(ok)
    local second, message, code = fastslua.listen({ port = server:port() }, ok)
    assert.is_nil(second)
    assert.are.equal("EADDRINUSE", code)
    local expected = ("127.0.0.1:%d is already in use by another program or server"):format(server:port())
    assert.are.equal(expected, message)
    second, message, code = fastslua.app():listen(server:port())
    assert.is_nil(second)
    assert.are.equal(expected, message)
    assert.are.equal("EADDRINUSE", code)
  end)

  it("reports an address of another machine", function()
    local server, message, code = fastslua.listen({ host = "192.0.2.1", port = 0 }, ok)
    assert.is_nil(server)
    assert.are.equal("EADDRNOTAVAIL", code)
    assert.is_truthy(message:find("192.0.2.1:0", 1, true), message)
  end)

  it("frees its port when it is closed", function()
    local server = serve.with(ok)
    local port = server:port()
    server:close()
    server:close()
    assert.are.equal(port, server:port())
    serve.with(ok, { port = port })
  end)

  it("counts", function()
    local server = serve.with(ok)
    local client = live.client(server)
    client:send(serve.bytes("GET", "/") .. serve.bytes("GET", "/"))
    assert.are.equal(200, client:response().status)
    assert.are.equal(200, client:response().status)
    local stats = server:stats()
    assert.are.equal(1, stats.accepted)
    assert.are.equal(1, stats.active)
    assert.are.equal(2, stats.requests)
    assert.are.same({ ["2xx"] = 2, ["3xx"] = 0, ["4xx"] = 0, ["5xx"] = 0 }, stats.responses)
    assert.are.equal(2 * #serve.bytes("GET", "/"), stats.bytes_in)
    assert.is_true(stats.steps >= 1 and stats.step_seconds_total > 0)
    assert.are.equal(0, stats.ends.reset)
    client:send("BAD\r\n\r\n")
    assert.are.equal(400, client:response().status)
    local refusals = 0
    for _, count in pairs(server:stats().refusals) do
      refusals = refusals + count
    end
    assert.are.equal(1, refusals)
  end)

  it("tells how many requests a step dispatched", function()
    local server = serve.with(ok, { max_dispatches_per_step = 1 })
    local clients = {}
    for index = 1, 3 do
      clients[index] = live.client(server)
      clients[index].connection:send(serve.bytes("GET", "/"))
    end
    local dispatched, steps = 0, 0
    while dispatched < 3 and steps < 10000 do
      local now = server:step(1)
      assert.is_true(now <= 1)
      dispatched, steps = dispatched + now, steps + 1
    end
    assert.are.equal(3, dispatched)
  end)

  it("refuses a wrong budget", function()
    local server = serve.with(ok)
    for _, bad in ipairs({ -1, 0 / 0, 1 / 0, "1", {}, true }) do
      local fine, message = pcall(server.step, server, bad)
      assert.is_false(fine)
      assert.is_truthy(message:find("seconds must be a number", 1, true), message)
    end
    server:step(0)
    server:step(nil)
  end)

  it("needs a server before the colon", function()
    local server = serve.with(ok)
    for _, name in ipairs({ "step", "run", "stats", "address", "port", "shutdown", "close" }) do
      for _, bad in ipairs({ false, 5, "x", {}, io.stdout, newproxy and newproxy(true) or {} }) do
        local fine, message = pcall(server[name], bad)
        assert.is_false(fine)
        assert.is_truthy(message:find("a server is needed before the colon", 1, true), message)
      end
    end
  end)

  it("does nothing any more once it is closed", function()
    local server = serve.with(ok)
    local client = live.client(server)
    client:send(serve.bytes("GET", "/"))
    server:close()
    assert.are.same({ 0, 0 }, { server:step() })
    server:run()
    server:shutdown(1)
    assert.is_true(server:stats().steps >= 0)
  end)

  it("finishes what is in flight when it is shut down", function()
    local server = serve.with(ok)
    local client = live.client(server)
    client:send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    server:shutdown(5)
    client:send("\r\n")
    local response = client:response()
    assert.are.equal(200, response.status)
    assert.are.equal("close", response.fields.connection)
    assert.is_true(client:closed())
    client:close()
    server:run()
    assert.is_truthy(tostring(server):find("closed", 1, true))
  end)

  it("serves beside another one", function()
    local first = serve.with(function()
      return "first"
    end)
    local second = serve.with(function()
      return "second"
    end)
    assert.are.equal("first", serve.get(first, "/").body)
    assert.are.equal("second", serve.get(second, "/").body)
    first:close()
    assert.are.equal("second", serve.get(second, "/").body)
  end)

  it("may turn another one from a handler", function()
    local inner = serve.with(function(req)
      return "inner " .. req.path
    end)
    local outer = serve.with(function(req)
      local client = live.client(inner)
      client:send(serve.bytes("GET", "/a"))
      return "outer " .. req.path .. " " .. client:response().body
    end)
    assert.are.equal("outer /b inner /a", serve.get(outer, "/b").body)
  end)

  describe("under run()", function()
    it("ends when the function says so", function()
      local server = serve.with(ok)
      local client = live.client(server)
      client.connection:send(serve.bytes("GET", "/"))
      local asked = 0
      server:run(function()
        asked = asked + 1
        return server:stats().requests == 1
      end)
      assert.is_true(asked >= 1)
      assert.are.equal("ok", client:response().body)
    end)

    it("ends when a handler closes the server", function()
      local server
      server = serve.with(function()
        server:close()
      end)
      local client = live.client(server)
      client.connection:send(serve.bytes("GET", "/"))
      server:run()
      assert.is_true(client:closed())
    end)

    it("lets an error of the function out", function()
      local server = serve.with(ok)
      local fine, message = pcall(server.run, server, function()
        error("stop", 0)
      end)
      assert.is_false(fine)
      assert.are.equal("stop", message)
      assert.are.equal("ok", serve.get(server, "/").body)
    end)

    it("wants a function", function()
      local server = serve.with(ok)
      local fine, message = pcall(server.run, server, 5)
      assert.is_false(fine)
      assert.is_truthy(message:find("until_fn must be a function, got a number", 1, true), message)
    end)

    it("fires a debug hook that was set meanwhile", function()
      local server = serve.with(ok)
      local fine, message = pcall(server.run, server, function()
        debug.sethook(function()
          debug.sethook()
          error("interrupted!")
        end, "c")
        return false
      end)
      debug.sethook()
      assert.is_false(fine)
      assert.is_truthy(message:find("interrupted!", 1, true), message)
    end)
  end)
end)

describe("the collector", function()
  after_each(function()
    serve.close_all()
    collectgarbage("setpause", 200)
    collectgarbage("setstepmul", 200)
  end)

  it("closes a server that nobody holds", function()
    local server = fastslua.listen({ port = 0 }, ok)
    local port = server:port()
    server = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    local again, message = fastslua.listen({ port = port }, ok)
    assert(again, message):close()
  end)

  it("keeps a server whose request somebody holds", function()
    local kept
    local weak = setmetatable({}, { __mode = "v" })
    local server = fastslua.listen({ port = 0 }, function(req)
      kept = req
      return "kept " .. req.path
    end)
    weak.server = server
    assert.are.equal("kept /x", serve.get(server, "/x").body)
    server = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_truthy(weak.server)
    local fine, message = pcall(function()
      return kept.body
    end)
    assert.is_false(fine)
    assert.is_truthy(message:find("req.body can no longer be read: request 1 has ended", 1, true), message)
    kept = nil
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak.server)
  end)

  it("may run at any point of a request", function()
    local app = fastslua.app()
    app:post("/units/:id", function(req, res)
      collectgarbage("setpause", 0)
      collectgarbage("setstepmul", 1e6)
      req.user = { name = "x" }
      res:set("X-Path", req.path):set("X-Many", { "a", "b" })
      assert(req.params == req.params and req.query == req.query and req.headers == req.headers)
      collectgarbage()
      local kind, user = req.headers["Content-TYPE"], req.user.name
      res:json({ req.params.id, req.query.q, kind, #req.body, user, req.remote_address })
      collectgarbage("setpause", 200)
      collectgarbage("setstepmul", 200)
    end)
    local server = serve.with(app)
    local client = live.client(server)
    local body = ("b"):rep(3000)
    for round = 1, 20 do
      client:send(serve.bytes("POST", "/units/" .. round .. "?q=%20" .. round, "Content-Type: a/b\r\n", body))
      local response = client:response()
      local expected = ('["%d"," %d","a/b",3000,"x","127.0.0.1"]'):format(round, round)
      assert.are.equal(expected, response.body)
      assert.are.equal("a, b", response.fields["x-many"])
    end
  end)

  it("may call anything from a finalizer", function()
    if not newproxy then
      return pending("no newproxy")
    end
    local server
    local finalized = 0
    server = serve.with(function(req, res)
      for _ = 1, 50 do
        local proxy = newproxy(true)
        getmetatable(proxy).__gc = function()
          -- An error here would come out of whatever allocates at that moment.
          pcall(function()
            local _ = req.path .. fastslua.json.encode({ ("\n"):rep(2000) }) .. server:stats().requests
            assert(#fastslua.json.decode('["\\n' .. ("x"):rep(3000) .. '"]')[1] == 3001)
            finalized = finalized + 1
          end)
        end
      end
      collectgarbage("setpause", 0)
      collectgarbage("setstepmul", 1e6)
      local long = ("\t"):rep(5000)
      for _ = 1, 20 do
        local text = fastslua.json.encode({ long, req.headers.host })
        collectgarbage("step", 100)
        local value = fastslua.json.decode(text)
        assert(value[1] == long and value[2] == "127.0.0.1")
      end
      collectgarbage("setpause", 200)
      collectgarbage("setstepmul", 200)
      res:json({ #req.target, #req.query.a })
    end)
    local response = serve.get(server, "/?a=" .. ("1"):rep(3000))
    assert.are.equal("[3004,3000]", response.body)
    assert.is_true(finalized > 0)
  end)

  it("may close the server from a finalizer in the middle of a request", function()
    if not newproxy then
      return pending("no newproxy")
    end
    local server
    local ended
    server = serve.with(function(req, res)
      local proxy = newproxy(true)
      getmetatable(proxy).__gc = function()
        server:close()
      end
      proxy = nil -- luacheck: ignore
      collectgarbage()
      collectgarbage()
      local _, message = pcall(function()
        return req.headers
      end)
      ended = message
      assert(res:send("late") == false and res.is_closed)
    end)
    local client = live.client(server)
    client:send(serve.bytes("GET", "/"))
    assert.is_true(client:closed())
    assert.is_truthy(ended:find("req.headers can no longer be read", 1, true))
  end)
end)

describe("loading again", function()
  after_each(serve.close_all)

  it("gives a module of its own whose servers work beside those of before", function()
    local server = serve.with(ok)
    package.loaded.fastslua = nil
    local again = require("fastslua")
    assert.are_not.equal(fastslua, again)
    local second = assert(again
      .app()
      :get("/", function()
        return "again"
      end)
      :listen(0))
    assert.are.equal("ok", serve.get(server, "/").body)
    assert.are.equal("again", serve.get(second, "/").body)
    assert.are.equal("[]", again.json.encode(fastslua.json.array({})))
    second:close()
    package.loaded.fastslua = fastslua
  end)
end)
