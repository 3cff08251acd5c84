-- fastslua.test: an application is asked without a port.
--
-- The server is a real one, with the same parser, limits, encoder and order of events; its network lies within the
-- process, and its time stands still until it is told to go on. Nothing here may make an answer look better than a
-- client would see it.

local _, module, native = ...

local Client = {}
Client.__index = Client

local Connection = {}
Connection.__index = Connection

local Response = {}
Response.__index = Response

--- The port that clients come from; the first of those that systems give to clients.
local REMOTE_PORT = 49152

--- Turns after which a server that still finds work will not come to rest.
local TURNS_MAX = 1000000

local function percent_encode(text)
  return (text:gsub("[^%w%-%._~]", function(character)
    return ("%%%02X"):format(character:byte())
  end))
end

--- Names and values as a query or a form; a list of values gives the name as often.
local function encode_pairs(values)
  local names, pieces = {}, {}
  for name in pairs(values) do
    names[#names + 1] = name
  end
  table.sort(names, function(one, other)
    return tostring(one) < tostring(other)
  end)
  for _, name in ipairs(names) do
    local list = values[name]
    for _, value in ipairs(type(list) == "table" and list or { list }) do
      pieces[#pieces + 1] = percent_encode(tostring(name)) .. "=" .. percent_encode(tostring(value))
    end
  end
  return table.concat(pieces, "&")
end

local FIELD_KINDS = {
  query = "table",
  headers = "table",
  body = "string",
  form = "table",
  cookies = "table",
  remote_address = "string",
}

--- Checks the options of a request; `level` as for error().
local function check_request(options, level)
  if options ~= nil and type(options) ~= "table" then
    error(("options must be a table, got a %s"):format(type(options)), level + 1)
  end
  local bodies = 0
  for name in pairs(options and type(options.headers) == "table" and options.headers or {}) do
    if type(name) ~= "string" then
      error(("names of headers are strings, got a %s"):format(type(name)), level + 1)
    end
  end
  for name, value in pairs(options or {}) do
    local kind = FIELD_KINDS[name]
    if not kind and name ~= "json" then
      error(("unknown option '%s' of a request"):format(tostring(name)), level + 1)
    end
    if kind and type(value) ~= kind then
      error(("option '%s' must be a %s, got a %s"):format(name, kind, type(value)), level + 1)
    end
    if name == "body" or name == "json" or name == "form" then
      bodies = bodies + 1
    end
  end
  if bodies > 1 then
    error("a request has one of body, json and form", level + 1)
  end
end

--- The body of a request and its type; nil when it has none.
local function body_of(options)
  if options.json ~= nil then
    return module.json.encode(options.json), "application/json"
  elseif options.form then
    return encode_pairs(options.form), "application/x-www-form-urlencoded"
  end
  return options.body
end

--- The bytes of a request. What the options set replaces what would be sent anyway; a value of false leaves it out.
local function request_bytes(method, path, options)
  local body, kind = body_of(options)
  local fields = { { "Host", "localhost" }, { "Content-Type", kind }, { "Content-Length", body and #body } }
  if options.cookies then
    local cookies = encode_pairs(options.cookies):gsub("&", "; ")
    fields[#fields + 1] = { "Cookie", cookies }
  end
  local given = {}
  for name, value in pairs(options.headers or {}) do
    given[tostring(name):lower()] = true
    for _, one in ipairs(type(value) == "table" and value or { value }) do
      fields[#fields + 1] = one and { name, one, given = true } or nil
    end
  end
  local query = options.query and encode_pairs(options.query)
  if query then
    path = path .. (path:find("?", 1, true) and "&" or "?") .. query
  end
  local lines = { ("%s %s HTTP/1.1\r\n"):format(method, path) }
  for _, field in ipairs(fields) do
    if field[2] and (field.given or not given[field[1]:lower()]) then
      lines[#lines + 1] = ("%s: %s\r\n"):format(tostring(field[1]), tostring(field[2]))
    end
  end
  lines[#lines + 1] = "\r\n"
  lines[#lines + 1] = body or ""
  return table.concat(lines)
end

--- Header fields by name in any case: the first value; all of them through `all`.
local function parse_headers(text)
  local first, all = {}, {}
  for name, value in text:gmatch("([^:\r\n]+):[ \t]*([^\r\n]*)\r\n") do
    local key = name:lower()
    first[key] = first[key] or value
    all[key] = all[key] or {}
    table.insert(all[key], value)
  end
  setmetatable(first, {
    __index = function(_, name)
      return type(name) == "string" and rawget(first, name:lower()) or nil
    end,
  })
  return first, all
end

--- Takes chunks apart (RFC 9112 section 7.1); nil while the last one is missing.
local function join_chunks(text)
  local pieces, at = {}, 1
  while true do
    local from, to, digits = text:find("^(%x+)[^\r\n]*\r\n", at)
    if not from then
      return nil
    end
    local size = tonumber(digits, 16)
    if size == 0 then
      local _, last = text:find("^\r\n", to + 1)
      if not last then
        _, last = text:find("\r\n\r\n", to + 1, true)
      end
      return last and table.concat(pieces), last and text:sub(last + 1)
    elseif #text < to + size + 2 then
      return nil
    end
    pieces[#pieces + 1] = text:sub(to + 1, to + size)
    at = to + size + 3
  end
end

--- The content of a response whose head is known, and what stands behind it; nil while it is not all there.
local function parse_content(response, rest, method, ended)
  local status, headers = response.status, response.headers
  if method == "HEAD" or status == 204 or status == 304 then
    return "", rest
  elseif (headers["transfer-encoding"] or ""):lower() == "chunked" then
    return join_chunks(rest)
  end
  local length = tonumber(headers["content-length"])
  if length then
    if #rest >= length then
      return rest:sub(1, length), rest:sub(length + 1)
    end
  elseif ended then
    return rest, ""
  end
end

--- The first response in the bytes, and what stands behind it; nil while it is not all there. Interim ones are passed
--- over.
local function parse_response(bytes, method, ended)
  local head, rest = bytes:match("^(HTTP/1%.%d %d%d%d[^\r\n]*\r\n.-\r\n)\r\n(.*)$")
  if not head then
    head, rest = bytes:match("^(HTTP/1%.%d %d%d%d[^\r\n]*\r\n)\r\n(.*)$")
  end
  if not head then
    return nil
  end
  local line, fields = head:match("^([^\r\n]*)\r\n(.*)$")
  local response = setmetatable({}, Response)
  local status, reason = line:match("^HTTP/1%.%d (%d%d%d) ?(.*)$")
  response.status, response.reason = tonumber(status), reason
  if response.status < 200 then
    return parse_response(rest, method, ended)
  end
  response.headers, response._all = parse_headers(fields)
  local content, behind = parse_content(response, rest, method, ended)
  if content then
    response.body = content
    return response, behind
  end
end

--- response:json(): the content as a Lua value; an error when it is no JSON.
function Response:json()
  local value, message = module.json.decode(self.body)
  if value == nil then
    error("the answer is no JSON: " .. message, 2)
  end
  return value
end

--- response:header_all(name): every value of that name, in order.
function Response:header_all(name)
  return self._all[name:lower()] or {}
end

--- Turns the server until it has nothing to do.
local function settle(server)
  for _ = 1, TURNS_MAX do
    local dispatched, waiting = server:step()
    if dispatched == 0 and waiting == 0 then
      return
    end
  end
  error("the server does not come to rest", 3)
end

--- connection:send(bytes): sends them and lets the server do what it can; false when it has ended the connection.
function Connection:send(bytes)
  if type(bytes) ~= "string" then
    error(("bytes must be a string, got a %s"):format(type(bytes)), 2)
  end
  local sent = native.send(self._server, self._number, bytes)
  settle(self._server)
  return sent
end

--- connection:finish(): sends no more; the server may still answer.
function Connection:finish()
  native.finish(self._server, self._number)
  settle(self._server)
end

--- connection:receive(): the bytes that have come since the last time, and whether the server has ended the connection.
function Connection:receive()
  local bytes, ended = native.receive(self._server, self._number)
  return bytes or "", ended
end

--- connection:close(): the client is gone.
function Connection:close()
  if self._number then
    native.drop(self._server, self._number)
    self._number = -1
    settle(self._server)
  end
end

--- client:connect([remote_address]): a connection that stays open, for what a single request cannot show; nil and why
--- when the server takes none.
function Client:connect(remote_address)
  self._port = self._port % 65535 + 1
  local fine, number = pcall(native.connect, self.server, remote_address or "127.0.0.1", self._port)
  if not fine then
    error(number, 2)
  elseif not number then
    return nil, "the server is closed"
  end
  local connection = setmetatable({ _server = self.server, _number = number }, Connection)
  settle(self.server)
  return connection
end

--- client:raw(bytes[, remote_address]): what the server sends back on a connection of its own, and whether it ended
--- that connection.
function Client:raw(bytes, remote_address)
  if type(bytes) ~= "string" then
    error(("bytes must be a string, got a %s"):format(type(bytes)), 2)
  end
  local connection, message = self:connect(remote_address)
  if not connection then
    return nil, message
  end
  connection:send(bytes)
  local received, ended = connection:receive()
  connection:close()
  return received, ended
end

--- Sends one request; `level` as for error().
local function ask(client, level, method, path, options)
  check_request(options, level + 1)
  options = options or {}
  local fine, connection, message = pcall(client.connect, client, options.remote_address)
  if not fine then
    error((connection:gsub("^[^:]*:%d+: ", "")), level + 1)
  elseif not connection then
    return nil, message
  end
  client._error = nil
  connection:send(request_bytes(method, path, options))
  local bytes, ended = connection:receive()
  connection:close()
  local response = parse_response(bytes, method, ended)
  if not response then
    return nil, client._error or (ended and "the server ended the connection" or "the server has not answered")
  end
  response.error = client._error
  return response
end

--- client:request(method, path[, options]): the response; or nil and why there is none.
function Client:request(method, path, options)
  if type(method) ~= "string" or type(path) ~= "string" then
    error("client:request needs a method and a path", 2)
  end
  local response, message = ask(self, 2, method, path, options)
  return response, message
end

for _, name in ipairs({ "get", "head", "post", "put", "patch", "delete", "options" }) do
  Client[name] = function(self, path, options)
    if type(path) ~= "string" then
      error(("client:%s needs a path, got a %s"):format(name, type(path)), 2)
    end
    local response, message = ask(self, 2, name:upper(), path, options)
    return response, message
  end
end

--- client:advance(seconds): time goes on by that much, and the server sees to what is due.
function Client:advance(seconds)
  if type(seconds) ~= "number" then
    error(("seconds must be a number, got a %s"):format(type(seconds)), 2)
  end
  local fine, message = pcall(native.advance, self.server, seconds)
  if not fine then
    error(message, 2)
  end
  settle(self.server)
end

--- client:close(): closes the server.
function Client:close()
  self.server:close()
end

function Client:__tostring()
  return "fastslua.test (" .. tostring(self.server) .. ")"
end

local WITHOUT_MEANING = { host = true, port = true, backlog = true }

--- fastslua.test(app[, options]): a client of the application (or handler). The options are those of listen, without
--- what only a port has.
return function(app, options)
  if type(app) ~= "table" and type(app) ~= "function" then
    error(("fastslua.test needs an application or a handler, got a %s"):format(type(app)), 2)
  end
  if options ~= nil and type(options) ~= "table" then
    error(("fastslua.test: options must be a table, got a %s"):format(type(options)), 2)
  end
  local client = setmetatable({ log = {}, _port = REMOTE_PORT }, Client)
  local given = {}
  for name, value in pairs(options or {}) do
    if WITHOUT_MEANING[name] then
      error(("fastslua.test: option '%s' has no meaning without a port"):format(name), 2)
    end
    given[name] = value
  end
  local on_error, on_log = given.on_error, given.on_log
  given.port = 80
  if on_error == nil or type(on_error) == "function" then
    given.on_error = function(text, req, value)
      client._error = client._error or text
      if on_error then
        on_error(text, req, value)
      end
    end
  end
  if on_log == nil or type(on_log) == "function" then
    given.on_log = function(level, message, fields)
      client.log[#client.log + 1] = { level = level, message = message, fields = fields }
      if on_log then
        on_log(level, message, fields)
      end
    end
  end
  local fine, server, message = pcall(native.within, given, app)
  if not fine then
    error("fastslua.test: " .. tostring(server), 2)
  elseif not server then
    error("fastslua.test: " .. tostring(message), 2)
  end
  client.server = server
  return client
end
