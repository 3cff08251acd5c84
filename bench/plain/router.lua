-- router.lua: routes in plain Lua: literals by a table, those with parameters by one pattern each, tried in turn.

local router = {}
local Router = {}
Router.__index = Router

local find, gsub = string.find, string.gsub

local function unescape(text)
  if not find(text, "%", 1, true) then
    return text
  end
  return (gsub(text, "%%(%x%x)", function(digits)
    return string.char(tonumber(digits, 16))
  end))
end

--- `:name` segments become captures; everything else is literal.
local function compile(path)
  local names = {}
  local pattern = gsub(path, "[^%w/:_]", "%%%0")
  pattern = gsub(pattern, ":([%w_]+)", function(name)
    names[#names + 1] = name
    return "([^/]+)"
  end)
  return "^" .. pattern .. "$", names
end

function Router:add(method, path, handler)
  if not find(path, ":", 1, true) then
    self.literals[path] = self.literals[path] or {}
    self.literals[path][method] = handler
    return
  end
  local pattern, names = compile(path)
  self.patterns[#self.patterns + 1] = { method = method, pattern = pattern, names = names, handler = handler }
end

local function params_of(route, ...)
  local params = {}
  for index, name in ipairs(route.names) do
    params[name] = unescape((select(index, ...)))
  end
  return params
end

--- The handler and its parameters; nil when no route has the path, nil and true when it has other methods only.
function Router:find(method, path)
  local known = self.literals[path]
  if known then
    local handler = known[method] or (method == "HEAD" and known.GET)
    if handler then
      return handler, nil
    end
    return nil, true
  end
  local elsewhere
  local patterns = self.patterns
  for index = 1, #patterns do
    local route = patterns[index]
    local start, _, first = find(path, route.pattern)
    if start then
      if route.method == method or (method == "HEAD" and route.method == "GET") then
        local names = route.names
        if #names == 1 then
          return route.handler, { [names[1]] = unescape(first) }
        end
        return route.handler, params_of(route, path:match(route.pattern))
      end
      elsewhere = true
    end
  end
  return nil, elsewhere
end

function router.new()
  return setmetatable({ literals = {}, patterns = {} }, Router)
end

return router
