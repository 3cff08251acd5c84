-- request_id: gives each request an id that logs, answers and other services can share.
--
-- An id that comes with the request is taken where the option allows it, and only when it can stand in any log: what
-- else a client sends is passed over.

local _, module, native = ...

local options = native.layer("fastslua.options")
local random_hex = module.random_hex

--- 128 bits: no two requests get the same one.
local BYTES = 16

local LENGTH_MAX = 128

local KNOWN = {
  header = { kinds = "string", default = "X-Request-Id", check = options.token },
  accept = { kinds = "boolean", default = true },
  generate = { kinds = "function" },
}

--- Whether an id may go into logs and fields as it is.
local function is_sound(id)
  return type(id) == "string" and #id <= LENGTH_MAX and id:find("^[%w._~+/=:@-]+$") ~= nil
end

local function random_id()
  return random_hex(BYTES)
end

--- The option `generate`, checked: a handler should not meet an id that no log can hold.
local function checked(generate)
  return function(req)
    local id = generate(req)
    if not is_sound(id) then
      error(
        ("request_id: option 'generate' gave no id: %d letters, digits and ._~+/=:@- at most"):format(LENGTH_MAX),
        0
      )
    end
    return id
  end
end

--- request_id([options]): the middleware. `req.request_id` is the id.
return function(given)
  local settings = options.read("request_id", given, KNOWN)
  local header, accept = settings.header, settings.accept
  local generate = settings.generate and checked(settings.generate) or random_id
  return function(req, res, next)
    local id = accept and req:header(header)
    if not is_sound(id) then
      id = generate(req)
    end
    req.request_id = id
    res:set(header, id)
    return next()
  end
end
