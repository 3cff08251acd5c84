-- How many arguments a handler can see. One that cannot see the third never calls `next`, so that it needs no chain of
-- its own; and what it cannot see is not made for it.

--- Reads a number of `size` bytes of a precompiled chunk.
local function number_at(code, at, size, little)
  local value = 0
  for offset = 0, size - 1 do
    local byte = code:byte(little and at + size - 1 - offset or at + offset)
    value = value * 256 + byte
  end
  return value
end

--- The parameters of a function as Lua 5.1 writes it: the header of 12 bytes, the source, two line numbers, the number
--- of upvalues, then that of parameters and the flags for `...`.
local function dumped_params(handler)
  local fine, code = pcall(string.dump, handler)
  if not fine or code:sub(1, 5) ~= "\27LuaQ" then
    return nil
  end
  local little, int, size = code:byte(7) == 1, code:byte(8), code:byte(9)
  local at = 13 + size + number_at(code, 13, size, little) + 2 * int + 1
  return code:byte(at), code:byte(at + 1) ~= 0
end

--- No end for one that takes `...`, nor for what cannot be looked into.
return function(handler)
  local info = debug and debug.getinfo and debug.getinfo(handler, "u")
  local count, more = info and info.nparams, info and info.isvararg
  if not count then
    count, more = dumped_params(handler)
  end
  if count == nil or more then
    return math.huge
  end
  return count
end
