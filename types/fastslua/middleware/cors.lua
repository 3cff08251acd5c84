---@meta fastslua.middleware.cors
-- What require("fastslua.middleware.cors") gives, for editors.

---@class fastslua.CorsOptions
---@field origin? string|string[]|fun(origin: string, req: fastslua.Request): boolean|string|nil default "*"
---@field methods? string[] default GET, HEAD, PUT, PATCH, POST, DELETE
---@field allowed_headers? string[]|"*" default what the page asks for
---@field exposed_headers? string[]|"*"
---@field credentials? boolean default false
---@field max_age? integer seconds that a preflight may be remembered
---@field private_network? boolean default false

---Lets pages of other origins read answers, and answers preflights.
---@param options? fastslua.CorsOptions
---@return fastslua.Middleware
local function cors(options) end

return cors
