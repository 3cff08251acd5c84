-- fastslua.test: what a user's own specs are written with.

local fastslua = require("fastslua")

local function echo()
  local app = fastslua.app()
  app:all("/echo", function(req, res)
    res:set("X-Method", req.method):json({
      query = fastslua.json.object(req.query),
      kind = req:header("Content-Type"),
      body = req.body,
      from = req.remote_address,
      cookie = req:cookie("session"),
      host = req:header("Host"),
      seen = req:header_all("X-Seen"),
    })
  end)
  app:get("/fails", function()
    error("lost")
  end)
  app:get("/many", function(_, res)
    res:append("X-One", "1"):append("X-One", "2"):status(418):text("tea")
  end)
  return app
end

describe("fastslua.test", function()
  it("asks through every method", function()
    local client = fastslua.test(echo())
    for _, name in ipairs({ "get", "post", "put", "patch", "delete", "options" }) do
      local response = client[name](client, "/echo")
      assert.are.equal(200, response.status)
      assert.are.equal(name:upper(), response.headers["x-method"])
    end
    local head = client:head("/echo")
    assert.are.equal("", head.body)
    assert.are.equal(client:get("/echo").headers["content-length"], head.headers["CONTENT-LENGTH"])
    assert.are.equal("BREW", client:request("BREW", "/echo").headers["X-Method"])
  end)

  it("sends what it is given", function()
    local client = fastslua.test(echo())
    local response = client:post("/echo?a=1", {
      query = { b = { "x y", "z" } },
      headers = { ["X-Seen"] = { "one", "two" } },
      cookies = { session = "abc" },
      json = { id = 7 },
      remote_address = "::1",
    })
    local seen = response:json()
    assert.are.same({ a = "1", b = "x y" }, seen.query)
    assert.are.equal("application/json", seen.kind)
    assert.are.equal('{"id":7}', seen.body)
    assert.are.equal("::1", seen.from)
    assert.are.equal("abc", seen.cookie)
    assert.are.same({ "one", "two" }, seen.seen)

    seen = client:put("/echo", { form = { name = "Ü&=", list = { 1, 2 } } }):json()
    assert.are.equal("application/x-www-form-urlencoded", seen.kind)
    assert.are.equal("list=1&list=2&name=%C3%9C%26%3D", seen.body)

    seen =
      client:post("/echo", { body = "plain", headers = { ["content-type"] = "text/plain", Host = "127.0.0.1" } }):json()
    assert.are.equal("text/plain", seen.kind)
    assert.are.equal("plain", seen.body)
    assert.are.equal("127.0.0.1", seen.host)
  end)

  it("gives status, reason, headers and content", function()
    local response = fastslua.test(echo()):get("/many")
    assert.are.equal(418, response.status)
    assert.are.equal("tea", response.body)
    assert.are.equal("1", response.headers["X-ONE"])
    assert.are.same({ "1", "2" }, response:header_all("x-one"))
    assert.are.same({}, response:header_all("x-two"))
    assert.is_nil(response.headers["x-two"])
    assert.is_nil(response.error)
    local fine, message = pcall(response.json, response)
    assert.is_false(fine)
    assert.is_truthy(message:find("the answer is no JSON", 1, true), message)
    assert.are.equal("Not Found", fastslua.test(echo()):get("/none").reason)
  end)

  it("is as strict as a server at a port", function()
    local client = fastslua.test(echo(), { max_body_bytes = 10 })
    assert.are.equal(413, client:post("/echo", { body = ("x"):rep(11) }).status)
    assert.are.equal(421, client:get("/echo", { headers = { Host = "evil.test" } }).status)
    assert.are.equal(400, client:get("/echo", { headers = { Host = false } }).status)
    local bytes, ended = client:raw("GET /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n")
    assert.are.equal("HTTP/1.1 400 ", bytes:sub(1, 13))
    assert.is_true(ended)
  end)

  it("tells of failures as the log does", function()
    local told = {}
    local client = fastslua.test(echo(), {
      on_error = function(text)
        told[#told + 1] = text
      end,
      on_log = function(level)
        told[#told + 1] = level
      end,
    })
    local response = client:get("/fails")
    assert.are.equal(500, response.status)
    assert.is_truthy(response.error:find("lost", 1, true))
    assert.are.same({ response.error, "error" }, told)
    assert.are.equal(1, #client.log)
    assert.are.equal("error", client.log[1].level)
    assert.are.equal("GET /fails", client.log[1].fields.route)
    assert.is_nil(client:get("/echo").error)
  end)

  it("keeps connections open, in pieces and in time", function()
    local client = fastslua.test(echo(), { header_timeout = 5, keep_alive_timeout = 7 })
    local connection = client:connect()
    local request = "GET /many HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for at = 1, #request - 1 do
      assert.is_true(connection:send(request:sub(at, at)))
    end
    assert.are.equal("", (connection:receive()))
    connection:send("\n")
    local bytes, ended = connection:receive()
    assert.are.equal("tea", bytes:sub(-3))
    assert.is_false(ended)
    client:advance(6.9)
    assert.is_false(select(2, connection:receive()))
    client:advance(0.2)
    assert.is_true(select(2, connection:receive()))
    assert.is_false(connection:send("x"))

    connection = client:connect()
    connection:send("GET /")
    client:advance(5)
    assert.are.equal("HTTP/1.1 408 ", connection:receive():sub(1, 13))
    connection:close()
    connection:close()

    connection = client:connect()
    connection:send(request:rep(2))
    connection:finish()
    bytes, ended = connection:receive()
    assert.are.equal(2, select(2, bytes:gsub("418", "")))
    assert.is_true(ended)
  end)

  it("takes a handler, and large answers", function()
    local large = ("x"):rep(8 * 1024 * 1024)
    local client = fastslua.test(function(_, res)
      res:send(large)
    end)
    assert.are.equal(#large, #client:get("/").body)
    assert.are.equal(#large, #client:get("/").body)
    assert.are.equal(2, client.server:stats().requests)
  end)

  it("says why there is no answer", function()
    local client
    client = fastslua.test(function()
      client.server:close()
    end)
    local response, message = client:get("/")
    assert.is_nil(response)
    assert.are.equal("the server ended the connection", message)
    assert.are.same({ nil, "the server is closed" }, { client:get("/") })
    assert.are.same({ nil, "the server is closed" }, { client:raw("GET") })
    client:close()
  end)

  it("names what it is misused with", function()
    local client = fastslua.test(echo())
    local function fails(wanted, run, ...)
      local fine, message = pcall(run, ...)
      assert.is_false(fine)
      assert.is_truthy(message:find(wanted, 1, true), message)
    end
    fails("needs an application or a handler, got a number", fastslua.test, 5)
    fails("an application made by fastslua.app() is needed", fastslua.test, {})
    fails("option 'port' has no meaning without a port", fastslua.test, echo(), { port = 80 })
    fails("unknown option 'colour'", fastslua.test, echo(), { colour = 1 })
    fails("options must be a table, got a string", fastslua.test, echo(), "x")
    fails("option 'on_error' must be a function", fastslua.test, echo(), { on_error = 1 })
    fails("client:get needs a path, got a nil", client.get, client)
    fails("unknown option 'colour' of a request", client.get, client, "/", { colour = 1 })
    fails("option 'body' must be a string, got a table", client.post, client, "/", { body = {} })
    fails("a request has one of body, json and form", client.post, client, "/", { body = "", json = 1 })
    fails("remote_address must be an IP address", client.get, client, "/", { remote_address = "here" })
    fails("needs a method and a path", client.request, client, "GET")
    fails("names of headers are strings, got a number", client.get, client, "/", { headers = { "x" } })
    fails("seconds must be a number, got a nil", client.advance, client)
    for _, wrong in ipairs({ 0 / 0, -1, 1 / 0 }) do
      fails("testing_spec.lua", function()
        client:advance(wrong)
      end)
    end
    fails("testing_spec.lua", function()
      local response = client:get("/", { remote_address = "here" })
      return response
    end)
    fails("bytes must be a string, got a nil", client.raw, client)
  end)

  it("needs no memory for connections that were closed", function()
    local client = fastslua.test(echo())
    for _ = 1, 3000 do
      client:get("/echo")
    end
    assert.are.equal(0, client.server:stats().active)
  end)
end)
