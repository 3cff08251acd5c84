-- server.lua: an HTTP server in plain Lua 5.1 over LuaSocket, by the transport rules that fastslua follows: nothing
-- waits, each connection keeps its own state, a visit receives and sends a bounded number of bytes, responses go on
-- where they stopped, who was not reached comes first in the next step, and the same limits hold. One request per
-- connection.
--
-- It is what a good script without native code can be: one select per step, no table or closure per visit that is
-- not needed, large bodies sent from where they lie. Handlers return status, media type, body.

local http = require("plain.http")
local socket = require("socket")

local server = {}
local Server = {}
Server.__index = Server

local find, gettime, select_sockets = string.find, socket.gettime, socket.select

-- select() knows no descriptors above 1023; a few belong to the host.
local CONNECTIONS_MAX = 1000
-- Bodies up to here are joined with their head: one send is cheaper than one copy.
local JOIN_BYTES_MAX = 64 * 1024
-- Overdue connections are looked for this often; time-outs are that much longer at most.
local SWEEP_SECONDS = 0.25
-- How long a refused client may go on sending before the connection is cut.
local LINGER_SECONDS = 1

local defaults = {
  host = "127.0.0.1",
  backlog = 512,
  max_connections = CONNECTIONS_MAX,
  max_header_bytes = 16384,
  max_headers = 100,
  max_target_bytes = 8192,
  max_body_bytes = 1048576,
  header_timeout = 10,
  body_timeout = 30,
  keep_alive_timeout = 60,
  write_timeout = 30,
  step_seconds = 0.002,
  max_accepts_per_step = 64,
  max_io_bytes_per_step = 4194304,
  max_io_bytes_per_visit = 262144,
  allowed_hosts = { localhost = true, ["127.0.0.1"] = true, ["[::1]"] = true },
}

-- An array of sockets for select() from which one can be removed in constant time.
local function new_set()
  return { at = {} }
end

local function add(set, sock)
  if not set.at[sock] then
    set[#set + 1] = sock
    set.at[sock] = #set
  end
end

local function remove(set, sock)
  local at = set.at[sock]
  if at then
    local last = set[#set]
    set[at], set.at[last] = last, at
    set[#set] = nil
    set.at[sock] = nil
  end
end

--- A server on that port, or nil and a message. `handler(request)` returns status, media type, body.
function server.listen(options, handler)
  local limits = setmetatable({}, { __index = defaults })
  for name, value in pairs(options) do
    limits[name] = value
  end
  local listener, message = socket.tcp()
  if not listener then
    return nil, message
  end
  listener:setoption("reuseaddr", true)
  local good, failure = listener:bind(limits.host, limits.port)
  if good then
    good, failure = listener:listen(limits.backlog)
  end
  if not good then
    listener:close()
    return nil, failure
  end
  listener:settimeout(0)
  listener:setoption("tcp-nodelay", true)
  local self = setmetatable({
    limits = limits,
    handler = handler,
    listener = listener,
    readers = new_set(),
    writers = new_set(),
    -- Connections by socket; those whose turn it is, in order, from `first` to `last`.
    connections = {},
    count = 0,
    queue = {},
    first = 1,
    last = 0,
    next_sweep = 0,
    dispatched = 0,
  }, Server)
  add(self.readers, listener)
  return self
end

function Server:port()
  local _, port = self.listener:getsockname()
  return tonumber(port)
end

function Server:drop(connection)
  local sock = connection.socket
  remove(self.readers, sock)
  remove(self.writers, sock)
  sock:close()
  self.connections[sock] = nil
  self.count = self.count - 1
  connection.socket = nil
end

-- The oldest connection that has sent nothing makes room.
function Server:evict()
  local oldest
  for _, connection in pairs(self.connections) do
    if connection.silent and (not oldest or connection.since < oldest.since) then
      oldest = connection
    end
  end
  if oldest then
    self:drop(oldest)
  end
  return oldest ~= nil
end

function Server:enqueue(connection)
  if not connection.queued then
    connection.queued = true
    self.last = self.last + 1
    self.queue[self.last] = connection
  end
end

function Server:accept(now, deadline)
  local limits = self.limits
  for _ = 1, limits.max_accepts_per_step do
    local sock = self.listener:accept()
    if not sock then
      return
    end
    sock:settimeout(0)
    if self.count >= limits.max_connections and not self:evict() then
      sock:send(http.refusal(503, now))
      sock:close()
    else
      local connection =
        { socket = sock, since = now, due = now + limits.keep_alive_timeout, silent = true, input = "" }
      self.connections[sock] = connection
      self.count = self.count + 1
      add(self.readers, sock)
      -- Most have sent their request by the time they are accepted.
      self:enqueue(connection)
    end
    if gettime() >= deadline then
      return
    end
  end
end

-- Prepares `connection` to send; nothing more is received on it.
function Server:answer(connection, head, body, now)
  connection.output, connection.sent, connection.body = head, 0, body
  connection.due = now + self.limits.write_timeout
  remove(self.readers, connection.socket)
end

function Server:refuse(connection, status, now)
  connection.lingers = true
  self:answer(connection, http.refusal(status, now), nil, now)
end

-- Sends at most `budget` bytes; ends the connection when all is sent. Bytes sent.
function Server:send(connection, budget, now)
  local sock, output, sent = connection.socket, connection.output, connection.sent
  local start = sent
  local last, failure, partial = sock:send(output, sent + 1, math.min(#output, sent + budget))
  sent = last or partial or sent
  connection.sent = sent
  if failure and failure ~= "timeout" then
    self:drop(connection)
  elseif sent < #output then
    if sent > start then
      connection.due = now + self.limits.write_timeout
    end
    add(self.writers, sock)
  elseif connection.body then
    connection.output, connection.sent, connection.body = connection.body, 0, nil
    add(self.writers, sock)
  elseif connection.lingers then
    -- Closing with unread input would reset the connection and destroy the answer.
    sock:shutdown("send")
    connection.draining, connection.output, connection.due = true, nil, now + LINGER_SECONDS
    remove(self.writers, sock)
    add(self.readers, sock)
  else
    self:drop(connection)
  end
  return sent - start
end

function Server:dispatch(connection, request, now)
  self.dispatched = self.dispatched + 1
  local good, status, media_type, body = pcall(self.handler, request)
  if not good then
    status, media_type, body = 500, "text/plain; charset=utf-8", "Internal Server Error"
  end
  local head = http.write_head(status, media_type, #body, now)
  if request.method == "HEAD" then
    body = ""
  end
  if #body <= JOIN_BYTES_MAX then
    return self:answer(connection, head .. body, nil, now)
  end
  self:answer(connection, head, body, now)
end

-- Looks at what has come; true when the request was answered or refused.
function Server:parse(connection, now)
  local limits, input, request = self.limits, connection.input, connection.request
  if not request then
    local stop = find(input, "\r\n\r\n", connection.scanned or 1, true)
    if not stop then
      -- The end of the head may be cut in the middle.
      connection.scanned = math.max(1, #input - 2)
      if #input > limits.max_header_bytes then
        self:refuse(connection, 431, now)
        return true
      end
      return false
    end
    local status
    request, status = http.read_head(input, stop + 1, limits)
    if not request then
      self:refuse(connection, status, now)
      return true
    end
    connection.request, connection.body_start = request, stop + 4
    connection.due = now + limits.body_timeout
  end
  local have = #input - connection.body_start + 1
  if have < request.body_bytes then
    return false
  end
  if request.body_bytes > 0 then
    request.body = input:sub(connection.body_start, connection.body_start + request.body_bytes - 1)
  end
  -- More than one request asks for is left unread: the connection ends with this answer.
  connection.lingers = have > request.body_bytes
  self:dispatch(connection, request, now)
  return true
end

-- Receives once, at most `budget` bytes; gives the bytes received.
function Server:receive(connection, budget, now)
  local data, failure, partial = connection.socket:receive(budget)
  data = data or partial
  local bytes = #data
  if connection.draining then
    if failure == "closed" then
      self:drop(connection)
    end
    return bytes
  end
  if bytes > 0 then
    if connection.silent then
      connection.silent = false
      connection.due = now + self.limits.header_timeout
    elseif connection.request then
      connection.due = now + self.limits.body_timeout
    end
    connection.input = connection.input == "" and data or connection.input .. data
    if self:parse(connection, now) then
      return bytes + self:send(connection, budget, now)
    end
  end
  if failure == "closed" then
    self:drop(connection)
  end
  return bytes
end

-- One unit of work on a connection; bytes moved.
function Server:visit(connection, now)
  connection.queued = false
  if not connection.socket then
    return 0
  end
  local budget = self.limits.max_io_bytes_per_visit
  if connection.output then
    return self:send(connection, budget, now)
  end
  return self:receive(connection, budget, now)
end

function Server:sweep(now)
  if now < self.next_sweep then
    return
  end
  self.next_sweep = now + SWEEP_SECONDS
  for _, connection in pairs(self.connections) do
    if now >= connection.due then
      if connection.silent or connection.output or connection.draining then
        self:drop(connection)
      else
        self:refuse(connection, 408, now)
        self:enqueue(connection)
      end
    end
  end
end

function Server:turn(wait, seconds)
  local readable, writable = select_sockets(self.readers, self.writers, wait)
  local now = gettime()
  local deadline = now + seconds
  self:sweep(now)
  local listening
  for index = 1, #writable do
    self:enqueue(self.connections[writable[index]])
  end
  for index = 1, #readable do
    local connection = self.connections[readable[index]]
    if connection then
      self:enqueue(connection)
    else
      listening = true
    end
  end
  if listening then
    self:accept(now, deadline)
  end
  local dispatched, bytes = self.dispatched, 0
  while self.first <= self.last do
    local first = self.first
    local connection = self.queue[first]
    self.queue[first], self.first = nil, first + 1
    bytes = bytes + self:visit(connection, now)
    now = gettime()
    if now >= deadline or bytes >= self.limits.max_io_bytes_per_step then
      break
    end
  end
  return self.dispatched - dispatched, self.last - self.first + 1
end

--- One bounded turn: requests dispatched, connections still waiting for their turn.
function Server:step(seconds)
  return self:turn(0, seconds or self.limits.step_seconds)
end

--- Waits for events and steps, until `until_fn()` is true, which is asked after each turn and every 50 ms.
function Server:run(until_fn)
  repeat
    self:turn(self.first <= self.last and 0 or 0.05, self.limits.step_seconds)
  until until_fn()
end

function Server:close()
  for _, connection in pairs(self.connections) do
    connection.socket:close()
  end
  self.connections, self.count = {}, 0
  self.readers, self.writers = new_set(), new_set()
  self.listener:close()
end

return server
