-- json.lua: JSON text from values, in plain Lua 5.1, as fast as its string library allows: what the plain-Lua server
-- answers with. Lists are tables with a value at 1; the empty table is an object.

local json = {}

local concat, find, format, gsub = table.concat, string.find, string.format, string.gsub
local char, floor = string.char, math.floor

json.null = setmetatable({}, {
  __tostring = function()
    return "null"
  end,
})

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
for code = 0, 31 do
  local character = char(code)
  escapes[character] = escapes[character] or format("\\u%04x", code)
end

local function quote(text)
  -- Most strings have nothing to escape; a search is cheaper than a substitution.
  if find(text, '[%z\1-\31"\\]') then
    text = gsub(text, '[%z\1-\31"\\]', escapes)
  end
  return '"' .. text .. '"'
end

local write

local function write_number(value)
  if value ~= value or value == math.huge or value == -math.huge then
    error("a number without JSON form", 0)
  end
  return value == floor(value) and value > -1e15 and value < 1e15 and format("%d", value) or format("%.17g", value)
end

local function write_list(value, out, count, depth)
  out[count + 1] = "["
  count = count + 1
  for index = 1, #value do
    if index > 1 then
      count = count + 1
      out[count] = ","
    end
    count = write(value[index], out, count, depth)
  end
  out[count + 1] = "]"
  return count + 1
end

local function write_object(value, out, count, depth)
  local separator = "{"
  for key, item in pairs(value) do
    if type(key) ~= "string" then
      error("a key that is no string", 0)
    end
    out[count + 1], out[count + 2], out[count + 3] = separator, quote(key), ":"
    count = write(item, out, count + 3, depth)
    separator = ","
  end
  if separator == "{" then
    out[count + 1] = "{"
    count = count + 1
  end
  out[count + 1] = "}"
  return count + 1
end

write = function(value, out, count, depth)
  local kind = type(value)
  if kind == "string" then
    out[count + 1] = quote(value)
  elseif kind == "number" then
    out[count + 1] = write_number(value)
  elseif kind == "boolean" then
    out[count + 1] = value and "true" or "false"
  elseif value == json.null then
    out[count + 1] = "null"
  elseif kind == "table" then
    if depth > 100 then
      error("nested too deep", 0)
    end
    if value[1] ~= nil then
      return write_list(value, out, count, depth + 1)
    end
    return write_object(value, out, count, depth + 1)
  else
    error("a " .. kind .. " has no JSON form", 0)
  end
  return count + 1
end

--- The text of a value; raises where there is none.
function json.encode(value)
  local out = {}
  return concat(out, "", 1, write(value, out, 0, 1))
end

return json
