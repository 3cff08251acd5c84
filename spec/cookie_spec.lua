-- Cookies: those of a request.

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
