-- server.lua [PORT]: the application that the benchmarks ask, under server:run(). Prints its address.
-- What it offers lies in bench/app.lua; it must not do anything that a user's program would not.

local app = dofile("bench/app.lua")

-- As many requests on a connection as the servers beside it allow.
local options = { host = "127.0.0.1", port = tonumber(arg[1]) or 0, max_requests_per_connection = 0 }
local server = assert(app:listen(options))
io.stdout:write(("serving on http://127.0.0.1:%d\n"):format(server:port()))
io.stdout:flush()
server:run()
