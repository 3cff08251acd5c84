-- The small functions beside the server: clock, comparison of secrets, random ids.

local fastslua = require("fastslua")

describe("fastslua.now", function()
  it("is a number of seconds that never goes back", function()
    local last = fastslua.now()
    assert.is_true(last >= 0)
    for _ = 1, 1000 do
      local now = fastslua.now()
      assert.is_true(now >= last)
      last = now
    end
  end)

  it("goes on with the time of the system", function()
    local from = fastslua.now()
    require("socket").sleep(0.02)
    local passed = fastslua.now() - from
    assert.is_true(passed >= 0.02 and passed < 5, tostring(passed))
  end)
end)

describe("fastslua.constant_time_equal", function()
  for _, row in ipairs({
    { "", "", true },
    { "", "a", false },
    { "a", "", false },
    { "secret", "secret", true },
    { "secret", "secreT", false },
    { "secret", "Secret", false },
    -- What is read again when it is shorter is no match all the same.
    { "abab", "ab", false },
    { "ab", "abab", false },
    { "a\0b", "a\0b", true },
    { "a\0b", "a\0c", false },
    { ("x"):rep(100000), ("x"):rep(100000), true },
    { ("x"):rep(100000) .. "y", ("x"):rep(100000) .. "z", false },
  }) do
    it(("of %d and %d bytes"):format(#row[1], #row[2]), function()
      assert.are.equal(row[3], fastslua.constant_time_equal(row[1], row[2]))
    end)
  end

  it("refuses what is no string", function()
    assert.has_error(function()
      fastslua.constant_time_equal(1, "a")
    end, "given must be a string, got a number")
    assert.has_error(function()
      fastslua.constant_time_equal("a")
    end, "expected must be a string, got no value")
  end)
end)

describe("fastslua.random_hex", function()
  it("draws as many bytes as it is told", function()
    for _, count in ipairs({ 1, 16, 255, 256 }) do
      local digits = fastslua.random_hex(count)
      assert.are.equal(count * 2, #digits)
      assert.is_nil(digits:find("[^0-9a-f]"))
    end
  end)

  it("draws others every time, of all values", function()
    local seen, values = {}, {}
    for _ = 1, 100 do
      local digits = fastslua.random_hex(32)
      assert.is_nil(seen[digits])
      seen[digits] = true
      for pair in digits:gmatch("..") do
        values[pair] = true
      end
    end
    local count = 0
    for _ in pairs(values) do
      count = count + 1
    end
    -- 3200 draws miss a given value of 256 once in 270,000 times.
    assert.is_true(count > 250, tostring(count))
  end)

  it("refuses a count out of bounds", function()
    for _, count in ipairs({ 0, 257, 1.5, -1, 0 / 0 }) do
      assert.has_error(function()
        fastslua.random_hex(count)
      end)
    end
  end)
end)
