-- Cookies: those that a request brings, and those that a response sets.

local serve = require("spec.support.serve")

describe("the cookies of a request", function()
  after_each(serve.close_all)

  -- The table of cookies, and what `cookie` gives for "a".
  local function cookies(fields)
    local all, one
    local server = serve.with(function(req)
      all, one = req.cookies, req:cookie("a")
      assert(req.cookies == all)
      return ""
    end)
    local response = serve.get(server, "/", fields)
    return response.status == 200 and all or response, one
  end

  for _, row in ipairs({
    { "", {} },
    { "Cookie: a=1\r\n", { a = "1" } },
    { "Cookie: b=2; a=1;c=x=y\r\n", { a = "1", b = "2", c = "x=y" } },
    { "Cookie: a=1\r\nCookie: a=2; b=3\r\n", { a = "1", b = "3" } },
    { 'Cookie: a="q"; b=%C3%A9%20; c=50%\r\n', { a = "q", b = "é ", c = "50%" } },
    { "Cookie: nameless; =x; a=\r\n", { a = "" } },
    { "Cookie: a=" .. ("x"):rep(4000) .. "\r\n", { a = ("x"):rep(4000) } },
  }) do
    it("are read from " .. row[1]:sub(1, 40), function()
      local all, one = cookies(row[1])
      assert.are.same(row[2], all)
      assert.are.equal(row[2].a, one)
    end)
  end

  for _, row in ipairs({
    { "Cookie: a b=1\r\n", "A cookie's name in the Cookie header is malformed." },
    { "Cookie: a=1\r\nCookie: b=\t1\t2\r\n", "A cookie's value in the Cookie header holds a control character." },
  }) do
    it("are 400 when malformed: " .. row[1], function()
      local response = cookies(row[1])
      assert.are.equal(400, response.status)
      assert.are.equal(row[2] .. "\n", response.body)
    end)
  end

  it("bother nobody who does not ask for them", function()
    assert.are.equal(
      200,
      serve.once(function()
        return ""
      end, "/", "Cookie: a b=1\r\n").status
    )
  end)

  it("need a name", function()
    local message
    serve.once(function(req)
      local _, why = pcall(req.cookie, req)
      message = why
      return ""
    end)
    assert.is_truthy(message:find("name must be a string, got no value", 1, true), message)
  end)
end)

describe("a cookie of a response", function()
  after_each(serve.close_all)

  -- The Set-Cookie of a response, or the error that the method raises.
  local function set(method, ...)
    local arguments, failure = { ... }, nil
    local response = serve.once(function(_, res)
      local fine, result = pcall(res[method], res, unpack(arguments))
      failure = not fine and result
      assert(failure or result == res)
      return "text"
    end)
    return response.fields["set-cookie"], failure
  end

  for _, row in ipairs({
    { "1", nil, "a=1; Path=/" },
    { 5, {}, "a=5; Path=/" },
    { "", { path = "/p" }, "a=; Path=/p" },
    { "x y;%é", {}, "a=x%20y%3B%25%C3%A9; Path=/" },
    { "line\r\nX: y", {}, "a=line%0D%0AX:%20y; Path=/" },
    { "1", { max_age = 60, domain = "sim.lan" }, "a=1; Max-Age=60; Domain=sim.lan; Path=/" },
    { "1", { max_age = -1 }, "a=1; Max-Age=-1; Path=/" },
    { "1", { expires = 784111777 }, "a=1; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT" },
    { "1", { secure = true, http_only = true }, "a=1; Path=/; HttpOnly; Secure" },
    { "1", { secure = false, http_only = false, partitioned = false }, "a=1; Path=/" },
    { "1", { same_site = "Lax" }, "a=1; Path=/; SameSite=Lax" },
    { "1", { same_site = "strict" }, "a=1; Path=/; SameSite=Strict" },
    {
      "1",
      { same_site = "none", secure = true, partitioned = true },
      "a=1; Path=/; Secure; Partitioned; SameSite=None",
    },
  }) do
    it("is " .. row[3], function()
      local field, failure = set("cookie", "a", row[1], row[2])
      assert.is_false(failure)
      assert.are.equal(row[3], field)
    end)
  end

  it("may be one of many, and may have a prefix", function()
    local response = serve.once(function(_, res)
      res:cookie("__Host-a", "1", { secure = true }):cookie("__Secure-b", "2", { secure = true, path = "/p" })
      return "text"
    end)
    local expected = "__Host-a=1; Path=/; Secure, __Secure-b=2; Path=/p; Secure"
    assert.are.equal(expected, response.fields["set-cookie"])
  end)

  it("comes back as it was set", function()
    local value = 'q"; %C3 é\\,\0'
    local server = serve.with(function(req, res)
      if req.path == "/set" then
        return res:cookie("a", value):send("")
      end
      return tostring(req:cookie("a") == value)
    end)
    local pair = serve.get(server, "/set").fields["set-cookie"]:match("^[^;]*")
    assert.are.equal("true", serve.get(server, "/", "Cookie: " .. pair .. "\r\n").body)
  end)

  it("is cleared where it was set", function()
    local gone = "Expires=Thu, 01 Jan 1970 00:00:00 GMT"
    assert.are.equal("a=; Max-Age=0; Path=/; " .. gone, (set("clear_cookie", "a")))
    local options = { path = "/p", domain = "d", max_age = 60, secure = true }
    assert.are.equal("a=; Max-Age=0; Domain=d; Path=/p; " .. gone .. "; Secure", (set("clear_cookie", "a", options)))
  end)

  for _, row in ipairs({
    { { "a b", "1" }, "cookie 'a b': the name of a cookie is a token" },
    { { "", "1" }, "cookie '': the name of a cookie is a token" },
    { { nil, "1" }, "name must be a string, got" },
    { { "a" }, "value must be a string, got" },
    { { "a", {} }, "value must be a string, got a table" },
    { { "a", ("x"):rep(4096) }, "cookie 'a': name and value take more than 4096 bytes" },
    { { "a", "1", "x" }, "options must be a table, got a string" },
    { { "a", "1", { "x" } }, "options of res:cookie have names, got a number" },
    { { "a", "1", { maxAge = 5 } }, "unknown option 'maxAge' of res:cookie" },
    { { "a", "1", { max_age = "5" } }, "'max_age' of res:cookie must be a whole number of seconds, got a string" },
    { { "a", "1", { max_age = 0.5 } }, "option 'max_age' of res:cookie must be a whole number of seconds" },
    { { "a", "1", { max_age = 0 / 0 } }, "option 'max_age' of res:cookie must be a whole number of seconds" },
    { { "a", "1", { expires = -1 } }, "option 'expires' of res:cookie must be a whole number of seconds, got -1" },
    { { "a", "1", { expires = 1e15 } }, "cookie 'a': expires must lie before the year 10000" },
    { { "a", "1", { secure = 1 } }, "option 'secure' of res:cookie must be true or false, got a number" },
    { { "a", "1", { same_site = "some" } }, "option 'same_site' of res:cookie must be 'strict', 'lax' or 'none'" },
    { { "a", "1", { same_site = "none" } }, "cookie 'a': same_site 'none' needs secure = true" },
    { { "a", "1", { partitioned = true } }, "cookie 'a': partitioned needs secure = true" },
    { { "a", "1", { path = 5 } }, "option 'path' of res:cookie must be a string, got a number" },
    { { "a", "1", { path = "p" } }, "cookie 'a': path must begin with '/'" },
    { { "a", "1", { path = "/;x" } }, "cookie 'a': path must begin with '/' and hold no ';'" },
    { { "a", "1", { domain = "a;b" } }, "cookie 'a': domain must be a host name" },
    { { "__Secure-a", "1" }, "a name that begins with __Secure- needs secure = true" },
    { { "__Host-a", "1", { secure = true, path = "/p" } }, "a name that begins with __Host- needs" },
    { { "__Host-a", "1", { secure = true, domain = "d" } }, "a name that begins with __Host- needs" },
  }) do
    it("is refused when " .. row[2], function()
      local field, failure = set("cookie", unpack(row[1], 1, 3))
      assert.is_nil(field)
      assert.is_truthy(failure:find(row[2], 1, true), failure)
    end)
  end
end)
