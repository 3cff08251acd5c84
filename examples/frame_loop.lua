-- frame_loop.lua [PORT [SECONDS]]: a program with a loop of its own, as a game or a simulator has one: sixty frames a
-- second, one server:step() in each. A step returns at once when no client wants anything, and ends within its budget
-- when many do. Prints the longest step now and then. Needs LuaSocket, for its clock and its sleep.

local fastslua = require("fastslua")
local socket = require("socket")

local FRAME_SECONDS = 1 / 60
local REPORT_SECONDS = 5

local port = tonumber(arg and arg[1]) or 8080
local seconds = tonumber(arg and arg[2]) or math.huge

-- The state of the host that the handlers show. They run inside step(), between two frames, so they may read and
-- change it without any lock.
local world = { frame = 0 }

local app = fastslua.app()
app:get("/frame", function()
  return { frame = world.frame }
end)

local server, message = app:listen({ host = "127.0.0.1", port = port })
if not server then
  io.stderr:write("cannot listen: ", message, "\n")
  os.exit(1)
end
io.stdout:write(("listening on http://%s:%d/frame\n"):format(server:address(), server:port()))
io.stdout:flush()

local started = socket.gettime()
local next_frame, next_report = started, started + REPORT_SECONDS
local longest, answered = 0, 0

while next_frame - started < seconds do
  world.frame = world.frame + 1

  local before = socket.gettime()
  answered = answered + server:step()
  local after = socket.gettime()
  longest = math.max(longest, after - before)

  if after >= next_report then
    print(("frame %d: %d requests answered, longest step %.2f ms"):format(world.frame, answered, longest * 1000))
    longest, answered, next_report = 0, 0, after + REPORT_SECONDS
  end

  next_frame = next_frame + FRAME_SECONDS
  socket.sleep(math.max(0, next_frame - socket.gettime()))
end

print(("%d frames, longest step %.2f ms"):format(world.frame, longest * 1000))
server:close()
