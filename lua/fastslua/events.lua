-- server:on, server:once, server:off: who listens to the events of a server.
--
-- The lists lie in the server's own table, so they die with it. A list never changes: adding and removing puts another
-- one in its place, so that the server may be walking through the old one meanwhile.

local _, _, native = ...

local methods = native.server_methods

--- The events by name, numbered from 1.
local NUMBERS = {}
local names = { native.event_names() }
for number, name in ipairs(names) do
  NUMBERS[name] = number
end

local function number_of(event, method)
  local number = NUMBERS[event]
  if not number then
    local got = type(event) == "string" and ("'%s'"):format(event) or "a " .. type(event)
    error(("server:%s: event must be one of %s, got %s"):format(method, table.concat(names, ", "), got), 3)
  end
  return number
end

--- The table of a server's lists.
local function lists_of(server)
  local fine, all = pcall(native.listeners, server)
  if not fine then
    error(all, 3)
  end
  return all
end

--- Puts functions and, beside them, what they were given as in the place of a list. `all` holds the lists that the
--- server calls by number, the others by number below zero.
local function replace(server, all, number, functions, given)
  all[number], all[-number] = functions, given
  native.heed(server, number, #functions > 0)
end

local function add(server, all, number, run, fn)
  local functions, given = { unpack(all[number] or {}) }, { unpack(all[-number] or {}) }
  functions[#functions + 1], given[#given + 1] = run, fn
  replace(server, all, number, functions, given)
end

--- Removes every listener that `matches(run, fn)`.
local function remove(server, all, number, matches)
  local functions, given = {}, {}
  for index, run in ipairs(all[number] or {}) do
    local fn = all[-number][index]
    if not matches(run, fn) then
      functions[#functions + 1], given[#given + 1] = run, fn
    end
  end
  replace(server, all, number, functions, given)
end

local function check_function(fn, method)
  if type(fn) ~= "function" then
    error(("server:%s: fn must be a function, got a %s"):format(method, type(fn)), 3)
  end
end

--- server:on(event, fn): fn hears of every such event from now on. Returns the server.
function methods.on(server, event, fn)
  local all = lists_of(server)
  local number = number_of(event, "on")
  check_function(fn, "on")
  add(server, all, number, fn, fn)
  return server
end

--- server:once(event, fn): of the next one alone.
function methods.once(server, event, fn)
  local all = lists_of(server)
  local number = number_of(event, "once")
  check_function(fn, "once")
  local run
  function run(...)
    remove(server, all, number, function(other)
      return other == run
    end)
    return fn(...)
  end
  add(server, all, number, run, fn)
  return server
end

--- server:off(event[, fn]): fn hears of it no more, or nobody does.
function methods.off(server, event, fn)
  local all = lists_of(server)
  local number = number_of(event, "off")
  if fn ~= nil then
    check_function(fn, "off")
  end
  remove(server, all, number, function(_, other)
    return fn == nil or other == fn
  end)
  return server
end

return methods
