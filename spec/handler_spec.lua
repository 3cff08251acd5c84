-- Handlers: what they return, how they fail, and what they may call.

local fastslua = require("fastslua")
local live = require("spec.support.live")
local serve = require("spec.support.serve")

-- A server whose errors are collected.
local function watched(handler, options)
  local seen = {}
  options = options or {}
  options.on_error = function(text, req, value)
    seen[#seen + 1] = { text = text, id = req.id, user = req.user, value = value }
  end
  return serve.with(handler, options), seen
end

describe("what a handler returns", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    { "a string is text", { "hello" }, 200, "hello", "text/plain; charset=utf-8" },
    { "an empty string is an answer", { "" }, 200, "", "text/plain; charset=utf-8" },
    { "a table is JSON", { { a = 1 } }, 200, '{"a":1}', "application/json" },
    { "a status", { 204 }, 204, "", nil },
    { "a status and text", { 404, "gone" }, 404, "gone", "text/plain; charset=utf-8" },
    { "a status and a table", { 201, { 1, 2 } }, 201, "[1,2]", "application/json" },
  }) do
    it(row[1], function()
      local response = serve.once(function()
        return unpack(row[2])
      end)
      assert.are.equal(row[3], response.status)
      assert.are.equal(row[4], response.body)
      assert.are.equal(row[5], response.fields["content-type"])
    end)
  end

  it("fields as third value", function()
    local response = serve.once(function()
      return 200, "<p>", { ["Content-Type"] = "text/html", ["X-Number"] = 5, ["X-List"] = { "a", 2 } }
    end)
    assert.are.equal("text/html", response.fields["content-type"])
    assert.are.equal("5", response.fields["x-number"])
    assert.are.equal("a, 2", response.fields["x-list"])
  end)

  it("the result of an ending method, or the response", function()
    assert.are.equal(
      "a",
      serve.once(function(_, res)
        return res:send("a")
      end).body
    )
    assert.are.equal(
      "b",
      serve.once(function(_, res)
        res:send("b")
        return res
      end).body
    )
  end)

  for _, row in ipairs({
    { "nothing at all", function() end, "the handler of GET /p has returned without an answer" },
    {
      "a function",
      function()
        return print
      end,
      "got a function",
    },
    {
      "nil and a message",
      function()
        return nil, "no database"
      end,
      "no database",
    },
    {
      "a status of another kind",
      function()
        return 99
      end,
      "status",
    },
    {
      "a status that is no number of ours",
      function()
        return 0 / 0
      end,
      "whole number from 200 to 599",
    },
    {
      "a body of another kind",
      function()
        return 200, true
      end,
      "a response body is a string, a table or nil",
    },
    {
      "a second answer",
      function(_, res)
        res:send("x")
        return "y"
      end,
      "the response was already sent",
    },
    {
      "fields without names",
      function()
        return 200, "", { "x" }
      end,
      "names of response headers are strings",
    },
  }) do
    it("is an error: " .. row[1], function()
      local server, seen = watched(row[2])
      local response = serve.get(server, "/p")
      if row[1] ~= "a second answer" then
        assert.are.equal(500, response.status)
        assert.are.equal("The handler of this request has failed.\n", response.body)
      else
        assert.are.equal("x", response.body)
      end
      assert.are.equal(1, #seen)

      assert.is_truthy(seen[1].text:find(row[3], 1, true), seen[1].text)
    end)
  end
end)

describe("a handler that fails", function()
  after_each(serve.close_all)

  it("gets its request 500, and the next one is served", function()
    local server, seen = watched(function(req)
      if req.path == "/bad" then
        error("first line\nsecond line")
      end
      return "good"
    end)
    local client = live.client(server)
    client:send(serve.bytes("GET", "/bad") .. serve.bytes("GET", "/good"))
    assert.are.equal(500, client:response().status)
    assert.are.equal("good", client:response().body)
    assert.are.equal(1, #seen)
    assert.is_truthy(seen[1].text:find("first line\nsecond line\nstack traceback:", 1, true), seen[1].text)
    assert.is_truthy(seen[1].text:find("handler_spec.lua", 1, true))
  end)

  local function raising_proxy()
    local proxy = newproxy(true)
    getmetatable(proxy).__tostring = function()
      error("even this")
    end
    return proxy
  end

  for _, row in ipairs({
    { "nil", function() end, "nil" },
    {
      "a boolean",
      function()
        return false
      end,
      "false",
    },
    {
      "a number",
      function()
        return 42
      end,
      "42",
    },
    {
      "a table",
      function()
        return {}
      end,
      "table: ",
    },
    {
      "a table with a text",
      function()
        return setmetatable({}, {
          __tostring = function()
            return "mine"
          end,
        })
      end,
      "mine",
    },
    { "an object whose text fails", raising_proxy, "(an error object, a userdata, that cannot be shown)" },
    {
      "an object whose text is none",
      function()
        return setmetatable({}, {
          __tostring = function()
            return {}
          end,
        })
      end,
      "(an error object, a table, that cannot be shown)",
    },
    {
      "a coroutine",
      function()
        return coroutine.create(function() end)
      end,
      "thread: ",
    },
  }) do
    it("with " .. row[1], function()
      local value = row[2]()
      local server, seen = watched(function(req)
        req.user = "me"
        error(value, 0)
      end)
      assert.are.equal(500, serve.get(server, "/").status)
      assert.are.equal(1, #seen)
      assert.is_truthy(seen[1].text:find(row[3], 1, true), seen[1].text)
      assert.is_truthy(seen[1].text:find("stack traceback:", 1, true), seen[1].text)
      assert.are.equal("me", seen[1].user)
      if type(value) ~= "number" then
        assert.is_true(rawequal(value, seen[1].value))
      end
    end)
  end

  it("by overflowing the stack", function()
    local function deeper()
      return 1 + deeper()
    end
    local server, seen = watched(deeper)
    assert.are.equal(500, serve.get(server, "/").status)
    assert.are.equal(1, #seen)
    assert.are.equal(500, serve.get(server, "/").status)
  end)

  it("after it has answered", function()
    local server, seen = watched(function(_, res)
      res:send("answered")
      error("too late")
    end)
    assert.are.equal("answered", serve.get(server, "/").body)
    assert.are.equal(1, #seen)
  end)

  it("without fields that describe what it did not send", function()
    local server = watched(function(_, res)
      res:set("X-Half", "done"):status(201):type("html"):set("ETag", '"a"'):set("Cache-Control", "max-age=60")
      error("x")
    end)
    local response = serve.get(server, "/")
    assert.are.equal(500, response.status)
    assert.are.equal("text/plain; charset=utf-8", response.fields["content-type"])
    assert.is_nil(response.fields.etag)
    assert.is_nil(response.fields["cache-control"])
    assert.are.equal("done", response.fields["x-half"])
  end)

  it("together with on_error is told to the log", function()
    local logged = {}
    local server = serve.with(function()
      error("one")
    end, {
      on_error = function()
        error("two")
      end,
      on_log = function(level, message, fields)
        logged[#logged + 1] = { level, message, fields.route, fields.request_id }
      end,
    })
    assert.are.equal(500, serve.get(server, "/p").status)
    assert.are.equal(1, #logged)
    assert.are.equal("error", logged[1][1])
    assert.is_truthy(logged[1][2]:find("one", 1, true) and logged[1][2]:find("on_error has failed too", 1, true))
    assert.are.equal("GET /p", logged[1][3])
    assert.are.equal(1, logged[1][4])
  end)

  it("together with the log costs nobody else anything", function()
    local server = serve.with(function(req)
      assert(req.path == "/good")
      return "good"
    end, {
      on_log = function()
        error("three")
      end,
    })
    assert.are.equal(500, serve.get(server, "/bad").status)
    assert.are.equal("good", serve.get(server, "/good").body)
  end)

  it("with an error object whose headers cannot be sent, which the program hears of", function()
    for _, headers in ipairs({ { ["X"] = "a\r\nb" }, { ["Content-Length"] = "5" }, { ["a b"] = "c" } }) do
      local client = fastslua.test(function()
        error(fastslua.error(404, "gone", { headers = headers }))
      end)
      local response = client:get("/")
      assert.are.equal(500, response.status)
      assert.is_truthy(response.error:find("header", 1, true), response.error)
      assert.are.equal(1, #client.log)
    end
  end)

  it("with a third value that is no table", function()
    for _, wrong in ipairs({ "text", 5, true }) do
      local client = fastslua.test(function()
        return 200, "body", wrong
      end)
      local response = client:get("/")
      assert.are.equal(500, response.status)
      assert.is_truthy(response.error:find("a handler's headers, behind its status and body, are a table", 1, true))
    end
  end)

  it("with nobody listening", function()
    local server = serve.with(function()
      error("unheard")
    end)
    assert.are.equal(500, serve.get(server, "/").status)
  end)
end)

describe("a handler may", function()
  after_each(serve.close_all)

  it("not turn its own server", function()
    local messages = {}
    local server
    server = serve.with(function()
      for _, name in ipairs({ "step", "run" }) do
        local fine, message = pcall(server[name], server)
        messages[#messages + 1] = not fine and message
      end
      return "fine"
    end)
    assert.are.equal("fine", serve.get(server, "/").body)
    assert.is_truthy(messages[1]:find("step inside step", 1, true))
    assert.is_truthy(messages[2]:find("step inside step", 1, true))
    assert.are.equal("fine", serve.get(server, "/").body)
  end)

  it("call everything else on it", function()
    local server
    server = serve.with(function()
      assert(server:stats().requests == 1 and server:port() == select(2, server:address()))
      server:shutdown(5)
      return tostring(server)
    end)
    local expected = tostring(server)
    local response = serve.get(server, "/")
    assert.are.equal(expected, response.body)
    assert.are.equal("close", response.fields.connection)
  end)

  it("close it, with other requests waiting", function()
    local server
    local calls = 0
    server = serve.with(function(req, res)
      calls = calls + 1
      server:close()
      assert(res.is_closed and res:status(200):set("A", "b") == res and res:send("x") == false)
      assert(not pcall(function()
        return req.method
      end))
    end)
    local clients = {}
    for index = 1, 3 do
      clients[index] = live.client(server)
      clients[index].connection:send(serve.bytes("GET", "/") .. serve.bytes("GET", "/"))
    end
    for index = 1, 3 do
      assert.is_true(clients[index]:closed())
    end
    assert.are.equal(1, calls)
  end)

  it("be turned from a coroutine", function()
    local server = serve.with(function(req)
      return tostring(coroutine.running() ~= nil) .. req.path
    end)
    local client = live.client(server)
    client.connection:send(serve.bytes("GET", "/a") .. serve.bytes("GET", "/b"))
    local turner = coroutine.wrap(function()
      while true do
        server:step()
        coroutine.yield()
      end
    end)
    turner()
    for _ = 1, 100 do
      turner()
    end
    assert.are.equal("true/a", client:response().body)
    assert.are.equal("true/b", client:response().body)
  end)

  it("not yield out of a step", function()
    local server, seen = watched(function()
      coroutine.yield()
    end)
    local client = live.client(server)
    client.connection:send(serve.bytes("GET", "/"))
    local turner = coroutine.create(function()
      for _ = 1, 200 do
        server:step()
      end
      return "whole"
    end)
    assert.are.same({ true, "whole" }, { coroutine.resume(turner) })
    assert.are.equal(500, client:response().status)
    assert.are.equal(1, #seen)
  end)
end)
