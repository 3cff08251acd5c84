-- body_json: parses JSON bodies into `req.json_body` before the handlers see them.
--
-- What cannot be parsed is refused by `req:json()`, which says why. Bodies of other types are left alone, unless JSON
-- is required.

local _, module, native = ...

local options = native.layer("fastslua.options")

local KNOWN = {
  required = { kinds = "boolean", default = false },
  max_bytes = { kinds = "number", check = options.whole(1, 2 ^ 53) },
}

--- RFC 9110 section 15.5.16: Accept tells what would have been taken.
local function unsupported()
  return module.error(415, "The body has to be JSON.", { headers = { Accept = "application/json" } })
end

--- body_json([options]): the middleware.
return function(given)
  local settings = options.read("body_json", given, KNOWN)
  local required, max_bytes = settings.required, settings.max_bytes
  return function(req, _, next)
    local body = req.body
    if body == nil or body == "" then
      return next(required and module.error(400, "A JSON body is needed.") or nil)
    end
    if not req:is("json", "+json") then
      return next(required and unsupported() or nil)
    end
    if max_bytes and #body > max_bytes then
      return next(module.error(413, ("A JSON body may have up to %d bytes."):format(max_bytes)))
    end
    req.json_body = req:json()
    return next()
  end
end
