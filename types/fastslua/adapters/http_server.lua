---@meta fastslua.adapters.http_server
-- What require("fastslua.adapters.http_server") gives, for editors.

---@class fastslua.HttpRequest
---@field method string
---@field path string as sent, without the query
---@field originalUrl string the target as sent
---@field protocol string "HTTP/1.1" or "HTTP/1.0"
---@field parameters table<string, string> of the query, not decoded, the last of each name
---@field headers table<string, string> names in lower case, found in any case
---@field body string?

---@class fastslua.HttpResponse
---@field status integer 404 at first
---@field headers table<string, string|number|string[]>
---@field body? string|number

---@alias fastslua.HttpHandler
---| fun(server: fastslua.HttpServer, req: fastslua.HttpRequest, res: fastslua.HttpResponse): fastslua.HttpResponse

---@class fastslua.PumpStats
---@field accepted integer connections accepted in this step
---@field dispatched integer handlers called in this step
---@field bytesRead integer
---@field bytesWritten integer
---@field closed integer connections closed in this step
---@field active integer connections open now
---@field bufferedBytes integer bytes held now

---@class fastslua.HttpServer
---@field activeConnections integer
---@field fastslua fastslua.Server
---@field handler fastslua.HttpHandler
local HttpServer = {}

---Listens; raises an error when the address cannot be bound.
---@param bindAddress string IP address, "localhost" or "*"
---@param port integer 0 lets the system choose
---@param handler fastslua.HttpHandler
---@param options? table of tslua-http, or of `listen`
---@return fastslua.HttpServer
function HttpServer.new(bindAddress, port, handler, options) end

---One step.
function HttpServer:acceptNextClient() end

---One step, and what it did.
---@return fastslua.PumpStats
function HttpServer:pump() end

---Closes the listener and every connection. Safe twice.
function HttpServer:close() end

---@class fastslua.HttpServerModule
---@field HttpServer fastslua.HttpServer
---@field HttpStatus table<string|integer, integer|string> codes by name, names by code
---@field StatusText table<integer, string>
local module = {}

---Query parameters of a URL, not decoded.
---@param _ any unused: what TypeScriptToLua passes as `this`
---@param url string
---@return table<string, string>
function module.getQueryParams(_, url) end

return module
