-- layers.lua: what an application is to do, told the naive way: a request walks over all layers in the order of their
-- registration, and each is compared with the path when its turn comes. Compiled chains are held against it.
--
-- An application is described by a table { items, hooks, errors }. An item is a route { method, path, fns } or a
-- { path, entries }, where entries are functions and descriptions of routers. A function is described by { id, does }.
-- Patterns are literals and `:name`, compared without case unless a router's `case_sensitive` says otherwise for what
-- is added to it; within this file such a literal is written `=text`.

local layers = {}

local function segments(path)
  local list = {}
  for segment in path:gmatch("[^/]+") do
    list[#list + 1] = segment
  end
  return list
end

-- The parameters that a pattern finds at the beginning of the path, or nil. whole: the path may not go on.
local function match(pattern, path, whole)
  local wanted, given = segments(pattern), segments(path)
  if #given < #wanted or (whole and #given ~= #wanted) then
    return nil
  end
  local params = {}
  for index, segment in ipairs(wanted) do
    local name = segment:match("^:(.+)")
    if name then
      params[name] = given[index]
    elseif segment:sub(1, 1) == "=" then
      if segment:sub(2) ~= given[index] then
        return nil
      end
    elseif segment:lower() ~= given[index]:lower() then
      return nil
    end
  end
  return params
end

-- The part of the path that a prefix takes.
local function base(prefix, path)
  local given, text = segments(path), ""
  for index = 1, #segments(prefix) do
    text = text .. "/" .. given[index]
  end
  return text
end

-- Adds the functions that a request may see below a router to `walk.steps`.
local function walk_router(walk, router, prefix, outer, exact)
  local errors = { own = router.errors, outer = outer }
  local function add(fn, step)
    step.fn, step.errors = fn, errors
    walk.steps[#walk.steps + 1] = step
  end
  -- Hooks run once for each value of their parameter.
  local function add_hooks(own, pattern, params, route)
    for name in own:gmatch(":(%w+)") do
      for _, hook in ipairs(router.hooks[name] or {}) do
        if walk.seen[hook] ~= params[name] then
          walk.seen[hook] = params[name]
          add(hook, { base = base(pattern, walk.path), value = params[name], route = route })
        end
      end
    end
  end
  if router.case_sensitive ~= nil then
    exact = router.case_sensitive
  end
  for _, item in ipairs(router.items) do
    local own = exact and item.path:gsub("/(%a)", "/=%1") or item.path
    local pattern = prefix .. (item.path == "/" and "" or own)
    local params = match(pattern, walk.path, item.method ~= nil)
    if params and item.entries then
      add_hooks(item.path, pattern, params)
      for _, entry in ipairs(item.entries) do
        if entry.items then
          walk_router(walk, entry, pattern, errors, exact)
        else
          add(entry, { base = base(pattern, walk.path), params = params })
        end
      end
    elseif params and (item.method == "all" or item.method:upper() == walk.method) then
      local route = pattern == "" and "/" or pattern
      add_hooks(item.path, prefix, params, route)
      for _, fn in ipairs(item.fns) do
        add(fn, { base = base(prefix, walk.path), params = params, route = route })
      end
    elseif params then
      walk.steps[#walk.steps + 1] = { other_method = true }
    end
  end
end

-- The first step from a place on that belongs to a route.
local function route_from(steps, at)
  for index = at, #steps do
    if steps[index].route then
      return steps[index]
    end
  end
end

-- What a request without a route gets: only what was registered behind the last route that had it counts.
local function verdict(steps)
  for index = #steps, 1, -1 do
    if steps[index].other_method then
      return 405
    elseif steps[index].route then
      return 404
    end
  end
  return 404
end

-- How a step shows in the trace.
function layers.show(id, base_path, params, value)
  local shown = {}
  for name, own in pairs(params or {}) do
    shown[#shown + 1] = name .. "=" .. own
  end
  table.sort(shown)
  return ("%s(%s|%s|%s)"):format(id, base_path, table.concat(shown, ","), value or "")
end

-- Runs a request: the status, the body (nil when it is the library's) and the trace of what ran.
function layers.run(app, method, path)
  local walk = { steps = {}, seen = {}, method = method, path = path }
  walk_router(walk, app, "", nil)
  local steps, trace, status, body = walk.steps, {}, nil, nil
  local run
  local function go_on(at)
    local after = at + 1
    while steps[after] and steps[after].other_method do
      after = after + 1
    end
    if steps[after] then
      run(after)
    elseif not status then
      status = verdict(steps)
    end
  end
  function run(at)
    local step = steps[at]
    local fn = step.fn
    trace[#trace + 1] = layers.show(fn.id, step.base, step.params, step.value)
    if fn.does == "fail" then
      error(step)
    elseif fn.does == "answer" or fn.does == "return" then
      status, body = 200, fn.id
    elseif fn.does ~= "stop" then
      go_on(at)
      trace[#trace + 1] = fn.id .. "<"
      if fn.does == "late" then
        error(step)
      end
    elseif route_from(steps, at) then
      walk.stopped = route_from(steps, at)
    end
  end
  local fine, failed = pcall(go_on, 0)
  if fine and not status then
    failed = walk.stopped
    status = not failed and verdict(steps) or nil
  end
  if not status then
    status = 500
    local errors = failed.errors
    while errors and not body do
      for _, handler in ipairs(errors.own) do
        trace[#trace + 1] = "!" .. handler.id
        if handler.does == "answer" then
          body = handler.id
          break
        end
      end
      errors = errors.outer
    end
  end
  return status, body, table.concat(trace, " ")
end

return layers
