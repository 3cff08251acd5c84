-- rate_limit: so many requests per second and client, and a burst above that (a token bucket).
--
-- A client is one number: when its bucket will be full again. A client whose bucket is full is not remembered, and no
-- more than twice `max_keys` are, however many ask.

local _, module, native = ...

local options = native.layer("fastslua.options")

local floor, ceil, max = math.floor, math.ceil, math.max

--- Times are sums of fractions: less than this is nothing.
local NOTHING = 1e-9

--- A key that is longer, as a token may be, is told apart by its ends and its length, so that what is remembered of a
--- client is bounded whatever it sends.
local KEY_BYTES_MAX = 256

local KNOWN = {
  rate = { kinds = "number", needed = "requests per second", check = options.between(1e-6, 1e9) },
  burst = { kinds = "number", check = options.whole(1, 1e9) },
  key = { kinds = "function" },
  max_keys = { kinds = "number", default = 10000, check = options.whole(1, 1e9) },
  headers = { kinds = "boolean", default = true },
  clock = { kinds = "function", default = module.now },
}

--- The first 64 bits of an IPv6 address: what one subscriber has for all his machines.
local function network_of(address)
  local head, tail = address:match("^(.-)::(.*)$")
  local groups = {}
  for group in (head or address):gmatch("%x+") do
    groups[#groups + 1] = group
  end
  if head then
    local _, behind = tail:gsub("%x+", "")
    for _ = 1, 8 - #groups - behind do
      groups[#groups + 1] = "0"
    end
    for group in tail:gmatch("%x+") do
      groups[#groups + 1] = group
    end
  end
  return table.concat(groups, ":", 1, 4)
end

--- The address that a request is counted for.
local function address_key(req)
  local address = req.remote_address
  if not address:find(":", 1, true) then
    return address
  end
  return address:match("^::ffff:(%d+%.%d+%.%d+%.%d+)$") or network_of(address)
end

--- What the option `key` gives, as a key of bounded size.
local function checked(key_of)
  return function(req)
    local key = key_of(req)
    local kind = type(key)
    if key == nil or kind == "number" and key == key then
      return key
    elseif kind ~= "string" then
      error(("rate_limit: option 'key' must give a string, a number or nil, got a %s"):format(kind), 0)
    elseif #key <= KEY_BYTES_MAX then
      return key
    end
    local half = KEY_BYTES_MAX / 2
    return ("%d %s%s"):format(#key, key:sub(1, half), key:sub(-half))
  end
end

--- Functions of (key, now) that tells when the bucket of a key will be full again, and of (key, time) that sets it.
--- They keep two generations: who is still in the older one after `lifetime` has a full bucket.
local function memory(max_keys, lifetime)
  local young, old, count = {}, {}, 0
  local born = -math.huge
  local function read(key, now)
    if now - born >= lifetime or count >= max_keys then
      if now - born >= 2 * lifetime then
        young = {}
      end
      young, old, count, born = {}, young, 0, now
    end
    return young[key] or old[key] or now
  end
  local function write(key, time)
    if young[key] == nil then
      count = count + 1
    end
    young[key] = time
  end
  return read, write
end

--- A bucket of `burst` tokens, filled at `rate`. It gives a function of (key, now): whether a request may pass, then
--- how many more might at once, in how many seconds the bucket is full, and in how many one more may pass.
local function bucket(rate, burst, max_keys)
  local interval, whole = 1 / rate, burst / rate
  local read, write = memory(max_keys, whole)
  return function(key, now)
    local full = max(read(key, now), now)
    local after = full + interval
    local excess = after - now - whole
    if excess > NOTHING then
      return false, 0, full - now, excess
    end
    write(key, after)
    return true, floor((whole - (after - now)) / interval + NOTHING), after - now, 0
  end
end

--- Times in fields are whole seconds, rounded up.
local function seconds(time)
  return ceil(time - NOTHING)
end

--- rate_limit(options): the middleware.
return function(given)
  local settings = options.read("rate_limit", given, KNOWN)
  local burst = settings.burst or max(1, ceil(settings.rate))
  local take = bucket(settings.rate, burst, settings.max_keys)
  local key_of = settings.key and checked(settings.key) or address_key
  local clock, headers = settings.clock, settings.headers
  return function(req, res, next)
    local key = key_of(req)
    if key == nil then
      return next()
    end
    local passes, left, full, wait = take(key, clock())
    if headers then
      res:set("RateLimit-Limit", burst):set("RateLimit-Remaining", left):set("RateLimit-Reset", seconds(full))
    end
    if not passes then
      return next(module.error(429, "Too many requests.", { headers = { ["Retry-After"] = max(1, seconds(wait)) } }))
    end
    return next()
  end
end
