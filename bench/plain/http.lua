-- http.lua: HTTP/1.1 heads in plain Lua: reads those of requests, writes those of responses. One request per
-- connection. Functions of text alone: no sockets, no clock but for Date.

local http = {}

local find, sub, lower, format = string.find, string.sub, string.lower, string.format

local REASONS = {
  [200] = "OK",
  [201] = "Created",
  [204] = "No Content",
  [400] = "Bad Request",
  [404] = "Not Found",
  [405] = "Method Not Allowed",
  [408] = "Request Timeout",
  [413] = "Content Too Large",
  [414] = "URI Too Long",
  [421] = "Misdirected Request",
  [431] = "Request Header Fields Too Large",
  [500] = "Internal Server Error",
  [501] = "Not Implemented",
  [503] = "Service Unavailable",
  [505] = "HTTP Version Not Supported",
}

local TOKEN = "[!#$%%&'*+%-.^_`|~%w]+"
local REQUEST_LINE = "^(" .. TOKEN .. ") ([^%s%c]+) HTTP/(%d)%.(%d)\r\n"
local FIELD = "^(" .. TOKEN .. "):[ \t]*([^\r\n%z]-)[ \t]*\r\n"

-- Fields that may not repeat because they decide where a request ends or whom it is for.
local SINGLE = { host = true, ["content-length"] = true, ["transfer-encoding"] = true }

--- The fields from `at` to the empty line at `stop`; nil and a status when one is wrong.
local function read_fields(text, at, stop, limits)
  local fields, count = {}, 0
  while at < stop do
    local _, last, name, value = find(text, FIELD, at)
    if not last then
      return nil, 400
    end
    count = count + 1
    if count > limits.max_headers then
      return nil, 431
    end
    name = lower(name)
    local known = fields[name]
    if known then
      if SINGLE[name] then
        return nil, 400
      end
      value = known .. ", " .. value
    end
    fields[name] = value
    at = last + 1
  end
  return fields
end

local function is_allowed(host, allowed)
  if allowed == "*" then
    return true
  end
  local name = lower(host:match("^%[.-%]") or host:match("^[^:]*"))
  return allowed[name] or find(name, "^%d+%.%d+%.%d+%.%d+$") ~= nil or find(name, "^%[[%x:.]+%]$") ~= nil
end

--- How long the body is; nil and a status when the framing is wrong or not for this server.
local function body_bytes(fields, limits)
  if fields["transfer-encoding"] then
    return nil, fields["content-length"] and 400 or 501
  end
  local length = fields["content-length"]
  if not length then
    return 0
  end
  if not find(length, "^%d+$") or #length > 15 then
    return nil, 400
  end
  local bytes = tonumber(length)
  if bytes > limits.max_body_bytes then
    return nil, 413
  end
  return bytes
end

--- The request whose fields end before `stop`, where the empty line begins; nil and a status when something is wrong.
function http.read_head(text, stop, limits)
  local _, line_end, method, target, major, minor = find(text, REQUEST_LINE)
  if not line_end then
    return nil, 400
  elseif #target > limits.max_target_bytes then
    return nil, 414
  elseif major ~= "1" then
    return nil, 505
  end
  local fields, wrong = read_fields(text, line_end + 1, stop, limits)
  if not fields then
    return nil, wrong
  end
  local host = fields.host
  if not host then
    if minor ~= "0" then
      return nil, 400
    end
  elseif not is_allowed(host, limits.allowed_hosts) then
    return nil, 421
  end
  local length, refused = body_bytes(fields, limits)
  if not length then
    return nil, refused
  end
  local question = find(target, "?", 1, true)
  return {
    method = method,
    target = target,
    path = question and sub(target, 1, question - 1) or target,
    query_string = question and sub(target, question + 1) or nil,
    headers = fields,
    body_bytes = length,
  }
end

local date_text, date_second

local function date(now)
  local second = now - now % 1
  if second ~= date_second then
    date_second, date_text = second, os.date("!%a, %d %b %Y %H:%M:%S GMT", second)
  end
  return date_text
end

local HEAD = "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"

--- The head of a response of so many bytes. `now`: seconds since 1970.
function http.write_head(status, media_type, length, now)
  return format(HEAD, status, REASONS[status] or "Unknown", date(now), media_type, length)
end

--- The whole response to a request that is refused.
function http.refusal(status, now)
  local body = REASONS[status] or "Error"
  return http.write_head(status, "text/plain; charset=utf-8", #body, now) .. body
end

return http
