-- pipelined.lua: what a request costs a server, from socket to socket, on one connection in batches of 64. Returns
-- measure(name, server, bytes), which prints "BENCH <name> iters=N total_us=T us_per_op=P" and closes the server; P is
-- that of the fastest tenth of the batches, since others use the machine. Only the time within `step` counts.

local fastslua = require("fastslua")
local socket = require("socket")

local PIPELINED = 64

local seconds = tonumber(arg and arg[1]) or 0.3

-- Time in `step` for one batch.
local function batch(server, client, bytes)
  assert(client:send(bytes))
  local spent, answered = 0, 0
  while answered < PIPELINED do
    local began = fastslua.now()
    answered = answered + server:step()
    spent = spent + fastslua.now() - began
    repeat
      local whole = client:receive(65536)
    until not whole
  end
  return spent
end

-- `bytes` are one request; the server allows any number of them on a connection.
local function measure(name, server, bytes)
  local client = assert(socket.connect("127.0.0.1", server:port()))
  client:setoption("tcp-nodelay", true)
  client:settimeout(0)
  local total, samples = 0, {}
  while total < seconds or #samples < 10 do
    local spent = batch(server, client, bytes:rep(PIPELINED))
    total = total + spent
    samples[#samples + 1] = spent
  end
  client:close()
  server:close()
  table.sort(samples)
  local fastest = samples[math.ceil(#samples / 10)] / PIPELINED
  local line = "BENCH %s iters=%d total_us=%.0f us_per_op=%.3f"
  print(line:format(name, #samples * PIPELINED, total * 1e6, fastest * 1e6))
end

return measure
