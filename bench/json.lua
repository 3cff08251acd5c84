-- json.lua [SECONDS]: what JSON costs, natively and in plain Lua. Encodes and decodes 200 units (28 KB), with
-- coordinates in millimetres and with coordinates that need every digit of a double, each for SECONDS of CPU time (0.5
-- by default). Prints lines "BENCH <name> iters=N total_us=T us_per_op=P"; P is that of the fastest tenth, since others
-- use the machine.
--
-- The encoder and decoder in Lua are what a careful program writes: tables of pieces joined once, string.find for runs,
-- no closures per value. They know less than the native ones (no options, no paths in errors) and are compared in
-- result.

local native = require("fastslua").json

local concat, find, byte, sub, format, char =
  table.concat, string.find, string.byte, string.sub, string.format, string.char

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
for code = 0, 31 do
  escapes[char(code)] = escapes[char(code)] or format("\\u%04x", code)
end

local function quoted(text)
  if find(text, '[%z\1-\31"\\]') then
    text = text:gsub('[%z\1-\31"\\]', escapes)
  end
  return '"' .. text .. '"'
end

-- The shortest of three lengths that reads back: Lua can ask for no more.
local function number(value)
  for _, digits in ipairs({ "%.15g", "%.16g", "%.17g" }) do
    local text = format(digits, value)
    if tonumber(text) == value then
      return text
    end
  end
  error("JSON has no NaN and no infinity")
end

local add

local function add_table(pieces, count, value)
  local length = #value
  if length > 0 then
    for index = 1, length do
      count = count + 1
      pieces[count] = index == 1 and "[" or ","
      count = add(pieces, count, value[index])
    end
    pieces[count + 1] = "]"
    return count + 1
  end
  local separator = "{"
  for key, member in pairs(value) do
    pieces[count + 1], pieces[count + 2], pieces[count + 3] = separator, quoted(key), ":"
    count = add(pieces, count + 3, member)
    separator = ","
  end
  pieces[count + 1] = separator == "{" and "{}" or "}"
  return count + 1
end

function add(pieces, count, value)
  local kind = type(value)
  if kind == "table" then
    return add_table(pieces, count, value)
  elseif kind == "string" then
    pieces[count + 1] = quoted(value)
  elseif kind == "number" then
    pieces[count + 1] = number(value)
  elseif kind == "boolean" then
    pieces[count + 1] = value and "true" or "false"
  else
    error("a " .. kind .. " cannot be JSON")
  end
  return count + 1
end

local function encode(value)
  local pieces = {}
  return concat(pieces, "", 1, add(pieces, 0, value))
end

local read

local unescaped = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function read_string(text, at)
  local finish = find(text, '["\\]', at + 1)
  if byte(text, finish) == 34 then
    return sub(text, at + 1, finish - 1), finish + 1
  end
  while byte(text, finish) == 92 do
    finish = assert(find(text, '["\\]', finish + 2), "the string does not end")
  end
  -- Surrogate pairs and code points above U+007F are left to the native decoder: the text holds none.
  return sub(text, at + 1, finish - 1):gsub("\\(.)", unescaped), finish + 1
end

local function read_array(text, at)
  local array, count = {}, 0
  at = find(text, "%S", at + 1)
  if byte(text, at) == 93 then
    return array, at + 1
  end
  while true do
    count = count + 1
    array[count], at = read(text, at)
    at = find(text, "%S", at)
    local separator = byte(text, at)
    if separator == 93 then
      return array, at + 1
    elseif separator ~= 44 then
      error("a comma or ] is expected at byte " .. at)
    end
    at = at + 1
  end
end

local function read_object(text, at)
  local object = {}
  at = find(text, "%S", at + 1)
  if byte(text, at) == 125 then
    return object, at + 1
  end
  while true do
    at = find(text, '"', at, true)
    local key, behind = read_string(text, at)
    at = find(text, ":", behind, true)
    object[key], at = read(text, at + 1)
    at = find(text, "%S", at)
    local separator = byte(text, at)
    if separator == 125 then
      return object, at + 1
    elseif separator ~= 44 then
      error("a comma or } is expected at byte " .. at)
    end
    at = at + 1
  end
end

local words = { t = { "true", true }, f = { "false", false } }

function read(text, at)
  at = find(text, "%S", at)
  local first = byte(text, at)
  if first == 34 then
    return read_string(text, at)
  elseif first == 123 then
    return read_object(text, at)
  elseif first == 91 then
    return read_array(text, at)
  end
  local word = words[char(first)]
  if word and sub(text, at, at + #word[1] - 1) == word[1] then
    return word[2], at + #word[1]
  end
  local _, finish = find(text, "^-?%d+%.?%d*[eE]?[+-]?%d*", at)
  return assert(tonumber(sub(text, at, finish or at)), "a value is expected"), finish + 1
end

-- 200 units; `digits` rounds the coordinates.
local function units(digits)
  local list = {}
  for index = 1, 200 do
    local function coordinate(factor)
      local value = math.sin(index * factor) * 250000
      return digits and math.floor(value * 10 ^ digits + 0.5) / 10 ^ digits or value
    end
    list[index] = {
      id = 16777216 + index,
      group = index % 17,
      type = index % 2 == 0 and "F-16C_50" or "T-72B3",
      name = "Unit #" .. index,
      coalition = index % 3 + 1,
      alive = true,
      position = { x = coordinate(1.7), y = coordinate(0.3), z = coordinate(2.9) },
    }
  end
  return list
end

local function same(one, other)
  if type(one) ~= "table" or type(other) ~= "table" then
    return one == other
  end
  for key, value in pairs(one) do
    if not same(value, other[key]) then
      return false
    end
  end
  for key in pairs(other) do
    if one[key] == nil then
      return false
    end
  end
  return true
end

local seconds = tonumber(arg and arg[1]) or 0.5

local function bench(name, run, value)
  local iterations, total, batch, samples = 0, 0, 20, {}
  while total < seconds do
    local started = os.clock()
    for _ = 1, batch do
      run(value)
    end
    local took = os.clock() - started
    iterations, total, samples[#samples + 1] = iterations + batch, total + took, took / batch
  end
  table.sort(samples)
  local fast = samples[math.ceil(#samples / 10)] * 1e6
  print(("BENCH %s iters=%d total_us=%.0f us_per_op=%.2f"):format(name, iterations, total * 1e6, fast))
end

for _, row in ipairs({ { "units", 3 }, { "units_all_digits", nil } }) do
  local value = units(row[2])
  local text = native.encode(value)
  assert(same(value, native.decode(text)) and same(value, read(encode(value), 1)) and same(value, read(text, 1)))
  io.stdout:write(("%s: %d bytes, %s\n"):format(row[1], #text, rawget(_G, "jit") and "LuaJIT" or "PUC Lua"))
  bench("json_encode_" .. row[1], native.encode, value)
  bench("json_decode_" .. row[1], native.decode, text)
  bench("json_encode_" .. row[1] .. "_in_lua", encode, value)
  bench("json_decode_" .. row[1] .. "_in_lua", function(document)
    return (read(document, 1))
  end, text)
end
