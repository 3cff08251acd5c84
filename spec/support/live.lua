-- live.lua: a live server and raw clients in one thread. A client sends bytes as they are, and the server is stepped by
-- hand until what is expected has come, so no test sleeps to be right.
-- It reads responses strictly, by RFC 9112: what a test gets is never more lenient than the RFC.

local socket = require("socket")

local live = {}

-- How often the server is stepped without any news before a test is told that nothing comes. A step is followed by a
-- short rest only when there was no news, so this is about a second.
local PATIENCE_STEPS = 2000
local REST_SECONDS = 0.0005

local Client = {}
Client.__index = Client

-- A client with its connection established; the server has not accepted it yet.
function live.client(server)
  local connection = assert(socket.tcp())
  assert(connection:connect("127.0.0.1", server:port()))
  connection:setoption("tcp-nodelay", true)
  connection:settimeout(0)
  return setmetatable({ server = server, connection = connection, received = "", ended = false }, Client)
end

-- Sends all of it, stepping while the socket is full. False when the server has closed.
function Client:send(bytes)
  local from = 1
  while from <= #bytes do
    local last, problem, partial = self.connection:send(bytes, from)
    if problem == "closed" then
      return false
    end
    from = (last or partial) + 1
    self:turn()
  end
  return true
end

-- Ends the sending side.
function Client:finish()
  self.connection:shutdown("send")
end

function Client:close()
  self.connection:close()
end

-- One step of the server and one receive. True when something came.
function Client:turn()
  self.server:step()
  local whole, problem, partial = self.connection:receive(65536)
  local bytes = whole or partial or ""
  self.received = self.received .. bytes
  local news = #bytes > 0 or (problem == "closed" and not self.ended)
  self.ended = self.ended or problem == "closed"
  return news
end

-- Steps until test() gives a value, and returns it; nil when nothing comes any more.
function Client:wait(test)
  local quiet = 0
  while quiet < PATIENCE_STEPS do
    local value = test()
    if value then
      return value
    end
    if self:turn() then
      quiet = 0
    elseif self.ended then
      return test()
    else
      quiet = quiet + 1
      socket.sleep(REST_SECONDS)
    end
  end
  return nil
end

-- The next response, as { status, version, fields = { [lower-case name] = value }, body }, or nil when none comes.
-- bodiless: the response to a HEAD request.
function Client:response(bodiless)
  return self:wait(function()
    local response, rest = live.parse(self.received, bodiless, self.ended)
    if response then
      self.received = rest
    end
    return response
  end)
end

-- True when the server ends the connection and nothing more comes before that.
function Client:closed()
  self:wait(function()
    return self.ended
  end)
  return self.ended and self.received == ""
end

local function parse_fields(text)
  local fields = {}
  for line in text:gmatch("(.-)\r\n") do
    local name, value = line:match("^([%w!#$%%&'*+.^_`|~-]+):[ \t]*(.-)[ \t]*$")
    assert(name, "a bad field line: " .. line)
    assert(not value:find("[%z\1-\8\10-\31\127]"), "a control byte in a field value")
    name = name:lower()
    fields[name] = fields[name] and fields[name] .. ", " .. value or value
  end
  return fields
end

-- The content of a whole chunked body and what follows it; nil while it is not whole.
local function parse_chunks(text)
  local content = {}
  local at = 1
  while true do
    local size, after = text:match("^(%x+)\r\n()", at)
    if not size then
      assert(not text:find("\r\n", at, true), "a bad chunk size")
      return nil
    end
    local length = tonumber(size, 16)
    if length == 0 then
      local rest = text:match("^\r\n()", after)
      return rest and table.concat(content), rest and text:sub(rest)
    end
    if #text < after + length + 1 then
      return nil
    end
    content[#content + 1] = text:sub(after, after + length - 1)
    assert(text:sub(after + length, after + length + 1) == "\r\n", "a chunk without its line end")
    at = after + length + 2
  end
end

-- The first response in the text and the bytes after it; nil while it is not whole. ended: no more bytes come.
function live.parse(text, bodiless, ended)
  local head, after = text:match("^(.-\r\n)\r\n()")
  if not head then
    return nil
  end
  assert(not head:gsub("\r\n", ""):find("[\r\n]"), "a bare line end in a head")
  local version, status, fields_text = head:match("^HTTP/(1%.[01]) (%d%d%d) [^\r\n]*\r\n(.*)$")
  assert(status, "a bad status line: " .. head)
  local response = { version = version, status = tonumber(status), fields = parse_fields(fields_text), body = "" }
  local length, coding = response.fields["content-length"], response.fields["transfer-encoding"]
  assert(not (length and coding), "a length and a coding")
  if bodiless or response.status < 200 or response.status == 204 or response.status == 304 then
    return response, text:sub(after)
  end
  if coding then
    assert(coding == "chunked", "a coding that nobody asked for")
    local content, rest = parse_chunks(text:sub(after))
    response.body = content
    return content and response, rest
  end
  if length then
    assert(length:find("^%d+$"), "a bad Content-Length")
    length = tonumber(length)
    if #text < after + length - 1 then
      return nil
    end
    response.body = text:sub(after, after + length - 1)
    return response, text:sub(after + length)
  end
  response.body = text:sub(after)
  return ended and response, ""
end

return live
