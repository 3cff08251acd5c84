-- failing_memory_json.lua: what failing_memory.c runs. One round encodes, decodes and is refused in every way that
-- needs memory: scratch buffers, tables that grow, sorted members, marks, sentences.

local json = require("fastslua").json

local long = ("x"):rep(3000)
local text = '{"a":[1,-2.5e3,"\\n'
  .. long
  .. '",[],{}],"b\\n":{"c":null,"d":"'
  .. long
  .. '"},"e":[[["\\ud83d\\ude00"]]]}'
local sorted = { sort_keys = true }
local cycle = {}
cycle.again = { cycle }

-- What has to be refused: a function, its arguments, and what the sentence has to hold.
local refusals = {
  { json.encode, { { a = { print } } }, "$.a[1]: a function" },
  { json.encode, { cycle, sorted }, "$.again[1]" },
  { json.encode, { { [("k"):rep(300)] = { b = 0 / 0 } } }, ".b: JSON has no NaN" },
  { json.encode, { { "\255" } }, "$[1]: the string is not valid UTF-8" },
  { json.encode, { { long, long }, { max_bytes = 4000 } }, "4000" },
  { json.encode, { { { {} } }, { max_depth = 2 } }, "$[1][1]" },
  { json.encode, { 1, { bad = true } }, "bad" },
}

-- A message that is none of the script's own is that of the memory.
local function refused(row)
  local fine, message = pcall(row[1], row[2][1], row[2][2])
  if fine or not tostring(message):find(row[3], 1, true) then
    error(tostring(message), 0)
  end
end

return function()
  local value = assert(json.decode(text))
  assert(value.a[3] == "\n" .. long and value["b\n"].c == json.null and value.e[1][1][1] == "\240\159\152\128")
  local again = json.encode(value, sorted)
  assert(json.encode(assert(json.decode(again)), sorted) == again)
  assert(#json.encode(value) == #again)
  for _, bad in ipairs({ text .. "x", text:sub(1, -3), '["\\ud800"]', '{"a":[1,2', ("["):rep(200), "[1e999]" }) do
    local none, sentence = json.decode(bad)
    assert(none == nil and sentence:find(" at line 1 column ", 1, true), sentence)
  end
  assert(json.decode('["\\ud800\255"]', { invalid_utf8 = "replace" })[1] == "\239\191\189\239\191\189")
  assert(json.encode(json.array()) == "[]" and json.encode({ json.object({}) }) == "[{}]")
  assert(json.encode("\255" .. long, { invalid_utf8 = "replace" }) == '"\239\191\189' .. long .. '"')
  for _, row in ipairs(refusals) do
    refused(row)
  end
end
