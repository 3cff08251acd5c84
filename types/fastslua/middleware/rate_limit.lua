---@meta fastslua.middleware.rate_limit
-- What require("fastslua.middleware.rate_limit") gives, for editors.

---@class fastslua.RateLimitOptions
---@field rate number requests per second
---@field burst? integer how many may come at once; default `rate`, at least 1
---@field key? fun(req: fastslua.Request): string|number|nil who is counted; default the address
---@field max_keys? integer how many clients are remembered, at most twice that; default 10000
---@field headers? boolean whether answers have RateLimit-* fields; default true
---@field clock? fun(): number seconds, for tests; default fastslua.now

---So many requests per second and client, and a burst above that: 429 with Retry-After beyond.
---@param options fastslua.RateLimitOptions
---@return fastslua.Middleware
local function rate_limit(options) end

return rate_limit
