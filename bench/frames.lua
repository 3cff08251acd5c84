-- frames.lua SECONDS: a host with sixty frames a second that serves the benchmark application, default options.
-- Prints its address, and at the end one line: frames, requests dispatched, step times in microseconds by the wall
-- clock (p50, p99, longest), the longest by CPU time, steps longer than a frame, CPU seconds of the whole process.
-- The wall clock is what a game feels; CPU time tells a long step from one during which the system ran somebody else.

local socket = require("socket")
local app = dofile("bench/app.lua")

local FRAME_SECONDS = 1 / 60

local seconds = tonumber(arg[1]) or 10
local server = assert(app:listen({ port = 0 }))
io.stdout:write(("serving on http://127.0.0.1:%d\n"):format(server:port()))
io.stdout:flush()

local steps, dispatched, longest_cpu, over = {}, 0, 0, 0
local cpu_started = os.clock()
local started = socket.gettime()
local next_frame = started

while next_frame - started < seconds do
  local cpu_before, before = os.clock(), socket.gettime()
  dispatched = dispatched + server:step()
  local took, cpu = socket.gettime() - before, os.clock() - cpu_before
  steps[#steps + 1] = took
  longest_cpu = math.max(longest_cpu, cpu)
  if took > FRAME_SECONDS then
    over = over + 1
  end
  next_frame = next_frame + FRAME_SECONDS
  socket.sleep(math.max(0, next_frame - socket.gettime()))
end

local cpu_seconds = os.clock() - cpu_started
table.sort(steps)
local function microseconds(share)
  return steps[math.max(1, math.ceil(#steps * share))] * 1e6
end
io.stdout:write(("frames=%d dispatched=%d over_frame=%d "):format(#steps, dispatched, over))
io.stdout:write(("p50_us=%.0f p99_us=%.0f max_us=%.0f "):format(microseconds(0.5), microseconds(0.99), microseconds(1)))
io.stdout:write(("max_cpu_us=%.0f cpu_seconds=%.3f\n"):format(longest_cpu * 1e6, cpu_seconds))
server:close()
