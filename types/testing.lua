---@meta _
-- What fastslua.test gives, for editors that read LuaLS annotations. No program loads this file.
-- It may only name what the library really has.

---What fastslua.test gives.
---@class fastslua.Client
---@field server fastslua.Server
---@field log { level: string, message: string, fields: table? }[]
local Client = {}

---@class fastslua.TestRequest
---@field query? table<string, any>
---@field headers? table<string, any> a list makes one field of each value, false leaves a field out
---@field body? string
---@field json? any
---@field form? table<string, any>
---@field cookies? table<string, string>
---@field remote_address? string default "127.0.0.1"

---@class fastslua.TestResponse
---@field status integer
---@field reason string
---@field headers table<string, string> the first value of each field, by its name in any case
---@field body string
---@field error? string what went wrong in the handler
local TestResponse = {}

---The content as a value; an error when it is no JSON.
---@return any
function TestResponse:json() end

---Every value of a header field.
---@param name string
---@return string[]
function TestResponse:header_all(name) end

---Sends one request; nil and why when there is no answer.
---@param method string
---@param path string
---@param options? fastslua.TestRequest
---@return fastslua.TestResponse? response
---@return string? message
function Client:request(method, path, options) end

---@param path string
---@param options? fastslua.TestRequest
---@return fastslua.TestResponse? response
---@return string? message
function Client:get(path, options) end

---@param path string
---@param options? fastslua.TestRequest
---@return fastslua.TestResponse? response
---@return string? message
function Client:head(path, options) end

---@param path string
---@param options? fastslua.TestRequest
---@return fastslua.TestResponse? response
---@return string? message
function Client:post(path, options) end

---@param path string
---@param options? fastslua.TestRequest
---@return fastslua.TestResponse? response
---@return string? message
function Client:put(path, options) end

---@param path string
---@param options? fastslua.TestRequest
---@return fastslua.TestResponse? response
---@return string? message
function Client:patch(path, options) end

---@param path string
---@param options? fastslua.TestRequest
---@return fastslua.TestResponse? response
---@return string? message
function Client:delete(path, options) end

---@param path string
---@param options? fastslua.TestRequest
---@return fastslua.TestResponse? response
---@return string? message
function Client:options(path, options) end

---Sends bytes as they are on a new connection: what came back, and whether the server ended the connection.
---@param bytes string
---@param remote_address? string
---@return string? received
---@return boolean|string ended
function Client:raw(bytes, remote_address) end

---A connection that stays open; nil and why when the server is closed.
---@param remote_address? string
---@return fastslua.TestConnection? connection
---@return string? message
function Client:connect(remote_address) end

---Time goes on by that much.
---@param seconds number
function Client:advance(seconds) end

---Closes the server.
function Client:close() end

---@class fastslua.TestConnection
local TestConnection = {}

---False once the server has ended the connection.
---@param bytes string
---@return boolean
function TestConnection:send(bytes) end

---What has come since the last time, and whether the server has ended the connection.
---@return string bytes
---@return boolean ended
function TestConnection:receive() end

---Sends no more; the server may still answer.
function TestConnection:finish() end

---The client is gone.
function TestConnection:close() end
