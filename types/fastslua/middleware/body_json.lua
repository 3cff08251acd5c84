---@meta fastslua.middleware.body_json
-- What require("fastslua.middleware.body_json") gives, for editors.

---@class fastslua.BodyJsonOptions
---@field required? boolean whether a request without a JSON body is refused; default false
---@field max_bytes? integer 413 above; default the server's max_body_bytes

---Parses JSON bodies into `req.json_body`: 400 for what is no JSON.
---@param options? fastslua.BodyJsonOptions
---@return fastslua.Middleware
local function body_json(options) end

return body_json
