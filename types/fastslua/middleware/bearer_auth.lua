---@meta fastslua.middleware.bearer_auth
-- What require("fastslua.middleware.bearer_auth") gives, for editors.

---@class fastslua.BearerAuthOptions
---@field tokens? string[]|table<string, any> tokens, or users by token; this or `verify`
---@field verify? fun(token: string, req: fastslua.Request): any, string? or nil, "insufficient_scope"
---@field realm? string default "Restricted"
---@field scope? string scopes that are needed, for the challenge

---Asks for a token (RFC 6750): 401, 400 or 403 without a good one. `req.user` is the token's user.
---@param options fastslua.BearerAuthOptions
---@return fastslua.Middleware
local function bearer_auth(options) end

return bearer_auth
