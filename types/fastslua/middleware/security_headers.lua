---@meta fastslua.middleware.security_headers
-- What require("fastslua.middleware.security_headers") gives, for editors.

---@class fastslua.SecurityHeadersOptions
---@field content_security_policy? string|false default: nothing but the own origin
---@field content_type_options? string|false default "nosniff"
---@field cross_origin_embedder_policy? string|false default false
---@field cross_origin_opener_policy? string|false default "same-origin"
---@field cross_origin_resource_policy? string|false default "same-origin"
---@field frame_options? string|false default "SAMEORIGIN"
---@field origin_agent_cluster? string|false default "?1"
---@field permissions_policy? string|false default false
---@field referrer_policy? string|false default "no-referrer"
---@field strict_transport_security? string|false default false
---@field xss_protection? string|false default "0"

---Fields that have browsers guard a page. A handler may change them.
---@param options? fastslua.SecurityHeadersOptions
---@return fastslua.Middleware
local function security_headers(options) end

return security_headers
