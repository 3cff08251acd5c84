-- fast.lua: the routes of the benchmarks on fastslua, as an application ("app") and below it ("low"). The clients check
-- each answer, so both sides have to agree on what it is. `feature` turns one optional feature on, or off where the
-- default is on; asking for one that this version of fastslua does not have raises an error that begins "no feature".

local fastslua = require("fastslua")

local hosts = {}

local function middleware(name, options)
  local found, make = pcall(require, "fastslua.middleware." .. name)
  if not found then
    error("no feature: fastslua.middleware." .. name, 0)
  end
  return make(options)
end

-- What each feature does to the application and the options. Those that need an API probe for it.
local features = {
  remote_address = function(app)
    app:get("/health", function(req)
      return req.remote_address and "OK" or "nobody"
    end)
  end,
  guard_off = function(_, options)
    options.allowed_hosts = "*"
  end,
  middleware = function(app)
    if not app.use then
      error("no feature: app:use", 0)
    end
    app:use(function(_, _, next)
      return next()
    end)
  end,
  access_log = function(_, options)
    local lines = 0
    options.access_log = function()
      lines = lines + 1
    end
  end,
  metrics = function(app)
    app:use(middleware("metrics").middleware)
  end,
  logger = function(app)
    app:use(middleware("logger", { sink = function() end }))
  end,
}

--- An application with the routes, served with `options`; `finish` is called for /finish, `big` is what /big answers.
function hosts.app(options, finish, big, feature)
  local app = fastslua.app()
  if feature then
    features[feature](app, options)
  end
  for _, path in ipairs({ "/health", "/api/health" }) do
    app:get(path, function()
      return "OK"
    end)
  end
  app:get("/units/:id", function(req, res)
    res:json({ id = req.params.id, alive = true })
  end)
  app:get("/big", function(req, res)
    res:type("application/octet-stream"):send(big)
  end)
  app:get("/finish", function()
    finish()
    return "OK"
  end)
  local made, server, message = pcall(app.listen, app, options)
  if not made then
    error(feature and "no feature: " .. tostring(server) or server, 0)
  end
  return assert(server, message)
end

--- The same without an application: one handler that looks at the path.
function hosts.low(options, finish, big)
  return assert(fastslua.listen(options, function(req, res)
    local path = req.path
    if path == "/health" or path == "/api/health" then
      return res:text("OK")
    end
    local id = path:match("^/units/([^/]+)$")
    if id then
      return res:json({ id = id, alive = true })
    elseif path == "/big" then
      return res:type("application/octet-stream"):send(big)
    elseif path == "/finish" then
      finish()
      return res:text("OK")
    end
    res:status(404):text("Not Found")
  end))
end

return hosts
