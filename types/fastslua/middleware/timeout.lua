---@meta fastslua.middleware.timeout
-- What require("fastslua.middleware.timeout") gives, for editors.

---@class fastslua.TimeoutOptions
---@field seconds number how long a request may take
---@field interrupt? boolean default where it works: not under LuaJIT while it compiles
---@field on_late? fun(req: fastslua.Request, res: fastslua.Response, seconds: number) after an answer that took longer

---Sets `req.deadline`, interrupts Lua code that runs past it by an error with status 503 where that works, and
---tells who was late.
---@param options fastslua.TimeoutOptions
---@return fastslua.Middleware
local function timeout(options) end

return timeout
