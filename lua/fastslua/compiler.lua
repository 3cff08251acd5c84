-- From an application to what the dispatch needs: its routes in the native router, and one function for each.
--
-- Routers that are mounted are flattened into the application's: a route of theirs gets the prefixes before its path.
-- The order of registration decides what runs first. Which middleware sees a route is settled here wherever the
-- patterns tell; only where they do not, a path is looked at when it comes.

local _, _, native = ...

local chain = native.layer("fastslua.chain")
local patterns = native.layer("fastslua.patterns")
local arity = native.layer("fastslua.arity")

local compiler = {}

--- A pattern below the prefixes of a level, for the native router: each part is compared as the router says that it was
--- given to.
local function parts_text(level, path)
  return level.outer .. (level.case_sensitive and "=" or "") .. path
end

--- Raises what only shows when everything is put together: patterns with too many segments, too many methods.
local function must(value, message)
  if value == nil then
    error("the application cannot be compiled: " .. message, 0)
  end
  return value
end

local function next_order(plan)
  plan.order = plan.order + 1
  return plan.order
end

--- A place for error handlers: those of a router, then those of the router it is mounted in, and so on.
local function add_scope(plan, router, outer)
  local handlers = { unpack(router._errors) }
  for _, handler in ipairs(outer and plan.scopes[outer] or {}) do
    handlers[#handlers + 1] = handler
  end
  plan.scopes[#plan.scopes + 1] = handlers
  return #plan.scopes
end

--- Adds the step of the level: a function, where it stands, and whose error handlers are its own.
local function new_step(level, run, order)
  return { run = run, order = order, base = level.base, scope = level.scope }
end

local function add_middleware(plan, level, run)
  local step = new_step(level, run, next_order(plan))
  step.prefix = level.prefix
  step.named = level.named
  step.text = level.text
  plan.middleware[#plan.middleware + 1] = step
end

local function copied(level)
  local copy = {}
  for name, value in pairs(level) do
    copy[name] = value
  end
  return copy
end

--- Where the functions and routers of a `use` stand: as the level, but below its prefix.
local function below(plan, level, item)
  if item.prefix == "/" then
    return level
  end
  local parts = patterns.below(level.parts, item.prefix)
  local text = parts_text(level, item.prefix)
  local prefix, base = plan.router:prefix(text)
  must(prefix, base)
  local inner = copied(level)
  inner.parts, inner.outer, inner.prefix, inner.base = parts, text .. "\n", prefix, base
  inner.named = level.named or #item.params > 0
  inner.text = patterns.join(level.parts, item.prefix):gsub("/$", "")
  return inner
end

--- The first value that is not nil.
local function either(one, other)
  if one == nil then
    return other
  end
  return one
end

local walk

local function walk_use(plan, level, item)
  local inner = below(plan, level, item)
  for _, name in ipairs(item.params) do
    for _, hook in ipairs(level.router._hooks[name] or {}) do
      add_middleware(plan, inner, chain.hook(hook, name))
    end
  end
  for _, entry in ipairs(item.entries) do
    if type(entry) == "function" then
      add_middleware(plan, inner, entry)
    else
      local mounted = copied(inner)
      mounted.router = entry
      mounted.scope = add_scope(plan, entry, level.scope)
      mounted.case_sensitive = either(entry._case_sensitive, level.case_sensitive)
      mounted.strict = either(entry._strict, level.strict)
      walk(plan, mounted)
    end
  end
end

--- Whether the route's own captures say what the prefix's would: it begins with the same text, and no name comes twice.
local function captures_agree(step, text, unique)
  local rest = text:sub(#step.text + 1, #step.text + 1)
  return unique and text:sub(1, #step.text) == step.text and (rest == "" or rest == "/")
end

--- The steps of middleware that see a route, or all that may see a request without one (slot nil).
local function middleware_steps(plan, slot, text, unique)
  local steps = {}
  for _, step in ipairs(plan.middleware) do
    local cover = true
    if step.prefix then
      cover = nil
      if slot then
        cover = plan.router:cover(step.prefix, slot)
      end
    end
    if cover ~= false then
      local captures = step.named and not (cover and slot and captures_agree(step, text, unique))
      steps[#steps + 1] = { step = step, guard = not cover, captures = captures }
    end
  end
  return steps
end

--- Makes the functions of an entry's steps. A step says where it stands only when the step before does not tell.
local function assemble(entry, steps, base, scope)
  for index, placed in ipairs(steps) do
    local step = placed.step
    local run = step.run
    local moves = step.base ~= base or step.scope ~= scope
    if moves then
      run = chain.entering(run, step.base, step.scope)
    end
    if placed.captures then
      run = chain.capturing(run, step.prefix)
    elseif placed.guard then
      run = chain.guarded(run, step.prefix)
    end
    if moves and placed.guard then
      base, scope = nil, nil
    elseif moves then
      base, scope = step.base, step.scope
    end
    entry.steps[index] = run
    entry.orders[index] = step.order
    entry.bases[index] = step.base
    entry.scopes[index] = step.scope
  end
end

local function new_entry(order)
  return { steps = {}, orders = {}, bases = {}, scopes = {}, order = order }
end

--- Whether no two of a pattern's parameters have one name.
local function names_are_unique(text)
  local seen = {}
  for name in text:gmatch("[:*]([%a_][%w_]*)") do
    if seen[name] then
      return false
    end
    seen[name] = true
  end
  return true
end

local function walk_route(plan, level, item)
  local app, order = plan.app, next_order(plan)
  local parts = parts_text(level, item.path)
  local slot, message = plan.router:add(item.method, parts, level.strict, level.scope)
  must(slot, message)
  local text = patterns.join(level.parts, item.path)
  local steps = middleware_steps(plan, slot, text, names_are_unique(text))
  for _, name in ipairs(item.params) do
    for _, hook in ipairs(level.router._hooks[name] or {}) do
      steps[#steps + 1] = { step = new_step(level, chain.hook(hook, name), order) }
    end
  end
  local before = #steps
  for _, handler in ipairs(item.handlers) do
    steps[#steps + 1] = { step = new_step(level, handler, order) }
  end
  local entry = new_entry(order)
  assemble(entry, steps, level.base, level.scope)
  local seen = before == 0 and #steps == 1 and arity(item.handlers[1]) or math.huge
  if seen <= 2 then
    entry.chain = item.handlers[1]
    plan.router:sees(slot, seen)
  else
    entry.chain = chain.of(app, entry)
  end
  app._entries[slot + 1] = entry
  app._chains[slot + 1] = entry.chain
end

function walk(plan, level)
  for _, item in ipairs(level.router._items) do
    if item.entries then
      walk_use(plan, level, item)
    else
      walk_route(plan, level, item)
    end
  end
end

--- Compiles an application. Its table of chains stays the same table: servers hold it.
function compiler.compile(app)
  local router = app._router
  router:clear()
  for slot in pairs(app._chains) do
    app._chains[slot] = nil
  end
  app._entries, app._tail = {}, nil
  local plan = { app = app, router = router, middleware = {}, scopes = {}, order = 0 }
  local level = {
    router = app,
    parts = {},
    outer = "",
    base = 0,
    scope = add_scope(plan, app),
    case_sensitive = app._case_sensitive,
    strict = app._strict,
  }
  walk(plan, level)
  if #plan.middleware > 0 then
    local tail = new_entry(next_order(plan))
    assemble(tail, middleware_steps(plan), 0, level.scope)
    tail.chain = chain.of(app, tail)
    app._tail = tail
    app._chains[0] = tail.chain
  end
  app._scopes = plan.scopes
  router:compiled()
end

return compiler
