-- Applications: routers that can be served.
--
-- Routes are matched natively: compiling puts patterns into a native router and one function per route into `_chains`,
-- at the route's slot + 1, which the server calls with (req, res); at 0 is what requests without a route get.

local _, module, native = ...

local chain = native.layer("fastslua.chain")
local compiler = native.layer("fastslua.compiler")
local routing = native.layer("fastslua.routing")

native.layer("fastslua.events")

local application = {}

local Application = routing.class("app")

local OPTIONS = { case_sensitive = "boolean", strict = "boolean", debug = "boolean", json = "table" }

--- app:listen(port) or app:listen(options): a server, or nil, message, code.
Application.listen = native.listen

--- Called by the server before a request, when the application has changed.
Application._compile = compiler.compile

--- Called by the server when a function has failed, with the number of its error handlers. Returns the error that is
--- left.
function Application._fail(app, failure, req, res, scope)
  return chain.fail(app._scopes[scope] or {}, failure, req, res)
end

--- fastslua.app([options]): an application without routes.
function application.new(options)
  local message = routing.wrong_options("fastslua.app", options, OPTIONS)
  if message then
    error(message, 2)
  end
  options = options or {}
  local app = routing.new(Application, options)
  app._router = native.router()
  app._chains, app._entries, app._scopes = {}, {}, {}
  local fine, problem = pcall(app._router.configure, app._router, options.debug, options.json)
  if not fine then
    error("fastslua.app: option 'json': " .. problem, 2)
  end
  app._router:touch()
  return app
end

module.app = application.new
module.router = native.layer("fastslua.router")
module.error = native.layer("fastslua.errors")

--- fastslua.test(app[, options]): made when it is first called, since a program that serves never needs it.
function module.test(...)
  return native.layer("fastslua.testing")(...)
end

return application
