-- timeout: what it interrupts, what it only tells, and that it leaves no hook behind.

local fastslua = require("fastslua")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")
local timeout = require("fastslua.middleware.timeout")

local jit = rawget(_G, "jit")

-- Works for that long, by Lua instructions alone.
local function spin(seconds)
  local ends = fastslua.now() + seconds
  while fastslua.now() < ends do
  end
end

describe("timeout", function()
  local compiles = jit and jit.status()

  -- Hooks are only for certain where nothing is compiled.
  before_each(function()
    if jit then
      jit.off()
      jit.flush()
    end
  end)
  after_each(function()
    serve.close_all()
    if compiles then
      jit.on()
    end
    assert.is_nil(debug.gethook())
  end)

  it("interrupts a handler that runs for ever", function()
    local failure
    local server = support.served(timeout({ seconds = 0.01 }), function(req)
      while req.path == "/busy" do
      end
      return "ok"
    end, {
      on_error = function(text)
        failure = text
      end,
    })
    for _ = 1, 3 do
      assert.are.equal(200, serve.get(server, "/").status)
      assert.is_nil(debug.gethook())
      local response = serve.get(server, "/busy")
      assert.are.same({ 503, "The handler of this request took too long.\n" }, { response.status, response.body })
      assert.is_nil(debug.gethook())
    end
    -- The program is told where the handler was.
    assert.is_truthy(failure:find("took too long", 1, true))
    assert.is_truthy(failure:find("timeout_spec.lua:", 1, true))
  end)

  it("interrupts again who catches the error, and gives error handlers time", function()
    local app = fastslua.app()
    local caught = 0
    app:use(timeout({ seconds = 0.01 }))
    app:get("/", function()
      while true do
        local fine, problem = pcall(function()
          while true do
          end
        end)
        assert(not fine)
        caught = caught + 1
        if caught == 3 then
          error(problem, 0)
        end
      end
    end)
    app:on_error(function(problem, _, res)
      spin(0.002)
      res:status(problem.status):send("handled")
    end)
    local response = serve.get(serve.with(app), "/")
    assert.are.same({ 503, "handled", 3 }, { response.status, response.body, caught })
  end)

  it("takes the nearer deadline of two", function()
    local app = fastslua.app()
    app:use(timeout({ seconds = 60 }))
    app:get("/near", timeout({ seconds = 0.005 }), timeout({ seconds = 30 }), function(req)
      while req.deadline do
      end
    end)
    app:get("/far", function(req)
      return tostring(req.deadline - fastslua.now() > 50)
    end)
    local server = serve.with(app)
    assert.are.equal(503, serve.get(server, "/near").status)
    assert.are.equal("true", serve.get(server, "/far").body)
  end)

  it("tells a handler its deadline, and the program who was late", function()
    local late = {}
    local step = timeout({
      seconds = 0.02,
      interrupt = false,
      on_late = function(req, res, seconds)
        late[#late + 1] = ("%s %d %s"):format(req.path, res.status_code, tostring(seconds >= 0.02 and seconds < 5))
      end,
    })
    local server = support.served(step, function(req)
      local left = req.deadline - fastslua.now()
      assert(left > 0 and left <= 0.02)
      assert(debug.gethook() == nil)
      if req.path ~= "/" then
        spin(0.021)
      end
      return tostring(req.deadline < fastslua.now())
    end)
    assert.are.equal("false", serve.get(server, "/").body)
    assert.are.equal("true", serve.get(server, "/slow").body)
    assert.are.same({ "/slow 200 true" }, late)
  end)

  it("stops what runs in a coroutine under LuaJIT alone", function()
    local server = support.served(timeout({ seconds = 0.005 }), function()
      coroutine.wrap(function()
        spin(0.02)
      end)()
      return "ok"
    end)
    assert.are.equal(jit and 503 or 200, serve.get(server, "/").status)
  end)

  it("interrupts handlers of a server that is stepped in a coroutine", function()
    local server = support.served(timeout({ seconds = 0.005 }), function(req)
      while req.path == "/busy" do
      end
      return "ok"
    end)
    local ask = coroutine.wrap(function()
      for _ = 1, 2 do
        coroutine.yield(serve.get(server, "/busy").status)
        coroutine.yield(debug.gethook() or serve.get(server, "/").status)
      end
    end)
    assert.are.same({ 503, 200, 503, 200 }, { ask(), ask(), ask(), ask() })
  end)

  it("leaves the hook of a debugger in its place", function()
    local function debugger() end
    local seen
    local server = support.served(timeout({ seconds = 0.002 }), function()
      seen = debug.gethook()
      spin(0.01)
      return "ok"
    end)
    debug.sethook(debugger, "", 1000000)
    local response = serve.get(server, "/")
    local after = debug.gethook()
    debug.sethook()
    assert.are.equal(200, response.status)
    assert.is_true(seen == debugger and after == debugger)
  end)

  it("watches the outer request again after a server that its handler steps", function()
    local inner = support.served(timeout({ seconds = 30 }))
    local outer = support.served(timeout({ seconds = 0.05 }), function()
      assert(serve.get(inner, "/").status == 200)
      while true do
      end
    end)
    assert.are.equal(503, serve.get(outer, "/").status)
  end)

  it("refuses wrong options by name", function()
    support.refuses(timeout, {
      { nil, "timeout: option 'seconds' is needed: how long a request may take" },
      { 5, "timeout needs a table of options, got a number" },
      { { seconds = "1" }, "timeout: option 'seconds' must be a number, got a string" },
      { { seconds = 0 }, "timeout: option 'seconds' must be from 0.0001 to 1e+06, got 0" },
      { { seconds = 0 / 0 }, "timeout: option 'seconds' must be from" },
      { { seconds = 1, interrupt = 1 }, "timeout: option 'interrupt' must be a boolean, got a number" },
      { { seconds = 1, on_late = 1 }, "timeout: option 'on_late' must be a function, got a number" },
      { { seconds = 1, minutes = 1 }, "timeout: unknown option 'minutes'" },
    })
  end)

  if compiles then
    it("interrupts nothing while LuaJIT compiles, and says so to who wants it", function()
      jit.on()
      support.refuses(timeout, {
        { { seconds = 1, interrupt = true }, "timeout: option 'interrupt' cannot be true: LuaJIT fires no hooks" },
      })
      local server = support.served(timeout({ seconds = 0.002 }), function(req)
        spin(0.01)
        return tostring(debug.gethook()) .. tostring(req.deadline < fastslua.now())
      end)
      assert.are.equal("niltrue", serve.get(server, "/").body)
    end)
  end

  it("interrupts nothing where there is no debug library", function()
    local sethook = debug.sethook
    rawset(debug, "sethook", nil)
    local fine, problem = pcall(function()
      support.refuses(timeout, {
        { { seconds = 1, interrupt = true }, "timeout: option 'interrupt' cannot be true: the debug library is not" },
      })
      assert.are.equal(200, support.get(timeout({ seconds = 1 })).status)
    end)
    rawset(debug, "sethook", sethook)
    assert.is_true(fine, problem)
  end)
end)
