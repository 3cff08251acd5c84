-- app.lua: the routes of the benchmarks, shared by every host in bench/. The clients check each answer, so the two
-- sides have to agree on what it is.

local fastslua = require("fastslua")

local big = ("fastslua"):rep(1024 * 1024)

local app = fastslua.app()

app:get("/health", function()
  return "OK"
end)

app:get("/units/:id", function(req, res)
  res:json({ id = req.params.id, alive = true })
end)

app:get("/big", function(req, res)
  res:type("application/octet-stream"):send(big)
end)

return app
