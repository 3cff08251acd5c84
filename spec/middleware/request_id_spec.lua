-- request_id: an id for every request, taken from outside only where it can stand in any log.

local request_id = require("fastslua.middleware.request_id")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

local function tell(req)
  return req.request_id
end

local function with_id(id)
  return ("X-Request-Id: %s\r\n"):format(id)
end

describe("request_id", function()
  after_each(serve.close_all)

  it("makes another one for each request", function()
    local server = support.served(request_id(), tell)
    local seen = {}
    for _ = 1, 20 do
      local response = serve.get(server, "/")
      assert.are.equal(response.body, response.fields["x-request-id"])
      assert.is_truthy(response.body:find("^" .. ("%x"):rep(32) .. "$"))
      assert.is_nil(seen[response.body])
      seen[response.body] = true
    end
  end)

  it("is there for failures too", function()
    local response = support.get(request_id(), with_id("abc"), function()
      error("boom")
    end)
    assert.are.same({ 500, "abc" }, { response.status, response.fields["x-request-id"] })
  end)

  for _, id in ipairs({ "a", "7f3b-11.x_y~z", "Root=1-67891233:abc/def+gh==", "a@b", ("x"):rep(128) }) do
    it("takes " .. id:sub(1, 40), function()
      assert.are.equal(id, support.get(request_id(), with_id(id), tell).body)
    end)
  end

  for name, id in pairs({
    ["an empty one"] = "",
    ["a long one"] = ("x"):rep(129),
    ["a huge one"] = ("x"):rep(15000),
    ["spaces"] = "a b",
    ["a tab"] = "a\tb",
    ["quotes"] = '"a"',
    ["what is not ASCII"] = "\255\254",
    ["a list"] = "a,b",
    ["markup"] = "<b>",
  }) do
    it("passes over " .. name, function()
      local response = support.get(request_id(), with_id(id), tell)
      assert.is_truthy(response.body:find("^%x+$"))
      assert.are.equal(32, #response.body)
    end)
  end

  it("takes none where it is not to", function()
    assert.are.equal(32, #support.get(request_id({ accept = false }), with_id("abc"), tell).body)
  end)

  it("has another field and other ids where it is told", function()
    local step = request_id({
      header = "X-Trace",
      generate = function(req)
        return "g" .. req.id
      end,
    })
    local server = support.served(step, tell)
    local response = serve.get(server, "/", with_id("abc"))
    assert.is_truthy(response.body:find("^g%d+$"))
    assert.are.equal(response.body, response.fields["x-trace"])
    assert.is_nil(response.fields["x-request-id"])
    assert.are.equal("t1", serve.get(server, "/", "x-trace: t1\r\n").body)
  end)

  it("tells when `generate` gives no id", function()
    for _, made in ipairs({ "a b", "", 7, false }) do
      local failure
      local server = support.served(
        request_id({
          generate = function()
            return made
          end,
        }),
        tell,
        {
          on_error = function(text)
            failure = text
          end,
        }
      )
      assert.are.equal(500, serve.get(server, "/").status)
      assert.is_truthy(failure:find("request_id: option 'generate' gave no id", 1, true))
    end
  end)

  it("refuses wrong options by name", function()
    support.refuses(request_id, {
      { "x", "request_id needs a table of options, got a string" },
      { { trust = true }, "request_id: unknown option 'trust'" },
      { { header = "X Id" }, "request_id: option 'header' must be a name that HTTP allows, got 'X Id'" },
      { { header = "X\r\nY: z" }, "request_id: option 'header' must be a name that HTTP allows" },
      { { header = 1 }, "request_id: option 'header' must be a string, got a number" },
      { { accept = "yes" }, "request_id: option 'accept' must be a boolean, got a string" },
      { { generate = "x" }, "request_id: option 'generate' must be a function, got a string" },
    })
  end)
end)
