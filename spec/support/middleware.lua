-- middleware.lua: one middleware in an application of its own, and tables of options that it has to refuse.

local assert = require("luassert")
local fastslua = require("fastslua")
local serve = require("spec.support.serve")

local middleware = {}

-- An application with the middleware before a handler for every path, "ok" when none is given; and its server.
function middleware.served(step, handler, options)
  local app = fastslua.app()
  app:use(step)
  app:all("/*rest", handler or function()
    return "ok"
  end)
  return serve.with(app, options)
end

-- What one GET gets.
function middleware.get(step, fields, handler)
  return serve.get(middleware.served(step, handler), "/", fields)
end

-- Each row is options, and what the error has to say. The error points to the line that makes the middleware.
function middleware.refuses(make, rows)
  for index, row in ipairs(rows) do
    local line = debug.getinfo(1, "l").currentline + 2
    local fine, message = pcall(function()
      local made = make(row[1])
      return made
    end)
    assert.is_false(fine, ("row %d was taken"):format(index))
    assert.are.equal("string", type(message))
    assert.is_truthy(message:find(":" .. line .. ": ", 1, true), message)
    assert.is_truthy(message:find(row[2], 1, true), message)
  end
end

return middleware
