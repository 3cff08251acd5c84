---@meta fastslua.exposition
-- What require("fastslua.exposition") gives, for editors.

local exposition = {}

---The counters of servers, as Prometheus reads them.
---@param ... fastslua.Server
---@return string text in Prometheus' format 0.0.4
function exposition.text(...) end

return exposition
