-- Options of middleware: checked once, when it is made, with errors that name the option and point to the caller.
--
-- Nothing here runs while a request is handled. What is given is copied, so a table that changes later changes nothing.

local options = {}

--- What a value is, for messages.
function options.describe(value)
  if value == nil then
    return "nil"
  end
  return "a " .. type(value)
end

--- What is wrong with one option's value; nil when nothing is.
local function wrong(value, rule)
  if value == nil then
    return rule.needed and "is needed: " .. rule.needed
  end
  if not ("|" .. rule.kinds .. "|"):find("|" .. type(value) .. "|", 1, true) then
    local wanted = rule.wanted or "a " .. rule.kinds:gsub("|", " or a ")
    return ("must be %s, got %s"):format(wanted, options.describe(value))
  end
  return rule.check and rule.check(value)
end

--- Reads the options of the middleware `name`: a new table with defaults filled in. To be called by what the user
--- calls. `known` has for each option its `kinds` (one type, or several with "|" between them), and perhaps `wanted`
--- (the same in words), `default`, `needed` (what it tells) and `check(value)`, which returns what is wrong with
--- a value of that type.
function options.read(name, given, known)
  if given ~= nil and type(given) ~= "table" then
    error(("%s needs a table of options, got %s"):format(name, options.describe(given)), 3)
  end
  local read = {}
  for option in pairs(given or read) do
    if not known[option] then
      error(("%s: unknown option '%s'"):format(name, tostring(option)), 3)
    end
  end
  for option, rule in pairs(known) do
    local value = given and given[option]
    local problem = wrong(value, rule)
    if problem then
      error(("%s: option '%s' %s"):format(name, option, problem), 3)
    end
    if value == nil then
      value = rule.default
    end
    read[option] = value
  end
  return read
end

--- A check for finite numbers from a least to a greatest value.
function options.between(least, greatest)
  return function(value)
    if not (value >= least and value <= greatest) then
      return ("must be from %g to %g, got %g"):format(least, greatest, value)
    end
  end
end

--- The same for whole numbers.
function options.whole(least, greatest)
  local bounds = options.between(least, greatest)
  return function(value)
    return bounds(value) or value % 1 ~= 0 and ("must be a whole number, got %g"):format(value) or nil
  end
end

--- A check for names that HTTP calls tokens (RFC 9110 section 5.6.2): methods and header fields.
function options.token(value)
  if not value:find("^[%w!#$%%&'*+.^_`|~-]+$") then
    return ("must be a name that HTTP allows, got '%s'"):format(value)
  end
end

--- A check for lists of tokens.
function options.tokens(value)
  if #value == 0 then
    return "must not be an empty list"
  end
  for index, item in ipairs(value) do
    if type(item) ~= "string" then
      return ("must be a list of strings, got %s in it"):format(options.describe(item))
    end
    local problem = options.token(item)
    if problem then
      return problem .. (" (item %d)"):format(index)
    end
  end
end

--- A check for text that may stand in a header field.
function options.field_value(value)
  if type(value) == "string" and value:find("[%z\1-\8\10-\31\127]") then
    return "must be text without control characters"
  end
end

--- Text as a quoted string of a header field (RFC 9110 section 5.6.4).
function options.quoted(text)
  return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

return options
