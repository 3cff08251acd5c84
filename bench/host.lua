-- host.lua NAME=VALUE...: the program that a server lives in while it is measured.
--   server=app|low|plain   what serves: hosts/*.lua
--   profile=default|...    options.lua
--   loop=frames|run        sixty frames a second with one step in each, or server:run()
--   port=N  feature=NAME
--   big=yes                /big answers 8 MiB; otherwise it is empty, and the heap is small
--   collect=yes            collects once a second between two steps: the heap is what is held
-- Prints its address, and for frames the address that takes the marks `begin` and `end` of the measured window.
-- GET /finish ends it; then it prints one line of JSON. Times are microseconds by the wall clock and by CPU time: the
-- first is what a game feels, the second tells a long step from one during which the system ran somebody else.

package.path = "bench/?.lua;" .. package.path

local socket = require("socket")

local FRAME_SECONDS = 1 / 60
-- Frames after /finish, for the answer to get away.
local LAST_FRAMES = 3
local HEAP_SAMPLE_TURNS = 64

local given = {}
for _, word in ipairs(arg) do
  local name, value = word:match("^(%w+)=(.+)$")
  given[name or error("not NAME=VALUE: " .. word)] = value
end

local finished = false
local function finish()
  finished = true
end

local function start()
  local options = { host = "127.0.0.1", port = tonumber(given.port) or 0 }
  for name, value in pairs(require("options")[given.profile or "default"]) do
    options[name] = value
  end
  local kind = given.server or "app"
  local hosts = require(kind == "plain" and "hosts.plain" or "hosts.fast")
  local big = given.big and ("fastslua"):rep(1024 * 1024) or ""
  return hosts[kind](options, finish, big, given.feature)
end

local function rss_kib()
  local file = io.open("/proc/self/status")
  if not file then
    return 0
  end
  local text = file:read("*a")
  file:close()
  return tonumber(text:match("VmRSS:%s+(%d+)")) or 0
end

local function list(values, pattern)
  local texts = {}
  for index = 1, #values do
    texts[index] = pattern:format(values[index])
  end
  return "[" .. table.concat(texts, ",") .. "]"
end

-- What was measured since the mark `begin`.
local function new_record()
  return {
    steps = {},
    cpu = {},
    dispatched = 0,
    heap_peak = collectgarbage("count"),
    heap = {},
    rss = {},
    next_sample = 0,
  }
end

local function print_record(record)
  io.stdout:write(('{"dispatched":%d,"heap_peak_kib":%.0f,'):format(record.dispatched, record.heap_peak))
  io.stdout:write('"steps_us":', list(record.steps, "%.0f"), ',"steps_cpu_us":', list(record.cpu, "%.0f"))
  io.stdout:write(',"heap_kib":', list(record.heap, "%.0f"), ',"rss_kib":', list(record.rss, "%.0f"), "}\n")
end

-- Once a second what the memory is, outside of the steps that are timed.
local function sample_memory(record, now)
  if now >= record.next_sample then
    if given.collect then
      collectgarbage()
    end
    record.heap[#record.heap + 1] = collectgarbage("count")
    record.rss[#record.rss + 1] = rss_kib()
    record.next_sample = now + 1
  end
end

local function timed_step(server, record)
  local cpu_before, before = os.clock(), socket.gettime()
  local dispatched = server:step()
  local after, cpu_after = socket.gettime(), os.clock()
  local count = #record.steps + 1
  record.steps[count] = (after - before) * 1e6
  record.cpu[count] = (cpu_after - cpu_before) * 1e6
  record.dispatched = record.dispatched + dispatched
  record.heap_peak = math.max(record.heap_peak, collectgarbage("count"))
  return after
end

local function run_frames(server, marks)
  local record, kept = new_record(), nil
  local next_frame = socket.gettime()
  local left = LAST_FRAMES
  while left > 0 do
    local now = timed_step(server, record)
    local mark = marks:receive()
    if mark == "begin" then
      -- What was made at the start is no garbage of the server's.
      collectgarbage()
      record, kept = new_record(), nil
    elseif mark == "end" then
      kept, record = record, new_record()
    end
    sample_memory(record, now)
    left = finished and left - 1 or left
    -- A host that is late does not run frames twice as fast afterwards.
    next_frame = math.max(next_frame + FRAME_SECONDS, now)
    socket.sleep(math.max(0, next_frame - socket.gettime()))
  end
  return kept or record
end

local function run_tight(server)
  local record = new_record()
  local turns = 0
  server:run(function()
    turns = turns + 1
    if turns % HEAP_SAMPLE_TURNS == 0 then
      record.heap_peak = math.max(record.heap_peak, collectgarbage("count"))
    end
    return finished
  end)
  return record
end

local started, server = pcall(start)
if not started then
  -- Said where the suite listens: that a feature is not there is no failure.
  print(server)
  os.exit(1)
end
collectgarbage()
io.stdout:write(("serving on http://127.0.0.1:%d\n"):format(server:port()))
if given.loop == "frames" then
  local marks = assert(socket.udp())
  assert(marks:setsockname("127.0.0.1", 0))
  marks:settimeout(0)
  local address, port = marks:getsockname()
  io.stdout:write(("marks on http://%s:%d\n"):format(address, port))
  io.stdout:flush()
  print_record(run_frames(server, marks))
else
  io.stdout:flush()
  print_record(run_tight(server))
end
server:close()
