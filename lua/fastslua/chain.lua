-- Chains: the functions that see a request, one after the other, as one function of (req, res).
--
-- This runs for every request of a route that has middleware, so it makes one closure and looks nothing up that it does
-- not need. A chain is the steps of an entry: middleware in the order of registration, then the handlers of its route.

local _, _, native = ...

local follow, conclude, enter, settle = native.follow, native.conclude, native.enter, native.settle
local under, capture, release = native.under, native.capture, native.release

local chain = {}

--- The first step that was registered behind a place; nil when there is none.
local function first_behind(entry, order)
  for index, own in ipairs(entry.orders) do
    if own > order then
      return index
    end
  end
end

--- Goes on behind the last step of a chain: to the next route that takes the request and the middleware on the way to
--- it, or to the middleware that is left and the answer of a request without a route.
local function pass_on(app, entry, req, res)
  local to = app._tail
  if entry ~= to then
    to = app._entries[follow(req)] or to
  elseif to then
    return conclude(req, res)
  end
  local from = to and first_behind(to, entry.order)
  if not from then
    return conclude(req, res)
  end
  enter(req, to.bases[from], to.scopes[from])
  local first, second, third = to.chain(req, res, from)
  local last = #entry.steps
  enter(req, entry.bases[last], entry.scopes[last])
  return first, second, third
end

--- The function of an entry's steps. `next` settles what a step has returned as soon as it returns, so that the step
--- before sees a response that was sent; it returns true when it was, and may be called once.
function chain.of(app, entry)
  local steps, spent = entry.steps, #entry.steps + 1
  return function(req, res, from)
    local index = from or 1
    local function next(failure)
      if failure ~= nil then
        error(failure, 0)
      end
      local at = index + 1
      local step = steps[at]
      local first, second, third
      if step then
        index = at
        first, second, third = step(req, res, next)
      elseif at > spent then
        error("next() may be called once", 2)
      else
        index = at
        first, second, third = pass_on(app, entry, req, res)
      end
      index = spent
      if first == true then
        return true
      elseif first == nil and second == nil then
        return res.headers_sent or nil
      end
      return settle(res, first, second, third)
    end
    local first, second, third = steps[index](req, res, next)
    index = spent
    return first, second, third
  end
end

--- A step for paths under a prefix alone.
function chain.guarded(step, prefix)
  return function(req, res, next)
    if under(req, prefix) then
      return step(req, res, next)
    end
    return next()
  end
end

--- The same for a prefix with parameters: the step has them in `req.params`.
function chain.capturing(step, prefix)
  return function(req, res, next)
    if not capture(req, prefix) then
      return next()
    end
    return step(req, res, function(failure)
      if failure == nil then
        release(req)
      end
      return next(failure)
    end)
  end
end

--- A step of a router that stands elsewhere than that of the step before.
function chain.entering(step, base, scope)
  return function(req, res, next)
    local base_before, scope_before = enter(req, base, scope)
    local first, second, third = step(req, res, next)
    enter(req, base_before, scope_before)
    return first, second, third
  end
end

--- A step that calls the hook of a parameter: once for each value that the parameter has in a request.
function chain.hook(hook, name)
  return function(req, res, next)
    local value = req.params[name]
    local seen = req._param_hooks
    if not seen then
      seen = {}
      req._param_hooks = seen
    end
    if value == nil or seen[hook] == value then
      return next()
    end
    seen[hook] = value
    return hook(req, res, next, value, name)
  end
end

--- Calls the error handlers in turn; each may answer, or hand on the error or another one by `next`. One that does
--- neither hands it on. Returns the error that is left, for the library to answer where none of them has.
function chain.fail(handlers, failure, req, res)
  if not handlers[1] then
    return failure
  end
  local index = 0
  local function next(other)
    if other ~= nil then
      failure = other
    end
    index = index + 1
    local own = index
    local handler = handlers[own]
    if handler then
      local first, second, third = handler(failure, req, res, next)
      if first ~= nil or second ~= nil then
        return settle(res, first, second, third)
      elseif index == own and not res.headers_sent then
        next()
      end
    end
  end
  next()
  return failure
end

return chain
