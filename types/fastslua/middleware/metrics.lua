---@meta fastslua.middleware.metrics
-- What require("fastslua.middleware.metrics") gives, for editors.

---@class fastslua.MetricsOptions
---@field prefix? string what the names begin with; default "http"
---@field buckets? number[] bounds of the histogram in seconds, growing, at most 100

---@class fastslua.Metrics
---@field middleware fastslua.Middleware counts
---@field handler fastslua.Handler tells, as Prometheus reads it
local Metrics = {}

---Tells the counters of these servers too, while they live.
---@param server fastslua.Server
---@param ... fastslua.Server
---@return fastslua.Metrics
function Metrics:watch(server, ...) end

---@return string text in Prometheus' format 0.0.4
function Metrics:text() end

---Counts requests by route, method and status.
---@param options? fastslua.MetricsOptions
---@return fastslua.Metrics
local function metrics(options) end

return metrics
