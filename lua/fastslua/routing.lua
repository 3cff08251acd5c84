-- Routers and applications while they are put together: routes, middleware, hooks and error handlers, in order.
--
-- Nothing here runs while a request is handled. What is wrong with a call is raised at its caller, and has changed
-- nothing. Every change marks the applications that the router is part of, and they are compiled anew before their next
-- request (see compiler.lua).

local _, _, native = ...

local patterns = native.layer("fastslua.patterns")

local routing = {}

--- The metatables of routers and applications.
local classes = {}

--- What routers and applications share; errors call `self._kind` what it is.
local Router = {}

--- What a value is, for messages.
local function describe(value)
  if value == nil then
    return "nil"
  end
  return "a " .. type(value)
end

local function is_router(value)
  return type(value) == "table" and classes[getmetatable(value)] == true
end

--- Everything that contains the router has to be compiled anew.
local function touch(router)
  if router._router then
    router._router:touch()
  end
  for parent in pairs(router._parents) do
    touch(parent)
  end
end

--- Whether `router` is `other` or has it somewhere below.
local function contains(router, other)
  if router == other then
    return true
  end
  for _, item in ipairs(router._items) do
    for _, entry in ipairs(item.entries or {}) do
      if type(entry) == "table" and contains(entry, other) then
        return true
      end
    end
  end
  return false
end

--- What is wrong with the object before the colon.
local function wrong_self(self, method)
  if not is_router(self) then
    return ("app:%s needs an application before the colon, got %s"):format(method, describe(self))
  end
end

local function wrong_path(self, method, path, what)
  if type(path) ~= "string" then
    return ("%s:%s needs a %s as string, got %s"):format(self._kind, method, what, describe(path))
  end
  if path:sub(1, 1) ~= "/" then
    return ("%s:%s('%s'): a %s begins with '/'"):format(self._kind, method, path, what)
  end
end

--- What is wrong with a list of functions; `also` tells what else may stand in it.
local function wrong_functions(where, list, count, also)
  if count == 0 then
    return where .. " needs a handler"
  end
  for index = 1, count do
    local value = list[index]
    if type(value) ~= "function" and not (also and is_router(value)) then
      local what = count == 1 and "the handler" or ("handler %d"):format(index)
      return ("%s: %s is %s, not a function%s"):format(where, what, describe(value), also or "")
    end
  end
end

--- The names of a pattern's parameters, as a list; or nil and what is wrong.
local function param_names(self, method, path)
  local text, message = native.check(method, path, self._case_sensitive, self._strict)
  if not text then
    return nil, message
  end
  local names = {}
  for name in text:gmatch("[^\n]+") do
    names[#names + 1] = name
  end
  return names
end

--- Adds a route; or tells what is wrong with it.
local function add_route(self, call, method, path, ...)
  local handlers, count = { ... }, select("#", ...)
  local message = wrong_self(self, call) or wrong_path(self, call, path, "path")
  if message then
    return message
  end
  local where = ("%s:%s('%s')"):format(self._kind, call, path)
  message = wrong_functions(where, handlers, count)
  if message then
    return message
  end
  local params
  params, message = param_names(self, method, path)
  if not params then
    return where .. ": " .. message
  end
  local item = { method = method, path = path, params = params, handlers = handlers }
  self._items[#self._items + 1] = item
  self._last = item
  touch(self)
end

for _, name in ipairs({ "get", "post", "put", "patch", "delete", "options", "head", "all" }) do
  local method = name == "all" and "*" or name:upper()
  --- app:get(path, handler, ...): the application.
  Router[name] = function(self, path, ...)
    local message = add_route(self, name, method, path, ...)
    if message then
      error(message, 2)
    end
    return self
  end
end

--- app:method(method, path, handler, ...): a route for any method, as it is sent.
function Router.method(self, method, path, ...)
  local message = wrong_self(self, "method")
  if not message and type(method) ~= "string" then
    message = ("%s:method needs a method as string, got %s"):format(self._kind, describe(method))
  end
  message = message or add_route(self, "method", method, path, ...)
  if message then
    error(message, 2)
  end
  return self
end

local Route = {}
Route.__index = Route
Route.__name = "fastslua.route"

for _, name in ipairs({ "get", "post", "put", "patch", "delete", "options", "head", "all" }) do
  local method = name == "all" and "*" or name:upper()
  Route[name] = function(route, ...)
    local message = add_route(route._router, name, method, route._path, ...)
    if message then
      error(message, 2)
    end
    return route
  end
end

--- app:route(path): an object with get, post and so on that add routes for this path, and return it.
function Router.route(self, path)
  local message = wrong_self(self, "route") or wrong_path(self, "route", path, "path")
  if message then
    error(message, 2)
  end
  return setmetatable({ _router = self, _path = path }, Route)
end

--- The item that `use` adds; or nil and what is wrong.
local function new_use(self, ...)
  local entries, count, prefix = { ... }, select("#", ...), "/"
  if type(entries[1]) == "string" then
    prefix = table.remove(entries, 1)
    count = count - 1
  end
  local message = wrong_path(self, "use", prefix, "prefix")
  if message then
    return nil, message
  end
  local where = ("%s:use('%s')"):format(self._kind, prefix)
  message = wrong_functions(where, entries, count, ", a router or an application")
  if message then
    return nil, message
  end
  for _, entry in ipairs(entries) do
    if type(entry) == "table" and contains(entry, self) then
      return nil, where .. ": a router cannot be mounted into itself"
    end
  end
  local params
  params, message = param_names(self, nil, prefix)
  if not params then
    return nil, where .. ": " .. message
  end
  return { prefix = prefix, params = params, entries = entries }
end

--- app:use([prefix,] ...): middleware, routers and applications for every path under the prefix.
function Router.use(self, ...)
  local message = wrong_self(self, "use")
  local item
  if not message then
    item, message = new_use(self, ...)
  end
  if message then
    error(message, 2)
  end
  for _, entry in ipairs(item.entries) do
    if type(entry) == "table" then
      entry._parents[self] = true
    end
  end
  self._items[#self._items + 1] = item
  touch(self)
  return self
end

--- app:param(name, fn): fn(req, res, next, value, name) runs before the handlers of routes with that parameter.
function Router.param(self, name, ...)
  local message = wrong_self(self, "param")
  if not message then
    if type(name) ~= "string" or not name:find("^[%a_][%w_]*$") then
      message = ("%s:param needs the name of a parameter, got %s"):format(
        self._kind,
        type(name) == "string" and ("'%s'"):format(name) or describe(name)
      )
    else
      message = wrong_functions(("%s:param('%s')"):format(self._kind, name), { ... }, select("#", ...))
    end
  end
  if message then
    error(message, 2)
  end
  local hooks = self._hooks[name] or {}
  self._hooks[name] = hooks
  for _, hook in ipairs({ ... }) do
    hooks[#hooks + 1] = hook
  end
  touch(self)
  return self
end

--- app:on_error(fn, ...): fn(err, req, res, next) runs when a function of this router, or of one below, has failed.
function Router.on_error(self, ...)
  local message = wrong_self(self, "on_error")
    or wrong_functions(("%s:on_error"):format(self._kind), { ... }, select("#", ...))
  if message then
    error(message, 2)
  end
  for _, handler in ipairs({ ... }) do
    self._errors[#self._errors + 1] = handler
  end
  touch(self)
  return self
end

--- Walks over the routes of a router and of those below it, in order: visit(router, index, item, parts, used), where
--- `parts` are the prefixes before it. Ends with what `visit` returns, when that is true.
local function each_route(self, visit, parts)
  parts = parts or {}
  for index, item in ipairs(self._items) do
    local result
    if item.entries then
      local below = patterns.below(parts, item.prefix)
      for _, entry in ipairs(item.entries) do
        result = result or (type(entry) == "table" and each_route(entry, visit, below))
      end
    else
      result = visit(self, index, item, parts)
    end
    if result then
      return result
    end
  end
end

--- The route of that name: { router, index, item, parts }, or nil.
local function find_name(self, name)
  return each_route(self, function(router, index, item, parts)
    return item.name == name and { router = router, index = index, item = item, parts = parts }
  end)
end

--- app:name(name): names the route that was added last.
function Router.name(self, name)
  local message = wrong_self(self, "name")
  if not message then
    if type(name) ~= "string" or name == "" then
      message = ("%s:name needs a name as string, got %s"):format(self._kind, describe(name))
    elseif not self._last then
      message = ("%s:name('%s'): no route was added before it"):format(self._kind, name)
    elseif find_name(self, name) then
      message = ("%s:name('%s'): the route %s has this name"):format(self._kind, name, find_name(self, name).item.path)
    end
  end
  if message then
    error(message, 2)
  end
  self._last.name = name
  return self
end

--- The route that `remove` and `replace` mean: by name, or by the method and the path as they were registered here.
local function find_route(self, call, first, path)
  if type(first) ~= "string" then
    return nil, ("%s:%s needs a name, or a method and a path, got %s"):format(self._kind, call, describe(first))
  end
  if path == nil then
    return find_name(self, first), ("%s:%s('%s'): there is no route of this name"):format(self._kind, call, first)
  end
  local method = first:lower() == "all" and "*" or first
  for index, item in ipairs(self._items) do
    if item.method == method and item.path == path then
      return { router = self, index = index, item = item }
    end
  end
  return nil, ("%s:%s('%s', '%s'): there is no such route"):format(self._kind, call, first, path)
end

--- app:remove(name) or app:remove(method, path): whether there was such a route.
function Router.remove(self, first, path)
  local message = wrong_self(self, "remove")
  if message or type(first) ~= "string" then
    error(message or select(2, find_route(self, "remove", first, path)), 2)
  end
  local found = find_route(self, "remove", first, path)
  if not found then
    return false
  end
  table.remove(found.router._items, found.index)
  if found.router._last == found.item then
    found.router._last = nil
  end
  touch(found.router)
  return true
end

--- app:replace(name, handler, ...) or app:replace(method, path, handler, ...): other handlers in the same place.
function Router.replace(self, first, ...)
  local message = wrong_self(self, "replace")
  local found
  local path = type((...)) == "string" and (...) or nil
  local handlers = { select(path and 2 or 1, ...) }
  if not message then
    found, message = find_route(self, "replace", first, path)
    if found then
      local where = ("%s:replace('%s')"):format(self._kind, found.item.path)
      message = wrong_functions(where, handlers, select("#", ...) - (path and 1 or 0))
    end
  end
  if message then
    error(message, 2)
  end
  found.item.handlers = handlers
  touch(found.router)
  return self
end

--- app:url(name, params): the path of a route with these parameters, escaped.
function Router.url(self, name, params)
  local message = wrong_self(self, "url")
  local path
  if not message then
    local found
    found, message = find_route(self, "url", name)
    if found then
      path, message = patterns.build(found.parts, found.item.path, params or {})
      message = message and ("%s:url('%s'): %s"):format(self._kind, name, message)
    end
  end
  if message then
    error(message, 2)
  end
  return path
end

--- app:routes(): a list of { method, path, name, handlers }, in the order in which they are tried. `method` is "*" for
--- all, `handlers` their number.
function Router.routes(self)
  local message = wrong_self(self, "routes")
  if message then
    error(message, 2)
  end
  local list = {}
  each_route(self, function(_, _, item, parts)
    list[#list + 1] = {
      method = item.method,
      path = patterns.join(parts, item.path),
      name = item.name,
      handlers = #item.handlers,
    }
  end)
  return list
end

--- How many routes there are, those of mounted routers included.
local function count_routes(self)
  return #Router.routes(self)
end

--- A class of routers; `kind` is what messages call an object of it.
function routing.class(kind)
  local class = { _kind = kind, __name = "fastslua." .. kind }
  for name, method in pairs(Router) do
    class[name] = method
  end
  class.__index = class
  function class.__tostring(self)
    return ("fastslua.%s (%d routes)"):format(kind, count_routes(self))
  end
  classes[class] = true
  return class
end

--- What is wrong with the options of a constructor; `known` has the type of each.
function routing.wrong_options(call, options, known)
  if options == nil then
    return nil
  end
  if type(options) ~= "table" then
    return ("%s needs a table of options, got %s"):format(call, describe(options))
  end
  for name, value in pairs(options) do
    if not known[name] then
      return ("%s: unknown option '%s'"):format(call, tostring(name))
    end
    if type(value) ~= known[name] then
      return ("%s: option '%s' must be a %s, got %s"):format(call, name, known[name], describe(value))
    end
  end
end

--- An object of a class.
function routing.new(class, options)
  options = options or {}
  return setmetatable({
    _items = {},
    _hooks = {},
    _errors = {},
    _parents = setmetatable({}, { __mode = "k" }),
    _case_sensitive = options.case_sensitive,
    _strict = options.strict,
  }, class)
end

return routing
