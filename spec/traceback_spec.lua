-- What an error says of where it was raised.

local fastslua = require("fastslua")

-- The text that on_error hears when a handler fails.
local function heard(handler)
  local app = fastslua.app()
  app:get("/", handler)
  local text
  -- A coroutine has a stack of its own, without the functions of busted.
  local answer = coroutine.wrap(function()
    local tested = fastslua.test(app, {
      on_error = function(message)
        text = message
      end,
    })
    local answer = tested:get("/")
    return answer
  end)()
  assert.are.equal(500, answer.status)
  return text
end

describe("a traceback", function()
  it("names the functions that were running, innermost first", function()
    local function aim()
      error("no target")
    end
    local function fire()
      aim()
      return true
    end
    local text = heard(function()
      fire()
      return "fired"
    end)
    local first, rest = text:match("^(.-)\nstack traceback:\n(.*)$")
    assert.is_truthy(first, text)
    assert.is_truthy(first:find("traceback_spec.lua:%d+: no target$"), first)
    local lines = {}
    for line in rest:gmatch("[^\n]+") do
      lines[#lines + 1] = line
    end
    assert.is_truthy(lines[1]:find("^\t%[C%]: in function 'error'$"), text)
    assert.is_truthy(lines[2]:find("traceback_spec.lua:%d+: in function 'aim'$"), text)
    assert.is_truthy(lines[3]:find("traceback_spec.lua:%d+: in function 'fire'$"), text)
    assert.is_truthy(lines[4]:find("traceback_spec.lua:%d+: in function <.*traceback_spec.lua:%d+>$"), text)
    assert.is_true(#lines > 5)
  end)

  it("has no line more than it shows of a deep stack", function()
    local function dive(depth)
      if depth == 0 then
        error("too deep")
      end
      dive(depth - 1)
      return true
    end
    for _, depth in ipairs({ 3, 40, 150 }) do
      local text = heard(function()
        dive(depth)
        return "up"
      end)
      local _, lines = text:gsub("\n\t", "")
      local gap = text:find("\n\t...\n\t", 1, true)
      assert.are.equal(depth > 22, gap ~= nil, text)
      assert.is_true(lines <= 23, text)
      if gap then
        assert.are.equal(23, lines, text)
      end
      local _, dives = text:sub(1, gap):gsub("function 'dive'", "")
      assert.are.equal(gap and 11 or depth + 1, dives, text)
    end
  end)

  it("survives a stack that has overflowed, and names without letters", function()
    local function overflow()
      return 1 + overflow()
    end
    -- LuaJIT has room for a traceback then, or has not.
    local told = heard(overflow)
    assert.is_truthy(told:find("stack overflow", 1, true), told)
    local odd = {
      ["line\nbreak"] = function()
        error("odd")
      end,
    }
    local text = heard(function()
      odd["line\nbreak"]()
      return "even"
    end)
    assert.is_truthy(text:find("function 'line\nbreak'", 1, true), text)
  end)

  it("tells of tail calls and of code without a file", function()
    local chunk = assert(loadstring("local function raise() error('lost') end return function() return raise() end"))
    local text = heard(chunk())
    assert.is_truthy(text:find('[string "local function raise()', 1, true), text)
  end)
end)
