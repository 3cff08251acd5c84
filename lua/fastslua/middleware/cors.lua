-- cors: lets pages of other origins read answers (the CORS protocol of the Fetch standard).
--
-- It answers preflights and adds the fields that browsers look for. It keeps nobody out: a request without a browser's
-- help gets its answer all the same.

local _, _, native = ...

local options = native.layer("fastslua.options")

--- A browser's origin is a scheme, a host name of at most 253 bytes and a port. What is longer is none, and is not
--- looked at.
local ORIGIN_BYTES_MAX = 320

local METHODS = { "GET", "HEAD", "PUT", "PATCH", "POST", "DELETE" }

--- What is wrong with an origin of the options: a scheme, a host and perhaps a port, as browsers send it, where `*.`
--- may stand for labels before a name and `:*` for any port.
local function wrong_origin(origin)
  if type(origin) ~= "string" then
    return ("must hold origins as strings, got %s"):format(options.describe(origin))
  elseif origin == "null" then
    return nil
  end
  local host = origin:match("^%a[%w+.-]*://([^/%s?#@%c]+)$")
  local name = host and host:gsub("^%*%.", ""):gsub(":%*$", "")
  if not name or name == "" or name:find("*", 1, true) then
    return ("must hold origins like 'https://example.org:8443' or 'https://*.example.org', got '%s'"):format(origin)
  end
end

local function check_origin(origin)
  if type(origin) == "string" then
    return origin ~= "*" and wrong_origin(origin) or nil
  elseif type(origin) == "table" then
    if #origin == 0 then
      return "must not be an empty list"
    end
    for _, item in ipairs(origin) do
      local problem = item == "*" and "must not have '*' in a list" or wrong_origin(item)
      if problem then
        return problem
      end
    end
  end
end

local function check_names(value)
  if type(value) == "string" then
    return value ~= "*" and ("must be a list or '*', got '%s'"):format(value) or nil
  end
  return options.tokens(value)
end

local NAMES = { kinds = "string|table", wanted = "a list of names or '*'", check = check_names }

local KNOWN = {
  origin = {
    kinds = "string|table|function",
    wanted = "an origin, a list of them, a function or '*'",
    default = "*",
    check = check_origin,
  },
  methods = { kinds = "table", default = METHODS, check = options.tokens },
  allowed_headers = NAMES,
  exposed_headers = NAMES,
  credentials = { kinds = "boolean", default = false },
  max_age = { kinds = "number", check = options.whole(0, 2 ^ 31) },
  private_network = { kinds = "boolean", default = false },
}

--- A Lua pattern for an origin with a `*` in it. Each `*` ends at a character that it cannot stand for, so nothing is
--- tried twice.
local function to_pattern(origin)
  local scheme, rest = origin:match("^(.-://)(.*)$")
  local labels, host, port = rest:match("^(%*?%.?)(.-)(:?%*?)$")
  local function escaped(text)
    return (text:gsub("%W", "%%%0"))
  end
  return ("^%s%s%s%s$"):format(
    escaped(scheme),
    labels == "*." and "[%w_.-]*[%w_-]%." or escaped(labels),
    escaped(host),
    port == ":*" and ":%d+" or escaped(port)
  )
end

--- A function that tells whether an origin is one of a list.
local function matcher(list)
  local exact, patterns = {}, {}
  for _, origin in ipairs(list) do
    origin = origin:lower()
    if origin:find("*", 1, true) then
      patterns[#patterns + 1] = to_pattern(origin)
    else
      exact[origin] = true
    end
  end
  return function(origin)
    origin = origin:lower()
    if exact[origin] then
      return true
    end
    for _, pattern in ipairs(patterns) do
      if origin:find(pattern) then
        return true
      end
    end
    return false
  end
end

--- A function of (origin, req) that gives the value of Access-Control-Allow-Origin, or a false value.
local function decider(origin)
  if origin == "*" then
    return function()
      return "*"
    end
  elseif type(origin) == "function" then
    return function(from, req)
      local answer = origin(from, req)
      return answer == true and from or answer
    end
  end
  local matches = matcher(type(origin) == "string" and { origin } or origin)
  return function(from)
    return matches(from) and from
  end
end

--- A list as the value of a field.
local function joined(names)
  return type(names) == "table" and table.concat(names, ", ") or names
end

--- The header names that a page wants to send, for giving them back; nil when they are no list of names.
local function requested_headers(req)
  local names = req:header("access-control-request-headers")
  if names and names:find("^[%w!#$%%&'*+.^_`|~, \t-]+$") then
    return names
  end
end

local function answer_preflight(settings, req, res, allowed)
  res:vary("Access-Control-Request-Method", "Access-Control-Request-Headers")
  if allowed then
    res:set("Access-Control-Allow-Methods", settings.methods)
    local headers = settings.allowed_headers or requested_headers(req)
    if headers then
      res:set("Access-Control-Allow-Headers", headers)
    end
    if settings.max_age then
      res:set("Access-Control-Max-Age", settings.max_age)
    end
    if settings.private_network and req:header("access-control-request-private-network") == "true" then
      res:set("Access-Control-Allow-Private-Network", "true")
    end
  end
  return res:status(204):finish()
end

--- With credentials browsers take "*" for a name: who means everybody has to say so by a function.
local function wrong_wildcard(settings)
  for _, option in ipairs({ "origin", "allowed_headers", "exposed_headers" }) do
    if settings.credentials and settings[option] == "*" then
      return ("cors: option 'credentials' cannot be true while '%s' is '*'"):format(option)
    end
  end
end

--- cors([options]): the middleware.
return function(given)
  local settings = options.read("cors", given, KNOWN)
  local problem = wrong_wildcard(settings)
  if problem then
    error(problem, 2)
  end
  local decide, depends = decider(settings.origin), settings.origin ~= "*"
  local credentials = settings.credentials
  local exposed = joined(settings.exposed_headers)
  settings.methods = joined(settings.methods)
  settings.allowed_headers = joined(settings.allowed_headers)
  return function(req, res, next)
    if depends then
      res:vary("Origin")
    end
    local from = req:header("origin")
    if not from then
      return next()
    end
    local allowed = #from <= ORIGIN_BYTES_MAX and decide(from, req)
    if allowed then
      res:set("Access-Control-Allow-Origin", allowed)
      if credentials then
        res:set("Access-Control-Allow-Credentials", "true")
      end
    end
    if req.method == "OPTIONS" and req:header("access-control-request-method") then
      return answer_preflight(settings, req, res, allowed)
    end
    if allowed and exposed then
      res:set("Access-Control-Expose-Headers", exposed)
    end
    return next()
  end
end
