-- micro.lua [SECONDS]: kernels that Lua sees, each for SECONDS of CPU time (0.4 by default). Prints lines
-- "BENCH <name> iters=N total_us=T us_per_op=P"; P is that of the fastest tenth, since others use the machine.
--
-- `dispatch`: one of 64 pipelined requests, from the socket through route, handler and answer back to the socket.
-- What ends in `_in_lua` is plain Lua: the code of the plain-Lua server, for the work that fastslua does natively.
-- `dispatch_in_lua` has no socket, and so an advantage. The last four say how fast the machine is.

package.path = "bench/?.lua;" .. package.path

local fastslua = require("fastslua")
local http = require("plain.http")
local json = require("plain.json")
local router = require("plain.router")
local socket = require("socket")

local PIPELINED = 64
local HEAD = table.concat({
  "GET /units/42?fields=name,position HTTP/1.1",
  "Host: 127.0.0.1:8080",
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0",
  "Accept: application/json",
  "Accept-Language: en-GB,en;q=0.5",
  "Accept-Encoding: gzip, deflate",
  "Connection: keep-alive",
  "Cookie: session=0123456789abcdef",
  "\r\n",
}, "\r\n")
local LIMITS = {
  max_headers = 100,
  max_target_bytes = 8192,
  max_body_bytes = 1048576,
  allowed_hosts = { localhost = true, ["127.0.0.1"] = true },
}

local seconds = tonumber(arg and arg[1]) or 0.4

-- `run` does `operations` operations and gives the CPU seconds they took, or nil to have itself timed.
local function bench(name, operations, run)
  local iterations, total, samples = 0, 0, {}
  while total < seconds or #samples < 10 do
    local started = os.clock()
    local took = run() or os.clock() - started
    iterations, total, samples[#samples + 1] = iterations + operations, total + took, took / operations
  end
  table.sort(samples)
  local fast = samples[math.ceil(#samples / 10)] * 1e6
  print(("BENCH %s iters=%d total_us=%.0f us_per_op=%.4f"):format(name, iterations, total * 1e6, fast))
end

local function repeated(name, times, run)
  bench(name, times, function()
    for _ = 1, times do
      run()
    end
  end)
end

local function bench_dispatch()
  local app = fastslua.app()
  app:get("/units/:id", function(req, res)
    res:json({ id = req.params.id, alive = true })
  end)
  local server = assert(app:listen({ port = 0, max_requests_per_connection = 0, step_seconds = 1 }))
  local client = assert(socket.connect("127.0.0.1", server:port()))
  local requests = HEAD:rep(PIPELINED)
  bench("dispatch", PIPELINED, function()
    assert(client:send(requests))
    local dispatched = 0
    local started = os.clock()
    repeat
      dispatched = dispatched + server:step()
    until dispatched == PIPELINED
    local took = os.clock() - started
    for _ = 1, PIPELINED do
      assert(client:receive("*l") == "HTTP/1.1 200 OK")
      local length
      repeat
        local line = assert(client:receive("*l"))
        length = length or line:lower():match("^content%-length: (%d+)$")
      until line == ""
      assert(#client:receive(tonumber(length)) == tonumber(length))
    end
    return took
  end)
  client:close()
  server:close()
end

local function bench_twins()
  local stop = HEAD:find("\r\n\r\n", 1, true)
  local routes = router.new()
  for group = 0, 24 do
    for _, pattern in ipairs({ "", "/:id", "/:id/parts", "/:id/parts/:part" }) do
      routes:add("GET", "/api/group" .. group .. pattern, function() end)
    end
  end
  local units = router.new()
  units:add("GET", "/units/:id", function(_, params)
    return 200, "application/json", json.encode({ id = params.id, alive = true })
  end)
  repeated("head_parse_in_lua", 1024, function()
    local _, last = HEAD:find("\r\n\r\n", 1, true)
    assert(http.read_head(HEAD, last - 1, LIMITS))
  end)
  repeated("route_match_in_lua", 1024, function()
    local _, params = routes:find("GET", "/api/group17/4711/parts/12")
    assert(params.part == "12")
  end)
  -- A length of its own for each, or LuaJIT would make the head only once.
  local length = 0
  repeated("response_encode_in_lua", 1024, function()
    length = length % 100000 + 1
    assert(#http.write_head(200, "application/json", length, 784111777) > 100)
  end)
  repeated("dispatch_in_lua", 1024, function()
    local request = assert(http.read_head(HEAD, stop + 2, LIMITS))
    local handler, params = units:find(request.method, request.path)
    local status, media_type, body = handler(request, params)
    assert(#(http.write_head(status, media_type, #body, 784111777) .. body) > 100)
  end)
end

local function fib(n)
  if n < 2 then
    return n
  end
  return fib(n - 1) + fib(n - 2)
end

local function bench_machine()
  bench("int_loop", 1, function()
    local sum = 0
    for step = 1, 1000000 do
      sum = (sum * 31 + step) % 1000003
    end
    assert(sum == 960218)
  end)
  bench("fib30", 1, function()
    assert(fib(30) == 832040)
  end)
  bench("string_concat", 1, function()
    local text = ""
    for _ = 1, 1000 do
      text = text .. "abc"
    end
    assert(#text == 3000)
  end)
  bench("array_push", 1, function()
    local array = {}
    for step = 1, 100000 do
      array[#array + 1] = step
    end
    assert(#array == 100000)
  end)
end

bench_dispatch()
bench_twins()
bench_machine()
