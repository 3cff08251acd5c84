---@meta fastslua.middleware.request_id
-- What require("fastslua.middleware.request_id") gives, for editors.

---@class fastslua.RequestIdOptions
---@field header? string default "X-Request-Id"
---@field accept? boolean whether ids from outside are taken; default true
---@field generate? fun(req: fastslua.Request): string default 128 random bits

---Gives each request an id, `req.request_id`, and sends it back.
---@param options? fastslua.RequestIdOptions
---@return fastslua.Middleware
local function request_id(options) end

return request_id
