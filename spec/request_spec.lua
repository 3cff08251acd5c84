-- The request: every field and method, lazily, once, and not after its end.

local fastslua = require("fastslua")
local live = require("spec.support.live")
local serve = require("spec.support.serve")

-- What `read` makes of a request in a handler.
local function seen(read, method, target, fields, body)
  local value
  local server = serve.with(function(req)
    value = { read(req) }
    return ""
  end)
  local response = serve.ask(server, method or "GET", target or "/", fields, body)
  assert.are.equal(200, response.status)
  return unpack(value)
end

describe("a request", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    { "method", "method", "GET" },
    { "another method", "method", "BREW", "BREW" },
    { "target", "target", "/a%20b?c=%41", "GET", "/a%20b?c=%41" },
    { "path", "path", "/a b/é", "GET", "/a%20b/%C3%A9" },
    { "raw_path", "raw_path", "/a%20b", "GET", "/a%20b?c" },
    { "path of an absolute target", "path", "/x", "GET", "http://127.0.0.1/x" },
    { "path of an asterisk", "path", "*", "OPTIONS", "*" },
    { "query_string", "query_string", "a=1&b", "GET", "/?a=1&b" },
    { "query_string of none", "query_string", "", "GET", "/" },
    { "version", "version", "1.1" },
    { "body of none", "body", nil },
    { "body", "body", "b\0d", "POST", "/", nil, "b\0d" },
    { "empty body", "body", "", "POST", "/", nil, "" },
    { "remote_address", "remote_address", "127.0.0.1" },
    { "id", "id", 1 },
    { "route of none", "route", nil },
    { "app of none", "app", nil },
    { "an unknown field", "colour", nil },
  }) do
    it("has " .. row[1], function()
      assert.are.equal(row[3], (seen(function(req)
        return req[row[2]]
      end, row[4], row[5], row[6], row[7])))
    end)
  end

  it("has the peer's port", function()
    local server = serve.with(function(req)
      return tostring(req.remote_port)
    end)
    local client = live.client(server)
    local _, port = client.connection:getsockname()
    client:send(serve.bytes("GET", "/"))
    assert.are.equal(tostring(port), client:response().body)
  end)

  for _, row in ipairs({
    { "", {} },
    { "?", {} },
    { "?a=1&b=2", { a = "1", b = "2" } },
    { "?flag&x=", { flag = "", x = "" } },
    { "?a=b=c&&=v", { a = "b=c", [""] = "v" } },
    { "?q=a+b%2B%20c", { q = "a b+ c" } },
    { "?a=first&a=second", { a = "first" } },
    { "?%61%5B%5D=1", { ["a[]"] = "1" } },
  }) do
    it("has the query of " .. (row[1] == "" and "none" or row[1]), function()
      assert.are.same(row[2], (seen(function(req)
        assert(req.query == req.query)
        return req.query
      end, "GET", "/" .. row[1])))
    end)
  end

  it("has every value of a repeated name", function()
    local read = function(req)
      return req:query_all("a"), req:query_all("b"), req:query_all("none")
    end
    local a, b, none = seen(read, "GET", "/?a=1&b=x&%61=2&a")
    assert.are.same({ { "1", "2", "" }, { "x" }, {} }, { a, b, none })
  end)

  it("has headers in any case", function()
    local fields = "X-One: 1\r\nx-many: a\r\nX-MANY: b\r\nCookie: a=1\r\nCookie: b=2\r\nX-Empty:\r\n"
    local headers, one, many, none = seen(function(req)
      assert(req.headers == req.headers)
      return req.headers, req:header("x-ONE"), req:header_all("X-Many"), req:header("none")
    end, "GET", "/", fields)
    assert.are.equal("1", headers["X-One"])
    assert.are.equal("1", headers["x-one"])
    assert.are.equal("a, b", headers["X-Many"])
    assert.are.equal("a=1; b=2", headers.cookie)
    assert.are.equal("", headers["x-empty"])
    assert.are.equal("127.0.0.1", headers.Host)
    assert.is_nil(headers.None)
    assert.is_nil(headers[5])
    assert.are.equal("1", one)
    assert.are.same({ "a", "b" }, many)
    assert.is_nil(none)
  end)

  it("keeps what a script puts on it", function()
    local same = seen(function(req)
      local user = {}
      req.user, req.body = user, "mine"
      req.user2 = false
      assert(req.user2 == false and req.colour == nil)
      req.user2 = nil
      return req.user == user and req.body == "mine" and req.user2 == nil and req.method == "GET"
    end)
    assert.is_true(same)
    local fine, message = seen(function(req)
      return pcall(function()
        req[1] = 5
      end)
    end)
    assert.is_false(fine)
    assert.is_truthy(message:find("fields of req have names", 1, true), message)
  end)

  it("is refused when it is read and is not UTF-8", function()
    local app = fastslua.app()
    app:get("/units/:id", function(req, res)
      res:json({ id = req.params.id })
    end)
    app:get("/query", function(req, res)
      res:json({ a = req.query.a })
    end)
    app:get("/all", function(req, res)
      res:json(req:query_all("a"))
    end)
    app:post("/form", function(req, res)
      res:json(req:form())
    end)
    app:get("/unread/:id", function(req)
      return req.raw_path .. req.query_string
    end)
    local client = fastslua.test(app)
    for _, path in ipairs({ "/units/%ff", "/units/%C3", "/query?a=%ff", "/query?%ff=a", "/all?a=x&a=%E2%82" }) do
      local response = client:get(path)
      assert.are.equal(400, response.status, path)
      assert.is_truthy(response.body:find("is not UTF-8", 1, true))
      assert.is_nil(response.error)
    end
    assert.are.equal("/unread/%ff%ff", client:get("/unread/%ff?%ff").body)
    assert.are.equal("é", client:get("/units/%C3%A9"):json().id)
    local kind = { ["Content-Type"] = "application/x-www-form-urlencoded" }
    assert.are.equal(400, client:post("/form", { body = "a=%ff", headers = kind }).status)
  end)

  it("is refused when a percent sequence is malformed", function()
    local server = serve.with(function()
      return ""
    end)
    for _, target in ipairs({ "/%", "/%4", "/%4g", "/a?b=%", "/a?%zz" }) do
      assert.are.equal(400, serve.get(server, target).status, target)
    end
    assert.are.equal(200, serve.get(server, "/%41?%42").status)
  end)

  it("takes a body of 8 MiB", function()
    local body = ("0123456789abcdef"):rep(512 * 1024)
    local server = serve.with(function(req)
      assert(req.body == body and req.body == body)
      return tostring(#req.body)
    end, { max_body_bytes = 8 * 1024 * 1024 })
    assert.are.equal("8388608", serve.ask(server, "POST", "/", nil, body).body)
  end)

  it("can no longer be read after its end, but what was put on it stays", function()
    local kept
    local server = serve.with(function(req)
      kept = req
      assert(req.query.a == "1" and req.params)
      req.user = "me"
      return ""
    end)
    assert.are.equal(200, serve.get(server, "/p?a=1").status)
    assert.are.equal("me", kept.user)
    assert.are.equal(1, kept.id)
    assert.are.equal("fastslua.request (1)", tostring(kept))
    local names = { "method", "path", "query", "params", "body", "headers", "version", "route", "cookies" }
    for _, name in ipairs({ "remote_address", "peer_address", "scheme", "secure", "host", "hostname", "fresh" }) do
      names[#names + 1] = name
    end
    for _, name in ipairs(names) do
      local fine, message = pcall(function()
        return kept[name]
      end)
      assert.is_false(fine)
      local expected = ("req.%s can no longer be read: request 1 has ended"):format(name)
      assert.is_truthy(message:find(expected, 1, true), message)
    end
    for _, name in ipairs({ "header", "header_all", "query_all", "cookie", "form_all", "is", "accepts" }) do
      local fine, message = pcall(kept[name], kept, "x")
      assert.is_false(fine)
      assert.is_truthy(message:find("request 1 has ended", 1, true), message)
    end
    for _, name in ipairs({ "json", "form", "multipart" }) do
      local fine, message = pcall(kept[name], kept)
      assert.is_false(fine)
      assert.is_truthy(message:find("request 1 has ended", 1, true), message)
    end
  end)

  it("is needed before the colon", function()
    local messages = seen(function(req)
      local messages = {}
      for _, name in ipairs({ "header", "cookie", "accepts", "json", "form", "multipart" }) do
        for _, bad in ipairs({ false, {}, io.stdout, "x" }) do
          local fine, message = pcall(req[name], bad, "x")
          messages[#messages + 1] = not fine and message
        end
      end
      local _, message = pcall(req.header, req)
      messages[#messages + 1] = message
      return messages
    end)
    assert.are.equal(25, #messages)
    for index = 1, 24 do
      assert.is_truthy(messages[index]:find("a request (req) is needed before the colon", 1, true), messages[index])
    end
    assert.is_truthy(messages[25]:find("name must be a string, got no value", 1, true), messages[25])
  end)
end)
