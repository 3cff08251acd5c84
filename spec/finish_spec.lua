-- res:on_finish: who waits for the end of a request hears of it, whichever way it ends.

local fastslua = require("fastslua")
local serve = require("spec.support.serve")

describe("res:on_finish", function()
  after_each(serve.close_all)

  -- The ends that a handler's requests come to, one line each.
  local function watch(handler, options)
    local ends = {}
    local server = serve.with(function(req, res)
      res:on_finish(function(same_req, same_res)
        assert(same_req == req and same_res == res)
        ends[#ends + 1] = ("%s %s %s %s"):format(req.method, req.path, res.status_code, res.bytes)
      end)
      return handler(req, res)
    end, options)
    return server, ends
  end

  for _, row in ipairs({
    {
      "text",
      "GET",
      "GET / 200 5",
      function()
        return "hello"
      end,
    },
    {
      "a body that is not copied",
      "GET",
      "GET / 200 100000",
      function()
        return ("x"):rep(100000)
      end,
    },
    {
      "no content",
      "GET",
      "GET / 204 0",
      function()
        return 204
      end,
    },
    {
      "HEAD",
      "HEAD",
      "HEAD / 200 0",
      function()
        return "hello"
      end,
    },
    {
      "a redirection",
      "GET",
      "GET / 302 20",
      function(_, res)
        res:redirect("/b")
      end,
    },
    {
      "a status of its own",
      "GET",
      "GET / 418 6",
      function(_, res)
        res:status(418):send("teapot")
      end,
    },
  }) do
    it("hears of " .. row[1], function()
      local server, ends = watch(row[4])
      serve.ask(server, row[2], "/")
      assert.are.same({ row[3] }, ends)
    end)
  end

  it("hears of a handler's failure, with the answer that it got", function()
    local server, ends = watch(function()
      error("boom")
    end)
    local response = serve.get(server, "/")
    assert.are.same({ ("GET / 500 %d"):format(#response.body) }, ends)
  end)

  it("hears of a request that nobody answered", function()
    local server, ends = watch(function() end)
    local response = serve.get(server, "/")
    assert.are.same({ ("GET / 500 %d"):format(#response.body) }, ends)
  end)

  it("hears of a server that was closed by the handler", function()
    local server
    local heard = 0
    server = serve.with(function(_, res)
      res:on_finish(function(_, same)
        heard = heard + 1
        assert(same.is_closed and same.bytes == nil)
      end)
      server:close()
    end)
    local socket = require("socket").connect("127.0.0.1", server:port())
    socket:send(serve.bytes("GET", "/"))
    for _ = 1, 1000 do
      if heard > 0 then
        break
      end
      server:step()
    end
    socket:close()
    assert.are.equal(1, heard)
  end)

  it("calls all, in order, those that are added meanwhile too, for their request only", function()
    local order = {}
    local server = serve.with(function(req, res)
      if req.path == "/plain" then
        return "plain"
      end
      local chained = res:on_finish(function()
        order[#order + 1] = "first"
        res:on_finish(function()
          order[#order + 1] = "third"
        end)
      end)
      assert(chained == res)
      res:on_finish(function()
        order[#order + 1] = "second"
      end)
      return "ok"
    end)
    serve.get(server, "/")
    serve.get(server, "/plain")
    assert.are.same({ "first", "second", "third" }, order)
  end)

  it("reports what they raise, and calls the others", function()
    local failures, heard = {}, 0
    local server = serve.with(function(_, res)
      res:on_finish(function()
        error("a bad listener")
      end)
      res:on_finish(function()
        heard = heard + 1
      end)
      return "fine"
    end, {
      on_error = function(text)
        failures[#failures + 1] = text
      end,
    })
    local response = serve.get(server, "/")
    assert.are.same({ 200, "fine" }, { response.status, response.body })
    assert.are.equal(1, heard)
    assert.are.equal(1, #failures)
    assert.is_truthy(failures[1]:find("a bad listener", 1, true))
  end)

  it("is misused with an error", function()
    local kept
    local failures = {}
    local server = serve.with(function(req, res)
      if req.path == "/type" then
        res:on_finish("text")
      elseif req.path == "/late" then
        kept:on_finish(print)
      end
      kept = res
      return "ok"
    end, {
      on_error = function(text)
        failures[#failures + 1] = text:match("^[^\n]*")
      end,
    })
    serve.get(server, "/")
    assert.are.equal(500, serve.get(server, "/late").status)
    assert.are.equal(500, serve.get(server, "/type").status)
    assert.is_truthy(failures[1]:find("on_finish: the request is not being handled any more", 1, true))
    assert.is_truthy(failures[2]:find("fn must be a function, got a string", 1, true))
  end)

  it("holds nothing after the request", function()
    local seen = setmetatable({}, { __mode = "k" })
    local server = serve.with(function(_, res)
      local function listener() end
      seen[listener] = true
      res:on_finish(listener)
      return "ok"
    end)
    serve.get(server, "/")
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(seen))
  end)
end)

describe("res.status_code and res.bytes", function()
  after_each(serve.close_all)

  it("tell the status as it is set, and what was sent", function()
    local seen = {}
    local app = fastslua.app()
    app:get("/", function(_, res, next)
      seen[1], seen[2] = res.status_code, tostring(res.bytes)
      res:status(201)
      seen[3] = res.status_code
      next()
      seen[4], seen[5] = res.status_code, res.bytes
    end, function(_, res)
      res:status(202):send("four")
    end)
    assert.are.equal(202, serve.get(serve.with(app), "/").status)
    assert.are.same({ 200, "nil", 201, 202, 4 }, seen)
  end)
end)
