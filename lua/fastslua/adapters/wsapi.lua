-- wsapi: runs WSAPI applications, such as those of Orbit, as handlers.
--
-- An application gets the environment of CGI (RFC 3875), with each variable made when it is read, and returns a status,
-- headers and an iterator over the body. Nothing of WSAPI itself is needed. The application is trusted as any handler
-- is; a client is not, so a path that leads upwards never reaches it.

local _, module, native = ...

local options = native.layer("fastslua.options")

local SOFTWARE = "fastslua/" .. module.version

--- Fields that are the server's own in an answer; `Status` is how CGI says what WSAPI returns.
local SERVERS = {
  ["content-length"] = true,
  ["transfer-encoding"] = true,
  ["keep-alive"] = true,
  ["upgrade"] = true,
  ["trailer"] = true,
  ["connection"] = true,
  ["status"] = true,
}

--- Fields of a request that are hidden: what would be read as the setting of a proxy (RFC 3875 section 4.1.18), and the
--- coding of a body that comes decoded.
local HIDDEN = { HTTP_PROXY = true, HTTP_TRANSFER_ENCODING = true }

local function is_app(value)
  return type(value) == "function" or (type(value) == "table" and type(value.run) == "function")
end

local function has_write(value)
  if type(value) ~= "table" and type(value) ~= "userdata" then
    return false
  end
  local fine, write = pcall(function()
    return value.write
  end)
  return fine and write ~= nil
end

local function check_prefix(value)
  if value ~= "" and not value:find("^/.*[^/]$") then
    return ("must be empty or begin with '/' and end without it, got '%s'"):format(value)
  end
end

local function check_variables(value)
  for name, text in pairs(value) do
    if type(name) ~= "string" or type(text) ~= "string" then
      return ("must be a table of strings by name, got %s in it"):format(options.describe(text))
    end
  end
end

local KNOWN = {
  script_name = { kinds = "string", check = check_prefix },
  document_root = { kinds = "string", default = "" },
  app_path = { kinds = "string", default = "" },
  head_as_get = { kinds = "boolean", default = false },
  variables = { kinds = "table", check = check_variables },
  error = {
    kinds = "table|userdata",
    wanted = "an object with a method 'write'",
    check = function(value)
      return not has_write(value) and "must be an object with a method 'write'" or nil
    end,
  },
}

local function copy(values)
  local copied = {}
  for name, value in pairs(values or {}) do
    copied[name] = value
  end
  return copied
end

--- Where an application writes its errors: to the option's object, or as CGI does.
local function error_stream(given)
  local io = rawget(_G, "io")
  local target = given or (io and io.stderr)
  local stream = {}
  function stream.write(_, ...)
    if target then
      target:write(...)
    end
    return true
  end
  return stream
end

--- What an application reads its body from. The number of bytes is that of the call, or all that are left.
local function input_stream(req)
  local body = req.body or ""
  local at = 1
  local stream = { length = #body }
  function stream.read(_, count)
    if count ~= nil and type(count) ~= "number" then
      error(("input:read needs a number of bytes, got a %s"):format(type(count)), 2)
    end
    count = math.min(count or #body, #body)
    if at > #body or count <= 0 then
      return nil
    end
    local piece = body:sub(at, at + count - 1)
    at = at + #piece
    return piece
  end
  return stream
end

--- The header field that a variable tells, repeats joined (RFC 9110 section 5.3). Its name is made of the variable's,
--- so a field that was sent with an underscore cannot take the place of another.
local function field(req, variable)
  local name = variable:sub(6):gsub("_", "-"):lower()
  local values = req:header_all(name)
  return table.concat(values, name == "cookie" and "; " or ", ")
end

--- Name and port that the client has used, or those of the listener when it named none. An IPv6 address stands in
--- brackets (RFC 3875 section 4.1.14).
local function server_name(req)
  local name = req.hostname or (native.surroundings(req))
  return name:find(":", 1, true) and "[" .. name .. "]" or name
end

local function server_port(req)
  local host = req.host
  if not host then
    local _, port = native.surroundings(req)
    return ("%d"):format(port)
  end
  return host:match(":(%d+)$") or (req.secure and "443" or "80")
end

--- Each variable by what it takes of the request.
local VARIABLES = {
  AUTH_TYPE = function(req)
    return type(req.user) == "string" and (req:header("authorization") or ""):match("^(%a+) ")
  end,
  CONTENT_LENGTH = function(req)
    local body = req.body
    return body and ("%d"):format(#body) or req:header("content-length")
  end,
  CONTENT_TYPE = function(req)
    return req:header("content-type")
  end,
  GATEWAY_INTERFACE = function()
    return "CGI/1.1"
  end,
  HTTPS = function(req)
    return req.secure and "on"
  end,
  QUERY_STRING = function(req)
    return req.query_string
  end,
  REMOTE_ADDR = function(req)
    return req.remote_address
  end,
  REMOTE_HOST = function(req)
    return req.remote_address
  end,
  -- The port belongs to the socket, so it is told only when the address does.
  REMOTE_PORT = function(req)
    return req.remote_address == req.peer_address and ("%d"):format(req.remote_port)
  end,
  REMOTE_USER = function(req)
    return type(req.user) == "string" and req.user
  end,
  REQUEST_METHOD = function(req)
    return req.method
  end,
  REQUEST_SCHEME = function(req)
    return req.scheme
  end,
  REQUEST_URI = function(req)
    return req.target
  end,
  SERVER_NAME = server_name,
  SERVER_PORT = server_port,
  SERVER_PROTOCOL = function(req)
    return "HTTP/" .. req.version
  end,
  SERVER_SOFTWARE = function()
    return SOFTWARE
  end,
}

--- The value of a variable that is read for the first time.
local function variable(req, name)
  local make = VARIABLES[name]
  if make then
    return make(req)
  end
  if type(name) == "string" and name:find("^HTTP_.") and not HIDDEN[name] then
    return field(req, name)
  end
end

--- Whether a path leads upwards or ends early for the system: applications make names of files of it.
local function is_unsafe(path)
  if path:find("%z") then
    return true
  end
  for segment in path:gmatch("[^/\\]+") do
    if segment == ".." then
      return true
    end
  end
  return false
end

--- The path below the place of the application (RFC 3875 section 4.1.5): decoded, and never empty.
local function path_info(req, prefix)
  local path = req.path
  if path:sub(1, #prefix) == prefix then
    path = path:sub(#prefix + 1)
  end
  return path == "" and "/" or path
end

--- The environment of one run. What no variable is, is the empty string.
local function environment(req, settings)
  local base = req.base_path
  local path = path_info(req, settings.script_name or base)
  if is_unsafe(path) then
    error(module.error(400, "The path leads out of the application."))
  end
  local env = {
    input = input_stream(req),
    error = error_stream(settings.error),
    SCRIPT_NAME = settings.script_name or base,
    PATH_INFO = path,
    DOCUMENT_ROOT = settings.document_root,
    PATH_TRANSLATED = settings.document_root ~= "" and settings.document_root .. path or "",
    APP_PATH = settings.app_path,
  }
  if settings.head_as_get and req.method == "HEAD" then
    env.REQUEST_METHOD = "GET"
  end
  for name, value in pairs(settings.variables) do
    env[name] = value
  end
  return setmetatable(env, {
    __index = function(self, name)
      local value = variable(req, name) or ""
      rawset(self, name, value)
      return value
    end,
  })
end

--- What an application has raised, for the server: WSAPI's { status, message } as an error with that status, text with
--- the traceback, which would end here otherwise.
local function raised(failure)
  if type(failure) == "table" and getmetatable(failure) == nil then
    local status, message = tonumber(failure[1]), failure[2]
    if status and status % 1 == 0 and status >= 400 and status <= 599 then
      return module.error(status, type(message) == "string" and message or nil)
    end
  elseif type(failure) == "string" and debug and debug.traceback then
    return debug.traceback(failure, 2)
  end
  return failure
end

--- The number of a status as WSAPI has it: 404, "404", "404 Not Found".
local function status_code(status)
  if status == nil then
    return 500
  end
  local digits = tostring(status):match("^%d+")
  local code = digits and #digits == 3 and tonumber(digits)
  if not code or code < 200 or code > 599 then
    error(("the WSAPI application has returned the status '%s'"):format(tostring(status)), 0)
  end
  return code
end

local function set_header(res, name, value)
  if type(name) ~= "string" then
    error(("the WSAPI application has returned a header with a %s as name"):format(type(name)), 0)
  end
  if SERVERS[name:lower()] then
    if name:lower() == "connection" and tostring(value):lower() == "close" then
      res:set(name, value)
    end
    return
  end
  if type(value) ~= "table" then
    res:set(name, tostring(value))
    return
  end
  local values = {}
  for index, one in ipairs(value) do
    values[index] = tostring(one)
  end
  res:set(name, values)
end

--- The body that an iterator gives, up to `most` bytes.
local function collect(iterator, most)
  if type(iterator) ~= "function" then
    if iterator == nil then
      return ""
    end
    error(("the WSAPI application has returned a %s as iterator over the body"):format(type(iterator)), 0)
  end
  local pieces, bytes = {}, 0
  while true do
    local piece = iterator()
    if not piece then
      return table.concat(pieces)
    end
    if type(piece) ~= "string" and type(piece) ~= "number" then
      error(("the WSAPI application's body has a %s in it"):format(type(piece)), 0)
    end
    piece = tostring(piece)
    bytes = bytes + #piece
    if bytes > most then
      error(("the WSAPI application's body is longer than max_response_bytes (%d)"):format(most), 0)
    end
    if piece ~= "" then
      pieces[#pieces + 1] = piece
    end
  end
end

--- Answers with what an application returns.
local function answer(res, most, status, headers, iterator)
  if status == nil and headers == nil and iterator == nil then
    error("the WSAPI application has returned nothing", 0)
  end
  if headers ~= nil and type(headers) ~= "table" then
    error(("the WSAPI application has returned a %s as headers"):format(type(headers)), 0)
  end
  local code = status_code(status)
  -- The body first: an iterator may still change the headers.
  local body = collect(iterator, most)
  res:status(code)
  for name, value in pairs(headers or {}) do
    set_header(res, name, value)
  end
  if body == "" then
    return res:finish()
  end
  return res:send(body)
end

--- wsapi(app[, options]): a handler that runs the application, a function or a table with a function `run`.
return function(app, given)
  if not is_app(app) then
    local message = "wsapi needs an application, a function or a table with a function 'run', got %s"
    error(message:format(options.describe(app)), 2)
  end
  local settings = options.read("wsapi", given, KNOWN)
  settings.variables = copy(settings.variables)
  return function(req, res)
    local _, _, most = native.surroundings(req)
    local env = environment(req, settings)
    local function run()
      -- A table is asked each time, so that it can be loaded anew.
      return answer(res, most, (type(app) == "table" and app.run or app)(env))
    end
    local fine, failure = xpcall(run, raised)
    if not fine then
      error(failure, 0)
    end
  end
end
