-- timeout: how long a request may take, and what happens when it takes longer.
--
-- Handlers run on the program's own thread, so nobody can stop one from outside. What can be done is done: a handler
-- knows its deadline, the program hears who was late, and where Lua's count hook can be relied on, Lua code that runs
-- past the deadline is interrupted by an error that answers 503. The hook stops Lua code alone: not a long call into C,
-- not a coroutine in PUC Lua, and nothing that LuaJIT has compiled, where hooks do not fire.

local _, module, native = ...

local options = native.layer("fastslua.options")

local now = module.now

--- The hook looks at the clock after so many instructions: some 0.1 ms, and no cost that can be measured.
local INSTRUCTIONS = 10000

local KNOWN = {
  seconds = { kinds = "number", needed = "how long a request may take", check = options.between(1e-4, 1e6) },
  interrupt = { kinds = "boolean" },
  on_late = { kinds = "function" },
}

--- Why hooks cannot be relied on here; nil when they can.
local function obstacle()
  if type(debug) ~= "table" or not debug.sethook or not debug.gethook then
    return "the debug library is not there"
  end
  local jit = rawget(_G, "jit")
  if jit and jit.status() then
    return "LuaJIT fires no hooks in code that it has compiled; jit.off() before makes it work"
  end
end

--- The request that is watched, its deadline, and how long it has got after an interruption; there is one hook for all.
local watched, deadline, again

local function hook()
  if deadline and now() >= deadline then
    -- Time for error handlers; and who catches the error meets the next one.
    deadline = now() + again
    error(module.error(503, "The handler of this request took too long."), 0)
  end
end

--- Watches a request until its end. A handler may step another server, so what was watched before is watched again
--- afterwards. The hook of a debugger stays, and nothing is watched then.
local function watch(res, limit, seconds)
  if watched == res then
    if limit < deadline then
      deadline, again = limit, seconds
    end
    return
  end
  local present = debug.gethook()
  if present and present ~= hook then
    return
  end
  local outer, outer_deadline, outer_again = watched, deadline, again
  res:on_finish(function()
    watched, deadline, again = outer, outer_deadline, outer_again
    if not outer and debug.gethook() == hook then
      debug.sethook()
    end
  end)
  watched, deadline, again = res, limit, seconds
  if not outer then
    debug.sethook(hook, "", INSTRUCTIONS)
  end
end

--- timeout(options): the middleware. `req.deadline` is when the time is over, by `fastslua.now()`.
return function(given)
  local settings = options.read("timeout", given, KNOWN)
  local problem = obstacle()
  if settings.interrupt and problem then
    error("timeout: option 'interrupt' cannot be true: " .. problem, 2)
  end
  local interrupt = settings.interrupt ~= false and not problem
  local seconds, on_late = settings.seconds, settings.on_late
  return function(req, res, next)
    local began = now()
    local limit = began + seconds
    if on_late then
      res:on_finish(function(_, done)
        local took = now() - began
        if took > seconds then
          on_late(req, done, took)
        end
      end)
    end
    local outer = req.deadline
    if outer and outer < limit then
      limit = outer
    end
    req.deadline = limit
    if interrupt then
      watch(res, limit, seconds)
    end
    return next()
  end
end
