-- Counters as text: what `server:stats()` tells, in Prometheus' text format 0.0.4; and the words of that format, for
-- middleware/metrics.lua.
--
-- Series come in a fixed order, so that two readings can be compared, and no series comes twice. Numbers have a point
-- whatever the program's locale is.

local _, module, native = ...

local options = native.layer("fastslua.options")
local encode = module.json.encode

local exposition = { CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8" }

local Exposition = {}
Exposition.__index = Exposition

--- The server's counters: name, type, help, field of `server:stats()`, and the label of a table's keys.
local COUNTERS = {
  { "connections_accepted_total", "counter", "Connections accepted.", "accepted" },
  { "connections_closed_total", "counter", "Connections ended.", "closed" },
  { "connections_ended_total", "counter", "Connections ended, by why.", "ends", "reason" },
  { "connections", "gauge", "Connections that are open.", "active" },
  { "accept_errors_total", "counter", "Connections that the system could not give.", "accept_errors" },
  { "requests_total", "counter", "Requests handed to a handler.", "requests" },
  { "requests_unanswered_total", "counter", "Requests whose connection ended before the answer.", "unanswered" },
  { "responses_total", "counter", "Answers, by class of status.", "responses", "class" },
  { "refusals_total", "counter", "Requests refused before a handler saw them.", "refusals", "reason" },
  { "received_bytes_total", "counter", "Bytes received.", "bytes_in" },
  { "sent_bytes_total", "counter", "Bytes sent.", "bytes_out" },
  { "buffered_bytes", "gauge", "Bytes held for requests and responses.", "buffered_bytes" },
  { "steps_total", "counter", "Steps taken.", "steps" },
  { "steps_over_budget_total", "counter", "Steps that took longer than their budget.", "steps_over_budget" },
  { "step_seconds_total", "counter", "Time in steps.", "step_seconds_total" },
  { "step_seconds_max", "gauge", "The longest step.", "step_seconds_max" },
  { "handler_seconds_total", "counter", "Time in handlers.", "handler_seconds_total" },
  { "handler_seconds_max", "gauge", "The longest handler.", "handler_seconds_max" },
}

--- A text that is being written.
function exposition.new()
  return setmetatable({ _lines = {} }, Exposition)
end

--- The value of a label: backslash, quote and line feed are escaped.
local function label_value(text)
  return (text:gsub('[\\"\n]', { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }))
end

--- The keys of a table in their order.
local function sorted_keys(values)
  local keys = {}
  for key in pairs(values) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

--- Begins a metric.
function Exposition.begin(out, name, kind, help)
  out._lines[#out._lines + 1] = ("# HELP %s %s\n# TYPE %s %s"):format(name, help, name, kind)
end

--- One series; labels are names and values in turn.
function Exposition.add(out, name, value, ...)
  local labels = { ... }
  local parts = {}
  for index = 1, #labels, 2 do
    parts[#parts + 1] = ('%s="%s"'):format(labels[index], label_value(labels[index + 1]))
  end
  local braces = #parts > 0 and "{" .. table.concat(parts, ",") .. "}" or ""
  out._lines[#out._lines + 1] = name .. braces .. " " .. encode(value)
end

--- Calls `visit` for the series of every route and method.
local function each_series(by_route, visit)
  for _, route in ipairs(sorted_keys(by_route)) do
    for _, method in ipairs(sorted_keys(by_route[route])) do
      visit(by_route[route][method])
    end
  end
end

--- What was seen of requests.
function Exposition.requests(out, prefix, by_route, buckets)
  local total = prefix .. "_requests_total"
  out:begin(total, "counter", "Requests by route, method and status.")
  each_series(by_route, function(series)
    for _, status in ipairs(sorted_keys(series.statuses)) do
      local count = series.statuses[status]
      out:add(total, count, "route", series.route, "method", series.method, "status", ("%d"):format(status))
    end
  end)
  local sent = prefix .. "_response_bytes_total"
  out:begin(sent, "counter", "Bytes of content sent, by route and method.")
  each_series(by_route, function(series)
    out:add(sent, series.bytes, "route", series.route, "method", series.method)
  end)
  local duration = prefix .. "_request_duration_seconds"
  out:begin(duration, "histogram", "Time from the first middleware to the answer.")
  each_series(by_route, function(series)
    local below = 0
    for index, bound in ipairs(buckets) do
      below = below + series.counts[index]
      out:add(duration .. "_bucket", below, "route", series.route, "method", series.method, "le", encode(bound))
    end
    out:add(duration .. "_bucket", series.count, "route", series.route, "method", series.method, "le", "+Inf")
    out:add(duration .. "_sum", series.seconds, "route", series.route, "method", series.method)
    out:add(duration .. "_count", series.count, "route", series.route, "method", series.method)
  end)
end

--- What a server is called: the address it listens on.
function exposition.name(server)
  local host, port = server:address()
  return (host:find(":", 1, true) and "[%s]:%d" or "%s:%d"):format(host, port)
end

--- The counters of servers, by name.
function Exposition.servers(out, servers)
  local names = sorted_keys(servers)
  if #names == 0 then
    return
  end
  local stats = {}
  for name, server in pairs(servers) do
    stats[name] = server:stats()
  end
  for _, counter in ipairs(COUNTERS) do
    local metric, kind, help, field, label = unpack(counter)
    metric = "fastslua_" .. metric
    out:begin(metric, kind, help)
    for _, name in ipairs(names) do
      local value = stats[name][field]
      if label then
        for _, key in ipairs(sorted_keys(value)) do
          out:add(metric, value[key], "server", name, label, key)
        end
      else
        out:add(metric, value, "server", name)
      end
    end
  end
end

--- The text, whole; nothing can be added after.
function Exposition.text(out)
  out._lines[#out._lines + 1] = ""
  return table.concat(out._lines, "\n")
end

--- Whether a value is a server.
function exposition.is_server(value)
  local fine, stats = pcall(function()
    return value.stats and value.address
  end)
  return type(value) == "userdata" and fine and type(stats) == "function"
end

--- exposition.text(server, ...): the counters of these servers. Of two that had the same address the later one counts.
function exposition.text(...)
  local servers = {}
  for index = 1, select("#", ...) do
    local server = (select(index, ...))
    if not exposition.is_server(server) then
      error(("exposition.text needs servers, got %s"):format(options.describe(server)), 2)
    end
    servers[exposition.name(server)] = server
  end
  local out = exposition.new()
  out:servers(servers)
  return out:text()
end

return exposition
