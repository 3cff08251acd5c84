-- fastslua.router: what an application is made of. `require("fastslua.router")` is the same function.

local _, _, native = ...

local routing = native.layer("fastslua.routing")

local Router = routing.class("router")

local OPTIONS = { case_sensitive = "boolean", strict = "boolean" }

--- fastslua.router([options]): a router without routes. What its options do not say is as where it is mounted.
return function(options)
  local message = routing.wrong_options("fastslua.router", options, OPTIONS)
  if message then
    error(message, 2)
  end
  return routing.new(Router, options)
end
