-- basic_auth: asks for a user's name and password (RFC 7617).
--
-- Passwords are compared in constant time, those of unknown users too. They travel readable: TLS is the business of a
-- proxy in front. What a client sends is bounded by `max_header_bytes` and never shown.

local _, module, native = ...

local options = native.layer("fastslua.options")
local equal, decode = module.constant_time_equal, native.base64_decode

local function check_users(users)
  if next(users) == nil then
    return "must not be empty"
  end
  for name, password in pairs(users) do
    if type(name) ~= "string" or name:find("[%c:]") then
      return ("must have names without colons as keys, got '%s'"):format(tostring(name))
    end
    if type(password) ~= "string" or password == "" or password:find("%c") then
      return ("must have passwords without control characters as values; that of '%s' is none"):format(name)
    end
  end
end

local KNOWN = {
  users = { kinds = "table", check = check_users },
  verify = { kinds = "function" },
  realm = { kinds = "string", default = "Restricted", check = options.field_value },
}

--- Name and password of a request; nil when it has none, or none that are well-formed.
local function credentials(req)
  local field = req:header("authorization")
  local encoded = field and field:match("^[Bb][Aa][Ss][Ii][Cc] +([^ ]+)$")
  local decoded = encoded and decode(encoded)
  if decoded and not decoded:find("%c") then
    return decoded:match("^([^:]*):(.*)$")
  end
end

--- A function of (name, password) for a table of users, which is copied.
local function verifier(users)
  local known = {}
  for name, password in pairs(users) do
    known[name] = password
  end
  return function(name, password)
    local expected = known[name]
    -- An unknown user costs a comparison too.
    local same = equal(password, expected or name)
    return same and expected ~= nil
  end
end

--- basic_auth(options): the middleware. `req.user` is the name, or what `verify` returned.
return function(given)
  local settings = options.read("basic_auth", given, KNOWN)
  if (settings.users == nil) == (settings.verify == nil) then
    error("basic_auth: give one of the options 'users' and 'verify'", 2)
  end
  local verify = settings.verify or verifier(settings.users)
  local challenge = ('Basic realm=%s, charset="UTF-8"'):format(options.quoted(settings.realm))
  return function(req, _, next)
    local name, password = credentials(req)
    local user = name and verify(name, password, req)
    if not user then
      return next(module.error(401, "A valid name and password are needed.", {
        headers = { ["WWW-Authenticate"] = challenge },
      }))
    end
    req.user = user == true and name or user
    return next()
  end
end
