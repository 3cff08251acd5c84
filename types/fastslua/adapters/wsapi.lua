---@meta fastslua.adapters.wsapi
-- What require("fastslua.adapters.wsapi") gives, for editors.

---@alias fastslua.WsapiRun fun(env: table): (integer|string?), table?, (fun(): string?)?

---@class fastslua.WsapiOptions
---@field script_name? string SCRIPT_NAME, and what is taken off the path; default where it is mounted
---@field document_root? string DOCUMENT_ROOT
---@field app_path? string APP_PATH
---@field variables? table<string, string> further variables, or others in place of ours
---@field error? { write: function } where the application writes errors, default standard error output
---@field head_as_get? boolean HEAD reaches the application as GET, default false

---A handler that runs a WSAPI application.
---@param app fastslua.WsapiRun|{ run: fastslua.WsapiRun }
---@param options? fastslua.WsapiOptions
---@return fastslua.Handler
local function wsapi(app, options) end

return wsapi
