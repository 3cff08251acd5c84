-- The response: what a handler sets, how it ends, and what it may not do.

local live = require("spec.support.live")
local serve = require("spec.support.serve")

describe("a response", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    {
      "send text",
      function(_, res)
        res:send("a")
      end,
      200,
      "a",
      "text/plain; charset=utf-8",
    },
    {
      "send a number",
      function(_, res)
        res:send(5)
      end,
      200,
      "5",
      "text/plain; charset=utf-8",
    },
    {
      "send a table",
      function(_, res)
        res:send({ 1 })
      end,
      200,
      "[1]",
      "application/json",
    },
    {
      "send nothing",
      function(_, res)
        res:send()
      end,
      200,
      "",
      nil,
    },
    {
      "json",
      function(_, res)
        res:json("x")
      end,
      200,
      '"x"',
      "application/json",
    },
    {
      "json nil",
      function(_, res)
        res:json(nil)
      end,
      200,
      "null",
      "application/json",
    },
    {
      "text",
      function(_, res)
        res:text("a")
      end,
      200,
      "a",
      "text/plain; charset=utf-8",
    },
    {
      "html",
      function(_, res)
        res:html("<p>")
      end,
      200,
      "<p>",
      "text/html; charset=utf-8",
    },
    {
      "type and send",
      function(_, res)
        res:type("png"):send("p")
      end,
      200,
      "p",
      "image/png",
    },
    {
      "a whole type",
      function(_, res)
        res:type("a/b; c=d"):send("p")
      end,
      200,
      "p",
      "a/b; c=d",
    },
    {
      "a text type",
      function(_, res)
        res:type("text/x-lua"):send("p")
      end,
      200,
      "p",
      "text/x-lua; charset=utf-8",
    },
    {
      "an extension",
      function(_, res)
        res:type(".css"):send("p")
      end,
      200,
      "p",
      "text/css; charset=utf-8",
    },
    {
      "type before json",
      function(_, res)
        res:type("a/b+json"):json({})
      end,
      200,
      "{}",
      "a/b+json",
    },
    {
      "status and finish",
      function(_, res)
        res:status(202):finish()
      end,
      202,
      "",
      nil,
    },
    {
      "finish with a body",
      function(_, res)
        res:type("js"):finish("x")
      end,
      200,
      "x",
      "text/javascript; charset=utf-8",
    },
    {
      "no content",
      function(_, res)
        res:status(204):finish()
      end,
      204,
      "",
      nil,
    },
  }) do
    it("by " .. row[1], function()
      local response = serve.once(row[2])
      assert.are.equal(row[3], response.status)
      assert.are.equal(row[4], response.body)
      assert.are.equal(row[5], response.fields["content-type"])
    end)
  end

  it("has fields that are set, added, read and removed", function()
    local response = serve.once(function(_, res)
      assert(res:set("X-A", "1") == res and res:append("X-A", 2) == res)
      assert(res:get("x-a") == "1" and res:has("X-a") and res:get("none") == nil and not res:has("none"))
      assert(res:set("X-B", "x"):remove("x-b") == true and res:remove("x-b") == false)
      res:set("X-C", "old"):set("x-c", { "a", "b" }):set("X-D", {})
      res:append("Set-Cookie", "a=1"):append("Set-Cookie", "b=2")
      res:set("X-N", 1.5):send("")
    end)
    assert.are.equal("1, 2", response.fields["x-a"])
    assert.is_nil(response.fields["x-b"])
    assert.are.equal("a, b", response.fields["x-c"])
    assert.is_nil(response.fields["x-d"])
    assert.are.equal("a=1, b=2", response.fields["set-cookie"])
    assert.are.equal("1.5", response.fields["x-n"])
  end)

  it("has lists of values added", function()
    local response = serve.once(function(_, res)
      res:append("X-A", { "1", 2 }):append("X-A", {}):append("X-A", "3"):send("")
    end)
    assert.are.equal("1, 2, 3", response.fields["x-a"])
  end)

  for _, row in ipairs({
    {
      "status of text",
      function(res)
        res:status("200")
      end,
      "status must be a number, got a string",
    },
    {
      "status of nothing",
      function(res)
        res:status()
      end,
      "status must be a number, got no value",
    },
    {
      "status out of range",
      function(res)
        res:status(600)
      end,
      "status",
    },
    {
      "informational status",
      function(res)
        res:status(101)
      end,
      "status",
    },
    {
      "half a status",
      function(res)
        res:status(200.5)
      end,
      "status must be a whole number from 200 to 599",
    },
    {
      "status NaN",
      function(res)
        res:status(0 / 0)
      end,
      "status must be a whole number from 200 to 599",
    },
    {
      "name of a table",
      function(res)
        res:set({}, "x")
      end,
      "name must be a string, got a table",
    },
    {
      "name with a space",
      function(res)
        res:set("a b", "x")
      end,
      "response header 'a b'",
    },
    {
      "value with a line end",
      function(res)
        res:set("A", "x\r\nB: y")
      end,
      "response header 'A'",
    },
    {
      "value with NUL",
      function(res)
        res:append("A", "x\0")
      end,
      "response header 'A'",
    },
    {
      "value of nothing",
      function(res)
        res:set("A")
      end,
      "value must be a string, got no value",
    },
    {
      "list with a table",
      function(res)
        res:set("A", { "x", {} })
      end,
      "each value must be a string, got a table",
    },
    {
      "Content-Length",
      function(res)
        res:set("Content-length", 5)
      end,
      "Content-Length",
    },
    {
      "Transfer-Encoding",
      function(res)
        res:set("transfer-encoding", "x")
      end,
      "Transfer-Encoding",
    },
    {
      "unknown short type",
      function(res)
        res:type("jsn")
      end,
      "type must be a media type or a short name",
    },
    {
      "type with a line end",
      function(res)
        res:type("a/b\r\nX: y")
      end,
      "type: ",
    },
    {
      "append of a list with a table",
      function(res)
        res:append("A", { "x", {} })
      end,
      "each value must be a string, got a table",
    },
    {
      "body of a function",
      function(res)
        res:send(print)
      end,
      "a response body is a string, a table or nil, got a function",
    },
    {
      "body of a boolean",
      function(res)
        res:send(true)
      end,
      "got a boolean",
    },
    {
      "text of a table",
      function(res)
        res:text({})
      end,
      "body must be a string, got a table",
    },
    {
      "finish with a table",
      function(res)
        res:finish({})
      end,
      "body must be a string, got a table",
    },
    {
      "json of a function",
      function(res)
        res:json({ a = { 1, print } })
      end,
      "GET /p: ",
    },
    {
      "a numbered field",
      function(res)
        res[1] = 2
      end,
      "fields of res have names",
    },
  }) do
    it("refuses " .. row[1], function()
      local message
      local response = serve.once(function(_, res)
        local fine, why = pcall(row[2], res)
        assert(not fine)
        message = why
        -- It can still be used.
        res:status(200):set("X-After", "1"):send("after")
      end, "/p")
      assert.are.equal("after", response.body)
      assert.are.equal("1", response.fields["x-after"])
      if row[1] == "json of a function" then
        assert.is_truthy(message:find("$.a[2]: a function cannot be JSON", 1, true), message)
      else
        assert.is_truthy(message:lower():find(row[3]:lower(), 1, true), message)
      end
      assert.is_truthy(message:find("response_spec.lua:", 1, true), message)
    end)
  end

  it("may not be used after its end", function()
    local messages = {}
    local server = serve.with(function(_, res)
      assert(res.headers_sent == false)
      assert(res:send("once") == true)
      assert(res.headers_sent == true)
      for _, use in ipairs({
        function()
          res:send("x")
        end,
        function()
          res:json({})
        end,
        function()
          res:text("x")
        end,
        function()
          res:finish()
        end,
        function()
          res:redirect("/")
        end,
        function()
          res:status(200)
        end,
        function()
          res:set("A", "b")
        end,
        function()
          res:append("A", "b")
        end,
        function()
          res:remove("A")
        end,
        function()
          res:type("json")
        end,
        function()
          res:cookie("a", "b")
        end,
        function()
          res:clear_cookie("a")
        end,
        function()
          res:vary("Accept")
        end,
        function()
          res:links({ next = "/" })
        end,
        function()
          res:attachment("a")
        end,
      }) do
        local fine, message = pcall(use)
        messages[#messages + 1] = not fine and message
      end
    end)
    assert.are.equal("once", serve.get(server, "/p").body)
    assert.are.equal(15, #messages)
    for _, message in ipairs(messages) do
      assert.is_truthy(message:find("GET /p: the response was already sent", 1, true), message)
    end
  end)

  it("says so too when the request is long over", function()
    local kept
    local server = serve.with(function(_, res)
      kept = res
      res:send("x")
    end)
    serve.get(server, "/")
    local fine, message = pcall(kept.send, kept, "again")
    assert.is_false(fine)
    assert.is_truthy(message:find("request 1: the response was already sent", 1, true), message)
    assert.are.equal("fastslua.response (1)", tostring(kept))
    assert.is_true(kept.is_closed)
  end)

  it("knows its request and keeps what a script puts on it", function()
    local response = serve.once(function(req, res)
      assert(res.req == req and res.colour == nil)
      res.user = "me"
      assert(res.user == "me" and res.req == req and res.is_closed == false)
      return res.user
    end)
    assert.are.equal("me", response.body)
  end)

  it("is sent from where its string lies", function()
    local big = ("0123456789abcdef"):rep(512 * 1024)
    local server = serve.with(function()
      return big
    end)
    local client = live.client(server)
    client:send(serve.bytes("GET", "/") .. serve.bytes("HEAD", "/") .. serve.bytes("GET", "/"))
    assert.is_true(client:response().body == big)
    assert.are.equal("8388608", client:response(true).fields["content-length"])
    assert.is_true(client:response().body == big)
  end)

  it("lets go of its string once it was sent", function()
    local weak = setmetatable({}, { __mode = "k" })
    local server = serve.with(function(_, res)
      local text = ("x"):rep(100000) .. os.time()
      res:send(text)
      weak[setmetatable({}, {})] = true
    end)
    collectgarbage()
    local before = collectgarbage("count")
    for _ = 1, 50 do
      assert.are.equal(200, serve.get(server, "/").status)
    end
    server:step()
    collectgarbage()
    collectgarbage()
    assert.is_true(collectgarbage("count") - before < 500)
  end)

  it("longer than max_response_bytes is the handler's failure", function()
    local message
    local server = serve.with(function()
      return ("x"):rep(2000)
    end, {
      max_response_bytes = 1000,
      on_error = function(text)
        message = text
      end,
    })
    assert.are.equal(500, serve.get(server, "/p").status)
    assert.is_truthy(message:find("GET /p: a response of 2000 bytes is more than max_response_bytes (1000)", 1, true))
  end)
end)
