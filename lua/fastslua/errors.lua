-- fastslua.error: an error that carries its status to the client.

local _, _, native = ...

--- What is wrong with response headers of an error; nil when nothing is.
local function wrong_headers(headers)
  if type(headers) ~= "table" then
    return ("headers must be a table, got a %s"):format(type(headers))
  end
  for name, value in pairs(headers) do
    local kind = type(value)
    if type(name) ~= "string" or (kind ~= "string" and kind ~= "number" and kind ~= "table") then
      return "headers must be a table of names and values"
    end
  end
end

--- fastslua.error(status[, message[, fields]]): the error object, to be raised or given to next(). `fields.headers` are
--- set on the response, `fields.details` are shown while debugging; every field can be read from the object.
return function(status, message, fields)
  if type(status) ~= "number" or status % 1 ~= 0 or status < 400 or status > 599 then
    error(("fastslua.error needs a status from 400 to 599, got %s"):format(tostring(status)), 2)
  end
  if message ~= nil and type(message) ~= "string" then
    error(("fastslua.error needs a message as string, got a %s"):format(type(message)), 2)
  end
  if fields ~= nil and type(fields) ~= "table" then
    error(("fastslua.error needs a table of fields, got a %s"):format(type(fields)), 2)
  end
  local object = {}
  for name, value in pairs(fields or {}) do
    object[name] = value
  end
  local wrong = object.headers ~= nil and wrong_headers(object.headers)
  if wrong then
    error("fastslua.error: " .. wrong, 2)
  end
  object.status = status
  object.message = message or native.reason(status)
  return setmetatable(object, native.error_metatable)
end
