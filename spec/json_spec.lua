-- JSON tables: what is written for a value, what is read from a text, and what is refused, with its path.

local json = require("fastslua").json

local function nested(depth, leaf)
  for _ = 1, depth do
    leaf = { leaf }
  end
  return leaf
end

describe("json.encode", function()
  local reversed = {}
  for index = 20, 1, -1 do
    reversed[index] = index
  end
  local with_hole = { 1, 2, 3, 4 }
  with_hole[2] = nil

  for _, row in ipairs({
    { nil, "null" },
    { true, "true" },
    { false, "false" },
    { 0, "0" },
    { -1, "-1" },
    { 2 ^ 53, "9007199254740992" },
    { 0.1, "0.1" },
    { "", '""' },
    { 'a"\\\n\0é', '"a\\"\\\\\\n\\u0000é"' },
    { json.null, "null" },
    { {}, "{}" },
    { json.array({}), "[]" },
    { json.array(), "[]" },
    { json.object({}), "{}" },
    { { json.array({}), json.object() }, "[[],{}]" },
    { { 1, "a", true }, '[1,"a",true]' },
    { { json.null, json.null }, "[null,null]" },
    { { a = { b = { 1 } } }, '{"a":{"b":[1]}}' },
    { { [""] = 1 }, '{"":1}' },
    { reversed, "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]" },
    { json.array({ 1 }), "[1]" },
    { json.object({ a = 1 }), '{"a":1}' },
    { nested(3, 1), "[[[1]]]" },
  }) do
    it("writes " .. row[2], function()
      assert.are.equal(row[2], json.encode(row[1]))
    end)
  end

  it("writes the deepest value there may be", function()
    assert.are.equal(("["):rep(128) .. "1" .. ("]"):rep(128), json.encode(nested(128, 1)))
  end)

  it("writes the same table twice, side by side", function()
    local same = { 1 }
    assert.are.equal("[[1],[1]]", json.encode({ same, same }))
  end)

  it("asks no metamethod", function()
    local function never()
      error("asked")
    end
    local value = setmetatable({ a = 1 }, { __index = never, __len = never, __tostring = never, __call = never })
    assert.are.equal('{"a":1}', json.encode(value))
  end)

  it("writes long texts whole", function()
    local parts = {}
    for index = 1, 5000 do
      parts[index] = index
    end
    assert.are.equal("[" .. table.concat(parts, ",") .. "]", json.encode(parts))
  end)

  it("takes options", function()
    assert.are.equal("[]", json.encode({}, { empty = "array" }))
    assert.are.equal('"\239\191\189"', json.encode("\255", { invalid_utf8 = "replace" }))
    assert.are.equal(
      '{"a":{"y":1,"z":2},"b":[{"c":0,"d":0}]}',
      json.encode({
        b = { { d = 0, c = 0 } },
        a = { z = 2, y = 1 },
      }, { sort_keys = true })
    )
    assert.are.equal("[[1]]", json.encode({ { 1 } }, { max_depth = 2, max_bytes = 5, sort_keys = false }))
    for _, bad in ipairs({
      { empty = "list" },
      { indent = "2" },
      { empty = 5 },
      { 1 },
      { sort_keys = "yes" },
      { max_depth = 0 },
      { max_depth = 129 },
      { max_depth = 1.5 },
      { max_depth = 0 / 0 },
      { max_bytes = "5" },
      { max_bytes = 1 / 0 },
    }) do
      local fine, message = pcall(json.encode, {}, bad)
      assert.is_false(fine)
      local name = next(bad)
      local unknown = name == "indent" or name == 1
      assert.is_truthy(message:find(unknown and "unknown option '" or "' cannot be ", 1, true), message)
    end
    assert.is_false(pcall(json.encode, {}, "array"))
  end)

  it("sorts names by their bytes, however they are escaped", function()
    local names, value = {}, {}
    for code = 0, 127 do
      local name = string.char(code)
      names[#names + 1] = json.encode(name) .. ":" .. code
      value[name] = code
    end
    value["ab"], value["é"], value[""] = 1, 2, 3
    table.insert(names, 99, '"ab":1')
    table.insert(names, 1, '"":3')
    names[#names + 1] = '"é":2'
    assert.are.equal("{" .. table.concat(names, ",") .. "}", json.encode(value, { sort_keys = true }))
  end)

  it("keeps its limits", function()
    local fine, message = pcall(json.encode, { a = { { 1 } } }, { max_depth = 2 })
    assert.is_false(fine)
    assert.is_truthy(message:find("$.a[1]: more than 2 tables inside one another", 1, true), message)
    fine, message = pcall(json.encode, { "abc" }, { max_bytes = 5 })
    assert.is_false(fine)
    assert.is_truthy(message:find("$[1]: the text is longer than 5 bytes", 1, true), message)
    -- Thirty tables that stand for a thousand million.
    local doubled = { 1 }
    for _ = 1, 30 do
      doubled = { doubled, doubled }
    end
    fine, message = pcall(json.encode, doubled, { max_bytes = 100000 })
    assert.is_false(fine)
    assert.is_truthy(message:find("the text is longer than 100000 bytes", 1, true), message)
  end)

  local cycle = { a = {} }
  cycle.a.b = { cycle.a }
  local deep = nested(129, 1)

  for _, row in ipairs({
    { "a function", { units = { 1, 2, { callback = print } } }, "$.units[3].callback: a function cannot be JSON" },
    { "a coroutine", { coroutine.create(function() end) }, "$[1]: a thread cannot be JSON" },
    { "a userdata", { io.stdout }, "$[1]: a userdata cannot be JSON" },
    { "the function itself", print, "$: a function cannot be JSON" },
    { "NaN", { x = 0 / 0 }, "$.x: " },
    { "infinity", { x = { 1 / 0 } }, "$.x[1]: " },
    { "bytes that are no text", { "\255" }, "$[1]: " },
    { "a key that is no text", { a = { ["\255"] = 1 } }, "$.a.?: " },
    { "a cycle", cycle, "$.a.b[1]: a table that holds itself cannot be JSON" },
    { "too many levels", deep, "more than 128 tables inside one another" },
    { "names and numbers", { 1, 2, a = 3 }, "$: a table with both names and numbers as keys cannot be JSON" },
    { "a hole", { x = with_hole }, "$.x: element 2 is missing" },
    { "a number far away", { [1000000] = 1 }, "$: element 1 is missing" },
    { "a place below 1", { [0] = 1 }, "$: a number that is not a name or a place from 1" },
    { "a place between places", { [1.5] = 1 }, "$: a number that is not a name or a place from 1" },
    { "a boolean as key", { [true] = 1 }, "$: a boolean that is not a name or a place from 1" },
    { "a table as key", { [{}] = 1 }, "$: a table that is not a name or a place from 1" },
    { "an array with a name", json.array({ a = 1 }), "$: an array cannot have a string as key" },
    { "an object with places", json.object({ 1 }), "$: a number that is not a name" },
  }) do
    it("refuses " .. row[1], function()
      local fine, message = pcall(json.encode, row[2])
      assert.is_false(fine)
      assert.is_truthy(message:find(row[3], 1, true), message)
    end)
  end

  it("leaves out the middle of a long way", function()
    local fine, message = pcall(json.encode, nested(40, print))
    assert.is_false(fine)
    assert.is_truthy(
      message:find("$" .. ("[1]"):rep(10) .. "…" .. ("[1]"):rep(10) .. ": a function", 1, true),
      message
    )
  end)

  it("works after a refusal", function()
    pcall(json.encode, { 1, { print } })
    assert.are.equal("[1]", json.encode({ 1 }))
  end)
end)

describe("json.decode", function()
  for _, row in ipairs({
    { "null", json.null },
    { "true", true },
    { " false ", false },
    { "-0.5e1", -5 },
    { "9007199254740993", 9007199254740992 },
    { '"a\\u00e9\\n"', "aé\n" },
    { '"\\ud83d\\ude00"', "😀" },
    { "[]", {} },
    { "{}", {} },
    { "[1,[2,[]],{}]", { 1, { 2, {} }, {} } },
    { '{"a":{"b":null},"c":[true]}', { a = { b = json.null }, c = { true } } },
    { '{"a":1,"a":2}', { a = 2 } },
    { '{"":1}', { [""] = 1 } },
  }) do
    it("reads " .. row[1], function()
      assert.are.same(row[2], (json.decode(row[1])))
    end)
  end

  it("gives empty arrays back as arrays", function()
    assert.are.equal("[[],{},[1]]", json.encode((json.decode("[[],{},[1]]"))))
  end)

  it("reads long texts with and without escapes", function()
    local long = ("x"):rep(3000)
    assert.are.same({ long, "\n" .. long }, (json.decode('["' .. long .. '","\\n' .. long .. '"]')))
    assert.are.same({ ["\n" .. long] = 1 }, (json.decode('{"\\n' .. long .. '":1}')))
  end)

  it("reads the deepest text there may be", function()
    assert.are.same(nested(128, 1), (json.decode(("["):rep(128) .. "1" .. ("]"):rep(128))))
  end)

  for _, text in ipairs({
    "",
    " ",
    "nul",
    "[1,]",
    "[1",
    "{",
    '{"a"}',
    '{"a":}',
    "{a:1}",
    "01",
    "1.",
    "+1",
    "NaN",
    "'a'",
    '"\\x"',
    '"a',
    "1 2",
    "[1]]",
    '"\\ud800"',
    '"\255"',
    "1e999",
    ("["):rep(129),
    ("["):rep(100000),
  }) do
    it("refuses " .. text:sub(1, 20), function()
      local value, message = json.decode(text)
      assert.is_nil(value)
      assert.are.equal("string", type(message))
    end)
  end

  it("says where", function()
    local _, message = json.decode('{\n  "a": x\n}')
    assert.is_truthy(message:find("line 2", 1, true), message)
  end)

  it("takes options and wants text", function()
    assert.are.equal("\239\191\189", (json.decode('"\255"', { invalid_utf8 = "replace" })))
    assert.are.same({ { 1 } }, (json.decode("[[1]]", { max_depth = 2 })))
    local value, problem = json.decode("[[[1]]]", { max_depth = 2 })
    assert.is_nil(value)
    assert.is_truthy(problem:find("nested too deep", 1, true), problem)
    for _, wrong in ipairs({ { depth = "x" }, { max_depth = 129 }, { max_depth = "2" } }) do
      assert.is_false(pcall(json.decode, "1", wrong))
    end
    for _, bad in ipairs({ 5, true, {} }) do
      local fine, message = pcall(json.decode, bad)
      assert.is_false(fine)
      assert.is_truthy(message:find("text must be a string", 1, true), message)
    end
  end)
end)

describe("json.array and json.object", function()
  it("mark the table they are given", function()
    local value = {}
    assert.are.equal(value, json.array(value))
    assert.are.equal("[]", json.encode(value))
    assert.are.equal("{}", json.encode(json.object(value)))
    for _, bad in ipairs({ 5, "x", true }) do
      local fine, message = pcall(json.array, bad)
      assert.is_false(fine)
      assert.is_truthy(message:find("value must be a table", 1, true), message)
    end
  end)
end)
