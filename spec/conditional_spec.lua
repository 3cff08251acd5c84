-- Entity tags, and what the conditions of a request make of an answer.

local serve = require("spec.support.serve")

local EARLY = "Sun, 06 Nov 1994 08:49:37 GMT"
local LATE = "Sun, 06 Nov 1994 08:49:38 GMT"

describe("an entity tag", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    {
      "a string",
      function()
        return "text"
      end,
    },
    {
      "a table",
      function()
        return { 1, 2 }
      end,
    },
    {
      "send",
      function(_, res)
        res:send("text")
      end,
    },
    {
      "html",
      function(_, res)
        res:html("<p>")
      end,
    },
    {
      "64 KiB",
      function()
        return ("x"):rep(65535)
      end,
    },
  }) do
    it("tells whether the client has the content of " .. row[1] .. " already", function()
      local server = serve.with(row[2])
      local first = serve.get(server, "/")
      local tag = first.fields.etag
      assert.is_truthy(tag:find('^W/"%x+"$'), tag)
      assert.are.equal(tag, serve.ask(server, "HEAD", "/").fields.etag)
      local again = serve.get(server, "/", "If-None-Match: " .. tag .. "\r\n")
      assert.are.equal(304, again.status)
      assert.are.equal(tag, again.fields.etag)
      assert.is_nil(again.fields["content-type"])
      assert.is_nil(again.fields["content-length"])
      local head = serve.ask(server, "HEAD", "/", 'If-None-Match: "x", ' .. tag .. "\r\n")
      assert.are.equal(304, head.status)
      local other = serve.get(server, "/", 'If-None-Match: W/"other"\r\n')
      assert.are.same({ 200, first.body }, { other.status, other.body })
    end)
  end

  it("differs with the content", function()
    local server = serve.with(function(req)
      return req.path
    end)
    assert.are_not.equal(serve.get(server, "/a").fields.etag, serve.get(server, "/b").fields.etag)
  end)

  for _, row in ipairs({
    { "no content", "GET", 200, "" },
    { "another status", "GET", 201, "x" },
    { "a failure", "GET", 404, "x" },
    { "another method", "POST", 200, "x" },
    { "content of more than 64 KiB", "GET", 200, ("x"):rep(65537) },
  }) do
    it("is not made for " .. row[1], function()
      local server = serve.with(function()
        return row[3], row[4]
      end)
      assert.is_nil(serve.ask(server, row[2], "/").fields.etag)
    end)
  end

  it("is not made when the option says so, and a handler's own is heard all the same", function()
    local server = serve.with(function(req, res)
      if req.path == "/own" then
        res:set("ETag", '"own"')
      end
      return "text"
    end, { etag = false })
    assert.is_nil(serve.get(server, "/").fields.etag)
    assert.are.equal(200, serve.get(server, "/", "If-None-Match: *\r\n").status)
    assert.are.equal(304, serve.get(server, "/own", 'If-None-Match: "own"\r\n').status)
  end)

  it("is of the content that was sent, where other content was too long", function()
    local server = serve.with(function(req, res)
      if req.path == "/long" then
        assert(not pcall(res.send, res, ("x"):rep(2000)))
      end
      return "short"
    end, { max_response_bytes = 1000 })
    local short = serve.get(server, "/")
    local long = serve.get(server, "/long")
    assert.are.same({ 200, "short", short.fields.etag }, { long.status, long.body, long.fields.etag })
  end)

  it("is the handler's where it sets one", function()
    local big = ("x"):rep(100000)
    local server = serve.with(function(_, res)
      res:set("ETag", '"v7"'):send(big)
    end)
    assert.are.equal('"v7"', serve.get(server, "/").fields.etag)
    assert.are.equal(304, serve.get(server, "/", 'If-None-Match: W/"v7"\r\n').status)
    assert.are.equal(200, serve.get(server, "/", 'If-None-Match: "v8"\r\n').status)
  end)
end)

describe("a condition", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    { "If-Match", '"v7"', 200 },
    { "If-Match", '"v8"', 412 },
    { "If-Match", 'W/"v7"', 412 },
    { "If-Match", "*", 200 },
    { "If-Unmodified-Since", EARLY, 200 },
    { "If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT", 412 },
    { "If-Modified-Since", EARLY, 304 },
    { "If-Modified-Since", LATE, 304 },
    { "If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT", 200 },
    { "If-Modified-Since", "yesterday", 200 },
    { "If-None-Match", "*", 304 },
  }) do
    it(("%s: %s gives %d"):format(row[1], row[2], row[3]), function()
      local server = serve.with(function(_, res)
        return res:set("ETag", '"v7"'):set("Last-Modified", EARLY):send("text")
      end)
      local response = serve.get(server, "/", ("%s: %s\r\n"):format(row[1], row[2]))
      assert.are.equal(row[3], response.status)
      if row[3] == 412 then
        assert.is_truthy(response.body:find("not what this request asks for", 1, true), response.body)
      end
    end)
  end

  it("is told to the handler before it does the work", function()
    local seen
    local server = serve.with(function(req, res)
      res:set("ETag", '"v7"')
      seen = req.fresh
      return "text"
    end)
    for tag, fresh in pairs({ ['"v7"'] = true, ['W/"v7"'] = true, ['"x"'] = false }) do
      serve.get(server, "/", "If-None-Match: " .. tag .. "\r\n")
      assert.are.equal(fresh, seen)
    end
    serve.get(server, "/")
    assert.is_false(seen)
    serve.ask(server, "POST", "/", 'If-None-Match: "v7"\r\n')
    assert.is_false(seen)
  end)

  for _, row in ipairs({
    { "", { '"v7"' }, true },
    { 'If-Match: "v7"\r\n', { '"v7"' }, true },
    { 'If-Match: "v6", "v7"\r\n', { '"v7"' }, true },
    { 'If-Match: "v6"\r\n', { '"v7"' }, false },
    { 'If-Match: "v7"\r\n', {}, false },
    { "If-Match: *\r\n", { '"v7"' }, true },
    { "If-Match: *\r\n", {}, false },
    { "If-None-Match: *\r\n", {}, true },
    { "If-None-Match: *\r\n", { '"v7"' }, false },
    { "If-Unmodified-Since: " .. EARLY .. "\r\n", { nil, EARLY }, true },
    { "If-Unmodified-Since: " .. EARLY .. "\r\n", { nil, LATE }, false },
  }) do
    it(("permits a change: %s (%q)"):format(tostring(row[3]), row[1]), function()
      local permitted
      local server = serve.with(function(req)
        permitted = req:permits(row[2][1], row[2][2])
        return ""
      end)
      serve.ask(server, "PUT", "/", row[1], "x")
      assert.are.equal(row[3], permitted)
    end)
  end

  it("is asked about tags in quotation marks", function()
    local messages = {}
    serve.once(function(req)
      for index, arguments in ipairs({ { "v7" }, { 5 }, { '"v7"', {} } }) do
        local _, message = pcall(req.permits, req, unpack(arguments))
        messages[index] = message
      end
      return ""
    end)
    assert.is_truthy(messages[1]:find("tag must be an entity tag, in quotation marks", 1, true), messages[1])
    assert.is_truthy(messages[2]:find("tag must be a string, got a number", 1, true), messages[2])
    assert.is_truthy(messages[3]:find("last_modified must be a string, got a table", 1, true), messages[3])
  end)
end)
