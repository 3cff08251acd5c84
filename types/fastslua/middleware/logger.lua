---@meta fastslua.middleware.logger
-- What require("fastslua.middleware.logger") gives, for editors.

---@alias fastslua.LogFormat fun(req: fastslua.Request, res: fastslua.Response, seconds: number): string?

---@class fastslua.LoggerOptions
---@field sink fun(line: string)|file* where the lines go
---@field format? "common"|"combined"|"json"|fastslua.LogFormat default "common"
---@field skip? fun(req: fastslua.Request, res: fastslua.Response): boolean? true for what is not to be written

---One line for each request when it has its answer.
---@param options fastslua.LoggerOptions
---@return fastslua.Middleware
local function logger(options) end

return logger
