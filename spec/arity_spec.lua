-- Handlers by the arguments they can see: req and res are made for those that name them, and nobody can tell otherwise.

local fastslua = require("fastslua")
local serve = require("spec.support.serve")

-- Every way to end, by a handler without parameters, with one, with both and with `...`.
local ENDINGS = {
  { "text", { "hello" }, 200, "hello" },
  { "a table", { { alive = true } }, 200, '{"alive":true}' },
  { "a status and a body", { 201, "made" }, 201, "made" },
  { "a status, a body and headers", { 202, "later", { ["X-Seen"] = "yes" } }, 202, "later" },
  { "a status alone", { 204 }, 204, "" },
  { "nothing", {}, 500 },
  { "nil and a message", { nil, "lost" }, 500 },
  { "a function", { print }, 500 },
}

local function with_parameters(first, second, third)
  return {
    ["no parameters"] = function()
      return first, second, third
    end,
    ["one parameter"] = function(_)
      return first, second, third
    end,
    ["two parameters"] = function(_, _)
      return first, second, third
    end,
    ["any parameters"] = function(...)
      assert(select("#", ...) >= 2)
      return first, second, third
    end,
  }
end

describe("a handler", function()
  after_each(serve.close_all)

  for _, row in ipairs(ENDINGS) do
    for shape, handler in pairs(with_parameters(unpack(row[2], 1, 3))) do
      it(("with %s may return %s"):format(shape, row[1]), function()
        local app = fastslua.app()
        app:get("/", handler)
        local server = serve.with(app)
        for _ = 1, 2 do
          local answer = serve.get(server, "/")
          assert.are.equal(row[3], answer.status)
          if row[4] then
            assert.are.equal(row[4], answer.body)
          end
        end
      end)
    end
  end

  it("that sees nothing fails like any other", function()
    local app = fastslua.app()
    app:get("/seen", function(req, res)
      res:text(req.path)
    end)
    app:get("/blind", function()
      error("lost")
    end)
    local of_error, ended
    app:on_error(function(failure, req, res)
      of_error = req.path
      res:on_finish(function(its)
        ended = its.path
      end)
      return 503, tostring(failure):match("lost")
    end)
    local server = serve.with(app)
    assert.are.equal("/seen", serve.get(server, "/seen").body)
    local answer = serve.get(server, "/blind")
    assert.are.equal(503, answer.status)
    assert.are.equal("lost", answer.body)
    assert.are.equal("/blind", of_error)
    assert.are.equal("/blind", ended)
  end)
end)
