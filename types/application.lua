---@meta _
-- Applications and routers, for editors that read LuaLS annotations. No program loads this file.
-- It may only name what the library really has.

---@alias fastslua.ParamHook
---| fun(req: fastslua.Request, res: fastslua.Response, next: fun(err?: any): any, value: any, name: string): any

---Routes and middleware in an order: what an application is, to be mounted with `use`.
---@class fastslua.Router
local Router = {}

---@param path string begins with "/"; literal segments, `:name`, `:name(%d+)`, `:name<int>`, `*rest`
---@param handler fastslua.Handler
---@param ... fastslua.Handler called by the one before, as its third argument
---@return self
function Router:get(path, handler, ...) end

---@param path string begins with "/"; literal segments, `:name`, `:name(%d+)`, `:name<int>`, `*rest`
---@param handler fastslua.Handler
---@param ... fastslua.Handler called by the one before, as its third argument
---@return self
function Router:post(path, handler, ...) end

---@param path string begins with "/"; literal segments, `:name`, `:name(%d+)`, `:name<int>`, `*rest`
---@param handler fastslua.Handler
---@param ... fastslua.Handler called by the one before, as its third argument
---@return self
function Router:put(path, handler, ...) end

---@param path string begins with "/"; literal segments, `:name`, `:name(%d+)`, `:name<int>`, `*rest`
---@param handler fastslua.Handler
---@param ... fastslua.Handler called by the one before, as its third argument
---@return self
function Router:patch(path, handler, ...) end

---@param path string begins with "/"; literal segments, `:name`, `:name(%d+)`, `:name<int>`, `*rest`
---@param handler fastslua.Handler
---@param ... fastslua.Handler called by the one before, as its third argument
---@return self
function Router:delete(path, handler, ...) end

---@param path string begins with "/"; literal segments, `:name`, `:name(%d+)`, `:name<int>`, `*rest`
---@param handler fastslua.Handler
---@param ... fastslua.Handler called by the one before, as its third argument
---@return self
function Router:options(path, handler, ...) end

---@param path string begins with "/"; literal segments, `:name`, `:name(%d+)`, `:name<int>`, `*rest`
---@param handler fastslua.Handler
---@param ... fastslua.Handler called by the one before, as its third argument
---@return self
function Router:head(path, handler, ...) end

---A route for every method.
---@param path string
---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return self
function Router:all(path, handler, ...) end

---A route for a method of any name.
---@param method string
---@param path string
---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return self
function Router:method(method, path, handler, ...) end

---Functions, routers and applications for everything below a prefix, or for everything.
---@param prefix string|fastslua.Middleware|fastslua.Router
---@param ... fastslua.Middleware|fastslua.Router
---@return self
function Router:use(prefix, ...) end

---Functions that run before any route or prefix with this parameter, once per request and value.
---@param name string
---@param fn fastslua.ParamHook
---@return self
function Router:param(name, fn) end

---Functions that are asked when one of this router's, or of those below it, has failed.
---@param fn fun(err: any, req: fastslua.Request, res: fastslua.Response, next: fun(other?: any)): any, any, any
---@return self
function Router:on_error(fn) end

---Names the route that was added last.
---@param name string
---@return self
function Router:name(name) end

---Other handlers in a route's place; a method and a path may stand for the name.
---@param name string
---@param ... string|fastslua.Handler
---@return self
function Router:replace(name, ...) end

---Takes a route out: whether there was one. A method and a path may stand for the name.
---@param name string
---@param path? string
---@return boolean
function Router:remove(name, path) end

---The path of a route, with these parameters.
---@param name string
---@param params? table<string, any>
---@return string
function Router:url(name, params) end

---@class fastslua.RouteEntry
---@field method string "*" for every one
---@field path string
---@field name? string
---@field handlers integer how many

---The routes in the order in which they are tried.
---@return fastslua.RouteEntry[]
function Router:routes() end

---@class fastslua.Route
local Route = {}

---An object that adds routes for one path.
---@param path string
---@return fastslua.Route
function Router:route(path) end

---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return fastslua.Route
function Route:get(handler, ...) end

---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return fastslua.Route
function Route:post(handler, ...) end

---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return fastslua.Route
function Route:put(handler, ...) end

---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return fastslua.Route
function Route:patch(handler, ...) end

---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return fastslua.Route
function Route:delete(handler, ...) end

---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return fastslua.Route
function Route:options(handler, ...) end

---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return fastslua.Route
function Route:head(handler, ...) end

---@param handler fastslua.Handler
---@param ... fastslua.Handler
---@return fastslua.Route
function Route:all(handler, ...) end

---@class fastslua.App: fastslua.Router
local App = {}

---A server with this application as its handler.
---@param options fastslua.Options|integer options, or just the port
---@return fastslua.Server? server nil when the address cannot be bound
---@return string? message
---@return string? code the system's name of the error, as "EADDRINUSE"
function App:listen(options) end
