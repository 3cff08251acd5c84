-- Compiled chains against the naive walk over all layers, on applications made at random.

local fastslua = require("fastslua")
local layers = require("spec.support.layers")
local live = require("spec.support.live")
local serve = require("spec.support.serve")

local APPLICATIONS, REQUESTS = 400, 16

-- A generator of its own, so that both Luas and every system see the same applications.
local function generator(seed)
  local state = seed
  return function(count)
    state = (state * 16807) % 2147483647
    return state % count + 1
  end
end

local METHODS = { "get", "get", "post", "all" }
local PATHS = { "/", "/a", "/A/b", "/a/:x", "/:x", "/:y/b", "/:x/:y", "/b" }
local PREFIXES = { "/", "/", "/a", "/b", "/:x", "/a/:y", "/:y" }
local CASES = { nil, nil, nil, true, false }
local REQUEST_PATHS =
  { "/", "/A", "/A/b", "/a/B", "/B/a/A", "/a", "/a/b", "/A/B/a", "/b", "/b/a", "/a/a/b", "/c", "/a/b/b/a", "/b/b/c/a" }
local DOES = { "pass", "pass", "pass", "pass", "after", "answer", "return", "fail", "stop", "late" }

-- A description as layers.lua takes it.
local function new_router(random, depth, names)
  local function new_fn(kinds)
    names.count = names.count + 1
    return { id = "f" .. names.count, does = kinds[random(#kinds)] }
  end
  local function list(count, make)
    local all = {}
    for index = 1, count do
      all[index] = make()
    end
    return all
  end
  local router = { items = {}, hooks = {}, errors = {}, case_sensitive = CASES[random(5)] }
  for _ = 1, random(3) - 1 do
    router.errors[#router.errors + 1] = new_fn({ "hand", "answer" })
  end
  for _, name in ipairs({ "x", "y" }) do
    if random(3) == 1 then
      router.hooks[name] = { new_fn({ "pass", "after" }) }
    end
  end
  for _ = 1, random(6) do
    if random(2) == 1 then
      router.items[#router.items + 1] = {
        method = METHODS[random(#METHODS)],
        path = PATHS[random(#PATHS)],
        fns = list(random(2), function()
          return new_fn(DOES)
        end),
      }
    else
      router.items[#router.items + 1] = {
        path = PREFIXES[random(#PREFIXES)],
        entries = list(random(2), function()
          if depth < 3 and random(2) == 1 then
            return new_router(random, depth + 1, names)
          end
          return new_fn({ "pass", "pass", "after", DOES[random(#DOES)] })
        end),
      }
    end
  end
  return router
end

-- The function that a description means. own: the names of the parameters that are its own.
local function new_function(trace, fn, own)
  return function(req, res, next, value)
    local params
    if own then
      params = {}
      for name in own:gmatch(":(%w+)") do
        params[name] = req.params[name] or "missing"
      end
    end
    trace[#trace + 1] = layers.show(fn.id, req.base_path, params, value)
    if fn.does == "fail" then
      error({ fn.id })
    elseif fn.does == "answer" then
      res:send(fn.id)
    elseif fn.does == "return" then
      return fn.id
    elseif fn.does == "pass" then
      next()
      trace[#trace + 1] = fn.id .. "<"
    elseif fn.does ~= "stop" then
      local result = next()
      trace[#trace + 1] = fn.id .. "<"
      if fn.does == "late" then
        error(fn.id)
      end
      return result
    end
  end
end

local function new_error_function(trace, handler)
  return function(_, _, res, next)
    trace[#trace + 1] = "!" .. handler.id
    if handler.does == "answer" then
      res:send(handler.id)
    else
      next()
    end
  end
end

-- Builds what the description says; prefix: the pattern before the router.
local function build(trace, router, description, prefix)
  for _, handler in ipairs(description.errors) do
    router:on_error(new_error_function(trace, handler))
  end
  for name, hooks in pairs(description.hooks) do
    router:param(name, new_function(trace, hooks[1]))
  end
  for _, item in ipairs(description.items) do
    local pattern = prefix .. (item.path == "/" and "" or item.path)
    local given = {}
    for index, entry in ipairs(item.fns or item.entries) do
      if entry.items then
        given[index] = build(trace, fastslua.router({ case_sensitive = entry.case_sensitive }), entry, pattern)
      else
        given[index] = new_function(trace, entry, pattern)
      end
    end
    if item.method then
      router[item.method](router, item.path, unpack(given))
    else
      router:use(item.path, unpack(given))
    end
  end
  return router
end

describe("compiled chains", function()
  after_each(serve.close_all)

  it("do what a walk over all layers does", function()
    local statuses = {}
    for seed = 1, APPLICATIONS do
      local random = generator(seed * 7919)
      local description = new_router(random, 1, { count = 0 })
      local trace = {}
      local server = serve.with(
        build(trace, fastslua.app({ case_sensitive = description.case_sensitive }), description, ""),
        { max_requests_per_connection = 0 }
      )
      local client = live.client(server)
      for _ = 1, REQUESTS do
        local method, path = ({ "GET", "POST", "PUT" })[random(3)], REQUEST_PATHS[random(#REQUEST_PATHS)]
        for index = #trace, 1, -1 do
          trace[index] = nil
        end
        client:send(serve.bytes(method, path))
        local response = client:response()
        local status, body, wanted = layers.run(description, method, path)
        local where = ("seed %d, %s %s: "):format(seed, method, path)
        assert.are.equal(where .. wanted, where .. table.concat(trace, " "))
        assert.are.equal(where .. status, where .. response.status)
        if body then
          assert.are.equal(where .. body, where .. response.body)
        end
        statuses[status] = (statuses[status] or 0) + 1
      end
      client:close()
      serve.close_all()
    end
    for _, status in ipairs({ 200, 404, 405, 500 }) do
      assert.is_true((statuses[status] or 0) > 20, ("only %s answers with %d"):format(statuses[status], status))
    end
  end)
end)
