-- Applications: routes with their handlers, and the way to serve them.
--
-- Routes are matched natively: this file registers patterns in a native router and keeps one function per route, at
-- the route's slot + 1 of `_chains`, which the server calls with (req, res). Nothing here runs while a request is
-- handled, but the chain of a route that has several handlers.

local _, _, native = ...

local application = {}

local Application = {}
Application.__index = Application
Application.__name = "fastslua.app"

function Application.__tostring(app)
  return ("fastslua.app (%d routes)"):format(app._count)
end

--- What a value is, for messages.
local function describe(value)
  if value == nil then
    return "nil"
  end
  return "a " .. type(value)
end

--- Checks what was given for a route; errors point to the caller of `app:get`.
local function check_route(app, name, path, handlers, count)
  if getmetatable(app) ~= Application then
    error(("app:%s needs an application before the colon, got %s"):format(name, describe(app)), 4)
  end
  if type(path) ~= "string" then
    error(("app:%s needs a path as string, got %s"):format(name, describe(path)), 4)
  end
  if path:sub(1, 1) ~= "/" then
    error(("app:%s('%s'): a path begins with '/'"):format(name, path), 4)
  end
  if count == 0 then
    error(("app:%s('%s') needs a handler"):format(name, path), 4)
  end
  for index = 1, count do
    if type(handlers[index]) ~= "function" then
      local what = count == 1 and "the handler" or ("handler %d"):format(index)
      error(("app:%s('%s'): %s is %s, not a function"):format(name, path, what, describe(handlers[index])), 4)
    end
  end
end

--- One function that calls the handlers in turn; each gets the next one as third argument.
local function compose(handlers, count)
  if count == 1 then
    return handlers[1]
  end
  local chain = handlers[count]
  for index = count - 1, 1, -1 do
    local handler, rest = handlers[index], chain
    chain = function(req, res)
      return handler(req, res, function()
        return rest(req, res)
      end)
    end
  end
  return chain
end

local function add(app, name, method, path, ...)
  local handlers, count = { ... }, select("#", ...)
  check_route(app, name, path, handlers, count)
  local slot, message = app._router:add(method, path)
  if not slot then
    error(("app:%s('%s'): %s"):format(name, path, message), 3)
  end
  app._chains[slot + 1] = compose(handlers, count)
  app._count = app._count + 1
  return app
end

for _, name in ipairs({ "get", "post", "put", "patch", "delete", "options", "head" }) do
  local method = name:upper()
  --- app:get(path, handler, ...): the application.
  Application[name] = function(app, path, ...)
    -- In parentheses: no tail call, so that the levels of errors count the same everywhere.
    return (add(app, name, method, path, ...))
  end
end

--- app:all(path, handler, ...): every method.
function Application.all(app, path, ...)
  return (add(app, "all", "*", path, ...))
end

--- app:listen(port) or app:listen(options): a server, or nil, message, code.
Application.listen = native.listen

--- fastslua.app(): an application without routes.
function application.new(...)
  if select("#", ...) > 0 then
    error("fastslua.app takes no arguments", 2)
  end
  return setmetatable({ _router = native.router(), _chains = {}, _count = 0 }, Application)
end

return application
