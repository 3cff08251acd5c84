-- idle.lua: what a step costs when nobody wants anything. Prints its address; then each line of its input is a number
-- of connections: it steps until so many are open and silent, measures, and prints a line
-- `connections ns_per_step growth_kib`: the growth is that of the process since it began to listen.

local socket = require("socket")
package.path = "bench/?.lua;" .. package.path
local hosts = require("hosts.fast")

local STEPS, BATCHES = 20000, 15
local QUIET_STEPS = 1000
local PATIENCE_SECONDS = 60

local server = hosts.app({ port = 0, max_connections = 20000, max_requests_per_connection = 0 }, function() end, "")

local function rss_kib()
  local status = assert(io.open("/proc/self/status")):read("*a")
  return tonumber(status:match("VmRSS:%s+(%d+)"))
end

-- Before anybody can know of the server.
for _ = 1, STEPS do
  server:step()
end
collectgarbage()
local rss_before = rss_kib()

io.stdout:write(("serving on http://127.0.0.1:%d\n"):format(server:port()))
io.stdout:flush()

-- Steps until each connection has had the one request it makes answered, and on until all is quiet. It counts what
-- step() returns: a table of counters per step would leave garbage that shows as memory.
local function settle(connections)
  local deadline = socket.gettime() + PATIENCE_SECONDS
  local answered, quiet = 0, 0
  repeat
    local dispatched = server:step()
    answered = answered + dispatched
    quiet = answered == connections and dispatched == 0 and quiet + 1 or 0
    if quiet == 0 then
      socket.sleep(0.0002)
    end
    assert(socket.gettime() < deadline, "the connections did not come")
  until quiet == QUIET_STEPS
  assert(server:stats().active == connections, "a connection was lost")
end

-- The median of batches, since a shared machine disturbs some of them.
local function ns_per_step()
  local batches = {}
  for batch = 1, BATCHES do
    local before = socket.gettime()
    for _ = 1, STEPS do
      server:step()
    end
    batches[batch] = (socket.gettime() - before) / STEPS * 1e9
  end
  table.sort(batches)
  return batches[(BATCHES + 1) / 2]
end

for line in io.lines() do
  local connections = assert(tonumber(line), "not a number of connections")
  settle(connections)
  collectgarbage()
  io.stdout:write(("%d %.0f %d\n"):format(connections, ns_per_step(), rss_kib() - rss_before))
  io.stdout:flush()
end
