-- logger: one line for each request when it has its answer, failures among them.
--
-- Where the lines go is the program's business: there is no default, since a library inside another program does not
-- print. What a client sent cannot end a line or begin one, nor stand for another part of it.

local _, module, native = ...

local options = native.layer("fastslua.options")

local now, encode = module.now, module.json.encode

--- Nil where the program keeps it from its scripts.
local os = rawget(_G, "os")

local MONTHS = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" }

--- What cannot stand in a line as it is: control characters, quotes, backslashes, and bytes that are not ASCII.
local SPECIAL = '[%z\1-\31\127-\255"\\]'

--- How each byte is written instead, as Apache's logs have it. A table, since a client can send a field full of them.
local ESCAPES = {}
for code = 0, 255 do
  local char = string.char(code)
  ESCAPES[char] = (char == '"' or char == "\\") and "\\" .. char or ("\\x%02x"):format(code)
end

--- Fields that a client fills as it likes are cut there; of those that it is known by nothing is cut.
local FIELD_BYTES_MAX = 1024

--- Text that a client sent, for between quotes. Nearly all text is fine as it is.
local function escaped(text)
  if text:find(SPECIAL) then
    return (text:gsub(SPECIAL, ESCAPES))
  end
  return text
end

--- The first field of a name, not too long; nil when there is none.
local function field(req, name)
  local text = req:header(name)
  if text and #text > FIELD_BYTES_MAX then
    return text:sub(1, FIELD_BYTES_MAX) .. "..."
  end
  return text
end

--- The name of who was authenticated, as one word.
local function user_of(req)
  local user = req.user
  if type(user) ~= "string" or user == "" then
    return "-"
  end
  return (escaped(user):gsub(" ", "\\x20"))
end

--- Makes the text of a time once for each second.
local function dated(make)
  local last, text
  return function(time)
    if time ~= last then
      last, text = time, make(os.date("!*t", time))
    end
    return text
  end
end

local common_date = dated(function(date)
  return ("%02d/%s/%04d:%02d:%02d:%02d +0000"):format(
    date.day,
    MONTHS[date.month],
    date.year,
    date.hour,
    date.min,
    date.sec
  )
end)

local json_date = dated(function(date)
  return ("%04d-%02d-%02dT%02d:%02d:%02dZ"):format(date.year, date.month, date.day, date.hour, date.min, date.sec)
end)

local function common(req, res)
  local bytes = res.bytes
  return ('%s - %s [%s] "%s %s HTTP/%s" %s %s'):format(
    req.remote_address,
    user_of(req),
    common_date(os.time()),
    req.method,
    escaped(req.target),
    req.version,
    res.status_code,
    bytes and bytes > 0 and ("%d"):format(bytes) or "-"
  )
end

local function combined(req, res)
  local referer, agent = field(req, "referer"), field(req, "user-agent")
  return ('%s "%s" "%s"'):format(common(req, res), escaped(referer or "-"), escaped(agent or "-"))
end

local REPLACE = { invalid_utf8 = "replace" }

--- A member of a JSON line that a client had a say in, with the comma before it; nothing when there is none.
local function member(name, value)
  if type(value) == "string" then
    return (',"%s":%s'):format(name, encode(value, REPLACE))
  end
  return ""
end

--- What needs no escapes is put in as it is: addresses, methods (tokens), numbers.
local function json(req, res, seconds)
  return table.concat({
    ('{"time":"%s","remote_address":"%s"'):format(json_date(os.time()), req.remote_address),
    member("user", req.user),
    (',"method":"%s"'):format(req.method),
    member("target", req.target),
    (',"version":"%s"'):format(req.version),
    member("route", req.route),
    -- Microseconds are what the clock is good for.
    (',"status":%s,"bytes":%s,"seconds":%s'):format(
      res.status_code,
      res.bytes and ("%d"):format(res.bytes) or "null",
      encode(math.floor(seconds * 1e6 + 0.5) / 1e6)
    ),
    member("request_id", req.request_id),
    member("referer", field(req, "referer")),
    member("user_agent", field(req, "user-agent")),
    "}",
  })
end

local FORMATS = { common = common, combined = combined, json = json }

--- A format of the program's own: what it takes from a request can't end its line.
local function one_line(format)
  return function(req, res, seconds)
    local line = format(req, res, seconds)
    if line == nil then
      return nil
    elseif type(line) ~= "string" then
      error(("logger: option 'format' must give a string or nil, got a %s"):format(type(line)), 0)
    end
    return (line:gsub("[%z\1-\8\10-\31\127]", ESCAPES))
  end
end

--- Whether lines can be written to a value as to a file.
local function is_writable(value)
  local fine, write = pcall(function()
    return value.write
  end)
  return fine and type(write) == "function"
end

local KNOWN = {
  sink = {
    kinds = "function|table|userdata",
    wanted = "a function or an open file",
    needed = "a function that takes a line, or an open file",
    check = function(sink)
      return type(sink) ~= "function" and not is_writable(sink) and "must be a function or an open file" or nil
    end,
  },
  format = {
    kinds = "string|function",
    wanted = "a name or a function",
    default = "common",
    check = function(format)
      if type(format) == "string" and not FORMATS[format] then
        return ("must be 'common', 'combined', 'json' or a function, got '%s'"):format(format)
      end
    end,
  },
  skip = { kinds = "function" },
}

--- logger(options): the middleware.
return function(given)
  local settings = options.read("logger", given, KNOWN)
  local sink, skip = settings.sink, settings.skip
  local format = FORMATS[settings.format] or one_line(settings.format)
  if not os and FORMATS[settings.format] then
    error(
      ("logger: option 'format' cannot be '%s': the os library, which has the time, is not there"):format(
        settings.format
      ),
      2
    )
  end
  local write = sink
  if type(sink) ~= "function" then
    write = function(line)
      sink:write(line, "\n")
    end
  end
  return function(_, res, next)
    local began = now()
    res:on_finish(function(req, done)
      -- Without a status the handler has closed the server: nothing was answered, and nothing can be read any more.
      if done.status_code and not (skip and skip(req, done)) then
        local line = format(req, done, now() - began)
        if line then
          write(line)
        end
      end
    end)
    return next()
  end
end
