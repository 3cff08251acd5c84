-- metrics: counts requests by route, and tells them and the server's own counters in Prometheus' text format (0.0.4).
--
-- Labels are routes, known methods and statuses, never what a client sent, so that no client can make more of them.

local _, module, native = ...

local options = native.layer("fastslua.options")
local exposition = native.layer("fastslua.exposition")

local now = module.now

--- Handlers of a program with frames take micro- to milliseconds.
local BUCKETS = { 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5 }

--- Methods with a label of their own (RFC 9110, RFC 5789).
local METHODS = { GET = true, HEAD = true, POST = true, PUT = true, PATCH = true, DELETE = true, OPTIONS = true }

--- What the label says of requests that no route has taken.
local UNROUTED = "none"

--- One series for each: more are of no use, and cost time and memory.
local BUCKETS_MAX = 100

local function check_buckets(buckets)
  local last = 0
  if #buckets > BUCKETS_MAX then
    return ("must not have more than %d numbers"):format(BUCKETS_MAX)
  end
  for _, bound in ipairs(buckets) do
    if type(bound) ~= "number" or not (bound > last and bound < math.huge) then
      return "must be a list of growing numbers above 0"
    end
    last = bound
  end
  return #buckets == 0 and "must not be an empty list" or nil
end

local KNOWN = {
  prefix = {
    kinds = "string",
    default = "http",
    check = function(prefix)
      if prefix == "fastslua" then
        return "must not be that of the server's own counters"
      end
      return not prefix:find("^[A-Za-z_][A-Za-z0-9_]*$") and "must be a name: letters, digits and _" or nil
    end,
  },
  buckets = { kinds = "table", default = BUCKETS, check = check_buckets },
}

--- What was seen of one route and method.
local function new_series(route, method, buckets)
  local counts = {}
  for index = 1, #buckets do
    counts[index] = 0
  end
  return { route = route, method = method, statuses = {}, counts = counts, count = 0, seconds = 0, bytes = 0 }
end

local function observe(series, buckets, status, seconds, bytes)
  series.statuses[status] = (series.statuses[status] or 0) + 1
  series.count = series.count + 1
  series.seconds = series.seconds + seconds
  series.bytes = series.bytes + bytes
  local counts = series.counts
  for index = 1, #buckets do
    if seconds <= buckets[index] then
      counts[index] = counts[index] + 1
      break
    end
  end
end

--- The series of a request, made when it is the first.
local function series_of(metrics, req)
  local route = req.route or UNROUTED
  local method = METHODS[req.method] and req.method or "OTHER"
  local of_route = metrics._series[route]
  if not of_route then
    of_route = {}
    metrics._series[route] = of_route
  end
  local series = of_route[method]
  if not series then
    series = new_series(route, method, metrics._buckets)
    of_route[method] = series
  end
  return series
end

local Metrics = {}
Metrics.__index = Metrics
Metrics.__name = "fastslua.metrics"

--- metrics:watch(server, ...): tells these servers' counters too, while they live. A server takes the place of one that
--- had its address before.
function Metrics.watch(metrics, ...)
  local servers = { ... }
  for index = 1, math.max(1, select("#", ...)) do
    if not exposition.is_server(servers[index]) then
      error(("metrics:watch needs a server, got %s"):format(options.describe(servers[index])), 2)
    end
  end
  for _, server in ipairs(servers) do
    metrics._servers[exposition.name(server)] = server
  end
  return metrics
end

--- metrics:text(): everything, as Prometheus reads it.
function Metrics.text(metrics)
  local out = exposition.new()
  out:requests(metrics._prefix, metrics._series, metrics._buckets)
  out:servers(metrics._servers)
  return out:text()
end

--- metrics([options]): an object with `middleware`, which counts, and `handler`, which tells.
return function(given)
  local settings = options.read("metrics", given, KNOWN)
  local buckets = {}
  for index, bound in ipairs(settings.buckets) do
    buckets[index] = bound
  end
  local metrics = setmetatable({
    _prefix = settings.prefix,
    _buckets = buckets,
    _series = {},
    -- A server that nobody else has any more is no reason to keep it.
    _servers = setmetatable({}, { __mode = "v" }),
  }, Metrics)

  function metrics.middleware(_, res, next)
    local began = now()
    res:on_finish(function(req, done)
      local status = done.status_code
      -- Without one the handler has closed the server: nothing was answered, and nothing can be read any more.
      if status then
        observe(series_of(metrics, req), buckets, status, now() - began, done.bytes or 0)
      end
    end)
    return next()
  end

  function metrics.handler(_, res)
    res:set("Content-Type", exposition.CONTENT_TYPE):set("Cache-Control", "no-store"):send(metrics:text())
  end

  return metrics
end
