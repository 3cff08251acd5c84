---@meta fastslua.middleware.basic_auth
-- What require("fastslua.middleware.basic_auth") gives, for editors.

---@class fastslua.BasicAuthOptions
---@field users? table<string, string> passwords by name; this or `verify`
---@field verify? fun(name: string, password: string, req: fastslua.Request): any true, or the user, for who may pass
---@field realm? string default "Restricted"

---Asks for a name and a password (RFC 7617): 401 without the right ones. `req.user` is who has passed.
---@param options fastslua.BasicAuthOptions
---@return fastslua.Middleware
local function basic_auth(options) end

return basic_auth
