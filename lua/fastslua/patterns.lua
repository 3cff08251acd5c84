-- Route patterns as text: put behind one another, and turned into paths.

local _, _, native = ...

local patterns = {}

--- The prefixes `parts` and one more; `/` adds nothing.
function patterns.below(parts, prefix)
  local below = { unpack(parts) }
  if prefix ~= "/" then
    below[#below + 1] = prefix
  end
  return below
end

--- The whole pattern, as it is shown.
function patterns.join(parts, path)
  local text = ""
  for _, part in ipairs(parts) do
    text = text .. part:gsub("/$", "")
  end
  if path == "/" and text ~= "" then
    return text
  end
  return text .. path
end

local function escape(byte)
  return ("%%%02X"):format(byte:byte())
end

--- Where what follows a parameter's name begins: behind its type or its constraint.
local function behind_constraint(path, at)
  local opening = path:sub(at, at)
  if opening == "<" then
    return path:find(">", at, true) + 1
  elseif opening ~= "(" then
    return at
  end
  at = at + 1
  while path:sub(at, at) ~= ")" do
    local byte = path:sub(at, at)
    if byte == "%" then
      at = at + 2
    elseif byte == "[" then
      -- A ] that comes first is a member.
      at = path:match("^%[%^?%]?()", at)
      while path:sub(at, at) ~= "]" do
        at = at + (path:sub(at, at) == "%" and 2 or 1)
      end
      at = at + 1
    else
      at = at + 1
    end
  end
  return at + 1
end

--- The text of a parameter's value; or nil and what is wrong.
local function value_text(name, value, rest)
  if type(value) == "number" then
    value = value % 1 == 0 and ("%.0f"):format(value) or tostring(value)
  elseif type(value) ~= "string" then
    return nil, ("parameter '%s' must be a string or a number, got %s"):format(name, type(value))
  end
  if value == "" and not rest then
    return nil, ("parameter '%s' is empty"):format(name)
  end
  return (value:gsub(rest and "[^%w%-%._~!$&'()*+,;=:@/]" or "[^%w%-%._~!$&'()*+,;=:@]", escape))
end

--- The path of one pattern; or nil and what is wrong. Notes in `used` which parameters it has.
local function fill(path, params, used)
  local text, at = {}, 1
  while true do
    local literal, mark, name, behind = path:match("^([^:*]*)([:*])([%a_][%w_]*)()", at)
    if not literal then
      text[#text + 1] = path:sub(at):gsub("[^%w%-%._~!$&'()*+,;=:@/%%]", escape)
      return table.concat(text)
    end
    local value, message = value_text(name, params[name], mark == "*")
    if not value then
      return nil, message
    end
    used[name] = true
    text[#text + 1] = literal:gsub("[^%w%-%._~!$&'()*+,;=:@/%%]", escape)
    text[#text + 1] = value
    at = behind_constraint(path, behind)
  end
end

--- The path of a pattern below prefixes, with these parameters; or nil and what is wrong.
function patterns.build(parts, path, params)
  if type(params) ~= "table" then
    return nil, ("parameters are a table, got a %s"):format(type(params))
  end
  local used, filled = {}, {}
  for _, part in ipairs(parts) do
    local text, message = fill(part, params, used)
    if not text then
      return nil, message
    end
    filled[#filled + 1] = text
  end
  local last, message = fill(path, params, used)
  if not last then
    return nil, message
  end
  for name in pairs(params) do
    if not used[name] then
      return nil, ("the route has no parameter '%s'"):format(tostring(name))
    end
  end
  local text = patterns.join(filled, last)
  local whole = { unpack(parts) }
  whole[#whole + 1] = path
  if not native.fits(table.concat(whole, "\n"), text) then
    return nil, ("a parameter does not fit %s"):format(patterns.join(parts, path))
  end
  return text
end

return patterns
