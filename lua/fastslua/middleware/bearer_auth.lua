-- bearer_auth: asks for a token (RFC 6750), in the Authorization field alone: tokens in targets end up in logs.
--
-- Tokens of a table are compared in constant time, each of them for every request. What a client sends is bounded by
-- `max_header_bytes` and never shown.

local _, module, native = ...

local options = native.layer("fastslua.options")
local equal = module.constant_time_equal

--- What RFC 6750 section 2.1 calls b64token.
local TOKEN = "^[%w._~+/-]+=*$"

local function check_tokens(tokens)
  if next(tokens) == nil then
    return "must not be empty"
  end
  for key, value in pairs(tokens) do
    local token = type(key) == "number" and value or key
    if type(token) ~= "string" or not token:find(TOKEN) then
      return "must hold tokens of letters, digits and -._~+/ with = at the end only"
    end
    if not value then
      return "must hold users as values of tokens, got false"
    end
  end
end

local KNOWN = {
  tokens = { kinds = "table", check = check_tokens },
  verify = { kinds = "function" },
  realm = { kinds = "string", default = "Restricted", check = options.field_value },
  scope = {
    kinds = "string",
    check = function(scope)
      -- RFC 6750 section 3: words of visible ASCII but for quotes and backslashes.
      if scope == "" or scope:find("[^\32-\126]") or scope:find('["\\]') then
        return "must be words of printable ASCII with spaces between, without quotes and backslashes"
      end
    end,
  },
}

--- A function of (token) for a table of tokens: the user, or true, or nil.
local function verifier(tokens)
  local known, users = {}, {}
  for key, value in pairs(tokens) do
    local listed = type(key) == "number"
    known[#known + 1] = listed and value or key
    users[#known] = listed or value
  end
  return function(token)
    local user
    for index, expected in ipairs(known) do
      if equal(token, expected) then
        user = users[index]
      end
    end
    return user
  end
end

--- A function of (status, message, code) that makes the error: RFC 6750 section 3.1 names the codes.
local function refuser(settings)
  local challenge = "Bearer realm=" .. options.quoted(settings.realm)
  local scope = settings.scope and (', scope="%s"'):format(settings.scope) or ""
  return function(status, message, code)
    local field = challenge .. scope
    if code then
      field = ('%s, error="%s", error_description="%s"%s'):format(challenge, code, message, scope)
    end
    return module.error(status, message, { headers = { ["WWW-Authenticate"] = field } })
  end
end

--- bearer_auth(options): the middleware. `req.user` is the token's user, or what `verify` returned.
return function(given)
  local settings = options.read("bearer_auth", given, KNOWN)
  if (settings.tokens == nil) == (settings.verify == nil) then
    error("bearer_auth: give one of the options 'tokens' and 'verify'", 2)
  end
  local verify, refusal = settings.verify or verifier(settings.tokens), refuser(settings)
  return function(req, _, next)
    local field = req:header("authorization")
    local token = field and field:match("^[Bb][Ee][Aa][Rr][Ee][Rr] +(.*)$")
    if not token then
      -- Nothing was tried, so no code: section 3.1.
      return next(refusal(401, "A token is needed."))
    end
    if not token:find(TOKEN) then
      return next(refusal(400, "The token is malformed.", "invalid_request"))
    end
    local user, reason = verify(token, req)
    if not user then
      if reason == "insufficient_scope" then
        return next(refusal(403, "The token does not reach this far.", reason))
      end
      return next(refusal(401, "The token is not valid.", "invalid_token"))
    end
    req.user = user
    return next()
  end
end
