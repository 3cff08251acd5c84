-- http_server: the class HttpServer of tslua-http over this server, so that programs written for it change one line.
--
-- One handler is called with the server, a request and a response that starts as an empty 404, and returns the response
-- to send. The class has the shape that TypeScriptToLua gives to classes: it can be made by `new` there, and extended.
-- Whatever a handler returns is checked before anything is sent; what a client sends is bounded by the server.

local _, module, native = ...

local options = native.layer("fastslua.options")
local statuses = native.layer("fastslua.adapters.http_statuses")

--- What an option of tslua-http is here; false for those that mean nothing to this server.
local OPTIONS = {
  maxConnections = "max_connections",
  maxRequestHeaderBytes = "max_header_bytes",
  maxRequestHeaderCount = "max_headers",
  maxRequestBodyBytes = "max_body_bytes",
  maxResponseBytes = "max_response_bytes",
  maxBufferedBytes = "max_buffered_bytes",
  requestTimeout = "header_timeout",
  responseTimeout = "write_timeout",
  maxIoBytesPerVisit = "max_io_bytes_per_visit",
  maxIoBytesPerPump = "max_io_bytes_per_step",
  maxAcceptsPerPump = "max_accepts_per_step",
  maxDispatchesPerPump = "max_dispatches_per_step",
  maxPumpSeconds = "step_seconds",
  idleTimeout = false,
  ioChunkBytes = false,
  maxVisitsPerPump = false,
  clock = false,
}

--- Fields that are the server's own in an answer.
local SERVERS = {
  ["content-length"] = true,
  ["transfer-encoding"] = true,
  ["keep-alive"] = true,
  ["upgrade"] = true,
  ["trailer"] = true,
}

--- Query parameters as they were sent, the last of each name. One without a value is none.
local function query_parameters(text)
  local parameters = {}
  for pair in text:gmatch("[^&]+") do
    local name, value = pair:match("^([^=]*)=(.*)$")
    if name then
      parameters[name] = value
    end
  end
  return parameters
end

local function request_of(req)
  return {
    method = req.method,
    originalUrl = req.target,
    protocol = "HTTP/" .. req.version,
    path = req.raw_path,
    parameters = query_parameters(req.query_string),
    headers = req.headers,
    body = req.body,
  }
end

local function set_header(res, name, value)
  local lower = tostring(name):lower()
  if lower == "connection" then
    if tostring(value):lower() == "close" then
      res:set(lower, "close")
    end
  elseif not SERVERS[lower] then
    res:set(tostring(name), type(value) == "table" and value or tostring(value))
  end
end

--- Sends what a handler has returned.
local function answer(res, response)
  local kind = type(response) == "table" and type(response.status) == "number" and type(response.headers)
  if kind ~= "table" then
    error("the handler of HttpServer has not returned a response, a table with a status and headers", 0)
  end
  local body = response.body
  if body ~= nil and type(body) ~= "string" and type(body) ~= "number" then
    error(("the handler of HttpServer has returned %s as body"):format(options.describe(body)), 0)
  end
  res:status(response.status)
  for name, value in pairs(response.headers) do
    set_header(res, name, value)
  end
  if body == nil or body == "" then
    return res:finish()
  end
  return res:send(tostring(body))
end

--- The options of `listen`: those of tslua-http by their names here, all others as they are.
local function listen_options(host, port, given)
  local made = { host = host, port = port }
  for name, value in pairs(given or {}) do
    local own = OPTIONS[name]
    if own == nil then
      made[name] = value
    elseif own then
      made[own] = value
    end
  end
  return made
end

--- What is wrong with the arguments of the constructor.
local function wrong_arguments(host, port, handler, given)
  if type(host) ~= "string" then
    return ("bindAddress must be a string, got %s"):format(options.describe(host))
  elseif type(port) ~= "number" then
    return ("port must be a number, got %s"):format(options.describe(port))
  elseif type(handler) ~= "function" then
    return ("handler must be a function, got %s"):format(options.describe(handler))
  elseif given ~= nil and type(given) ~= "table" then
    return ("options must be a table, got %s"):format(options.describe(given))
  end
end

local HttpServer = { name = "HttpServer" }
local prototype = { constructor = HttpServer }
HttpServer.prototype = prototype

--- Counters of `server:stats()` that only grow, by their names in what `pump` returns.
local GROWING = {
  accepted = "accepted",
  dispatched = "requests",
  bytesRead = "bytes_in",
  bytesWritten = "bytes_out",
  closed = "closed",
}

--- Called by `new`, and by the constructors of classes that extend this one.
function prototype:____constructor(host, port, handler, given)
  local message = wrong_arguments(host, port, handler, given)
  if message then
    error("HttpServer: " .. message, 3)
  end
  self.handler = handler
  local fine, server, reason = pcall(module.listen, listen_options(host, port, given), function(req, res)
    answer(res, self:handler(request_of(req), { status = 404, headers = {} }))
  end)
  if not fine then
    error("HttpServer: " .. tostring(server), 3)
  elseif not server then
    error(("Failed to bind %s:%d: %s"):format(host, port, reason), 3)
  end
  self.fastslua = server
end

--- One turn: accepts, reads, calls handlers and writes, within the budget.
function prototype:acceptNextClient()
  self.fastslua:step()
end

--- The same, and tells what it did.
function prototype:pump()
  local before = self.fastslua:stats()
  self.fastslua:step()
  local now = self.fastslua:stats()
  local told = { active = now.active, bufferedBytes = now.buffered_bytes }
  for name, counter in pairs(GROWING) do
    told[name] = now[counter] - before[counter]
  end
  return told
end

--- Closes the listener and every connection. Safe twice.
function prototype:close()
  self.fastslua:close()
end

--- What is read by a function, in the form that TypeScriptToLua looks for.
prototype._descriptors = {
  activeConnections = {
    get = function(self)
      return self.fastslua:stats().active
    end,
  },
}

--- Fields of the classes that an object is made of, from its own up to this one. A class that extends this one takes
--- over the function, unless it has functions of its own to read fields.
function prototype.__index(self, name)
  local class = getmetatable(self)
  while class do
    local value = rawget(class, name)
    if value ~= nil then
      return value
    end
    local descriptors = rawget(class, "_descriptors")
    if descriptors and descriptors[name] then
      return descriptors[name].get(self)
    end
    class = getmetatable(class)
  end
end

--- What `new HttpServer(...)` is in Lua.
function HttpServer.new(...)
  local server = setmetatable({}, prototype)
  server:____constructor(...)
  return server
end

return {
  HttpServer = HttpServer,
  HttpStatus = statuses.codes,
  StatusText = statuses.texts,
  getQueryParams = function(_, url)
    return query_parameters(url:match("%?([^?]*)") or "")
  end,
}
