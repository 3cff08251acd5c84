-- security_headers: fields that have browsers guard a page.
--
-- They are set before the handler runs, which may set or remove any of them. What they cost is copied text: nothing is
-- looked at in the request.

local _, _, native = ...

local options = native.layer("fastslua.options")

--- Option, field, and default; false for what is not sent unless a program asks for it.
local FIELDS = {
  {
    "content_security_policy",
    "Content-Security-Policy",
    "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'; object-src 'none'",
  },
  { "content_type_options", "X-Content-Type-Options", "nosniff" },
  { "cross_origin_embedder_policy", "Cross-Origin-Embedder-Policy", false },
  { "cross_origin_opener_policy", "Cross-Origin-Opener-Policy", "same-origin" },
  { "cross_origin_resource_policy", "Cross-Origin-Resource-Policy", "same-origin" },
  { "frame_options", "X-Frame-Options", "SAMEORIGIN" },
  { "origin_agent_cluster", "Origin-Agent-Cluster", "?1" },
  { "permissions_policy", "Permissions-Policy", false },
  { "referrer_policy", "Referrer-Policy", "no-referrer" },
  -- Only counts over TLS, which a proxy in front may speak.
  { "strict_transport_security", "Strict-Transport-Security", false },
  -- The filter that this switches off has made holes of its own.
  { "xss_protection", "X-XSS-Protection", "0" },
}

local function check(value)
  if value == true or value == "" then
    return "must be false or what the field is to say"
  end
  return options.field_value(value)
end

local KNOWN = {}
for _, field in ipairs(FIELDS) do
  KNOWN[field[1]] = { kinds = "boolean|string", wanted = "false or a string", default = field[3], check = check }
end

--- security_headers([options]): the middleware.
return function(given)
  local settings = options.read("security_headers", given, KNOWN)
  local names, values = {}, {}
  for _, field in ipairs(FIELDS) do
    local value = settings[field[1]]
    if value then
      names[#names + 1] = field[2]
      values[#names] = value
    end
  end
  return function(_, res, next)
    for index = 1, #names do
      res:set(names[index], values[index])
    end
    return next()
  end
end
