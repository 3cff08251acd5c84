-- application.lua [SECONDS]: what an application adds to a request, each for SECONDS in `step` (0.3 by default).
-- A figure is the whole of a request, pipelined (see pipelined.lua); what something costs is the difference to the line
-- before it.

local fastslua = require("fastslua")
local measure = dofile("bench/pipelined.lua")

local OPTIONS = { port = 0, max_requests_per_connection = 0, step_seconds = 1 }

local function get(path)
  return ("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):format(path)
end

local function unit(req, res)
  res:json({ id = req.params.id, alive = true })
end

local function pass(_, _, next)
  return next()
end

-- A parameter and a small table as JSON, without and with an application.
measure(
  "json_by_handler",
  assert(fastslua.listen(OPTIONS, function(_, res)
    res:json({ id = "42", alive = true })
  end)),
  get("/units/42")
)
measure("json_by_route", assert(fastslua.app():get("/units/:id", unit):listen(OPTIONS)), get("/units/42"))

-- A chain of functions that only pass on.
for count = 0, 5, 5 do
  local app = fastslua.app()
  for _ = 1, count do
    app:use(pass)
  end
  app:get("/units/:id", unit)
  measure(("middleware_%d"):format(count), assert(app:listen(OPTIONS)), get("/units/42"))
end

-- Many routes, asked for the last of them: literal paths, and paths with a parameter.
for _, count in ipairs({ 10, 1000 }) do
  local literal, param = fastslua.app(), fastslua.app()
  for index = 1, count do
    literal:get(("/group%d/list"):format(index), function()
      return "OK"
    end)
    param:get(("/group%d/:id/show"):format(index), unit)
  end
  measure(("routes_literal_%d"):format(count), assert(literal:listen(OPTIONS)), get(("/group%d/list"):format(count)))
  measure(("routes_param_%d"):format(count), assert(param:listen(OPTIONS)), get(("/group%d/42/show"):format(count)))
end
