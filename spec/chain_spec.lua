-- Middleware, chains of handlers, parameter hooks and error handlers: in which order, with what, and what is answered.

local fastslua = require("fastslua")

-- A handler that notes its name and goes on.
local function noting(trace, name)
  return function(_, _, next)
    trace[#trace + 1] = name
    return next()
  end
end

local function ok()
  return "ok"
end

describe("middleware", function()
  -- A prefix, and which paths it covers.
  for prefix, paths in pairs({
    ["/"] = { ["/"] = true, ["/a"] = true, ["/a//b"] = true },
    ["/ui"] = {
      ["/ui"] = true,
      ["/ui/"] = true,
      ["/ui/x"] = true,
      ["/UI/x"] = true,
      ["/%75i/x"] = true,
      ["/uix"] = false,
      ["/ui%2Fx"] = false,
      ["/u"] = false,
      ["/x/ui"] = false,
      ["//ui"] = false,
    },
    ["/ui/"] = { ["/ui"] = true, ["/ui/x"] = true, ["/uix"] = false },
    ["/a/:id<int>/b"] = { ["/a/7/b"] = true, ["/a/7/b/c"] = true, ["/a/x/b"] = false, ["/a/7"] = false },
    ["/:any"] = { ["/x"] = true, ["/x/y"] = true, ["/"] = false },
  }) do
    it("under " .. prefix .. " sees whole segments", function()
      local seen
      local function note(_, _, next)
        seen = true
        return next()
      end
      -- Before a route that takes everything, before one for each path, and before none.
      local all = fastslua.app():use(prefix, note):all("/*rest", ok)
      local each = fastslua.app():use(prefix, note)
      for path in pairs(paths) do
        if not path:find("//", 1, true) then
          each:get(path, ok)
        end
      end
      for _, app in ipairs({ all, each, fastslua.app():use(prefix, note) }) do
        local client = fastslua.test(app)
        for path, covered in pairs(paths) do
          seen = false
          client:get(path)
          assert.are.equal(covered, seen, path)
        end
      end
    end)
  end

  it("runs in the order of registration, for what comes after it", function()
    local app, trace = fastslua.app(), {}
    app:use(noting(trace, "1"), noting(trace, "2"))
    app:get("/early", noting(trace, "early"), ok)
    app:use("/late", noting(trace, "3"))
    app:use(noting(trace, "4"))
    app:get("/late", noting(trace, "a"), noting(trace, "b"), ok)
    app:use(noting(trace, "never"))
    local client = fastslua.test(app)
    for path, order in pairs({ ["/early"] = "1 2 early", ["/late"] = "1 2 3 4 a b" }) do
      for index = #trace, 1, -1 do
        trace[index] = nil
      end
      assert.are.equal("ok", client:get(path).body)
      assert.are.equal(order, table.concat(trace, " "))
    end
  end)

  it("sees the answer behind next(), whoever gave it", function()
    local app = fastslua.app()
    local seen
    app:use(function(_, res, next)
      local answered = next()
      seen = { answered, res.headers_sent, res.status_code }
    end)
    app:get("/text", ok)
    app:get("/table", function()
      return 201, { 1 }
    end)
    app:get("/sent", function(_, res)
      res:status(202):send("x")
    end)
    local client = fastslua.test(app)
    for path, status in pairs({ ["/text"] = 200, ["/table"] = 201, ["/sent"] = 202, ["/none"] = 404 }) do
      assert.are.equal(status, client:get(path).status, path)
      assert.are.same({ true, true, status }, seen, path)
    end
  end)

  it("may answer itself, and is then the last", function()
    local app = fastslua.app()
    local reached = false
    app:use("/admin", function()
      return 401, "who are you?"
    end)
    app:get("/admin", function()
      reached = true
      return "in"
    end)
    assert.are.same(401, fastslua.test(app):get("/admin").status)
    assert.is_false(reached)
  end)

  it("has what its functions put on the request", function()
    local app = fastslua.app()
    app:use(function(req, res, next)
      req.user, res.began = "anna", 5
      return next()
    end)
    app:get("/", function(req, res)
      return req.user .. res.began
    end)
    assert.are.equal("anna5", fastslua.test(app):get("/").body)
  end)

  it("may call next() once", function()
    local app = fastslua.app()
    app:use(function(_, _, next)
      next()
      next()
    end)
    app:get("/", ok)
    local answer = fastslua.test(app):get("/")
    assert.are.equal("ok", answer.body)
    assert.is_truthy(answer.error:find("next() may be called once", 1, true), answer.error)
    assert.is_truthy(answer.error:find("chain_spec.lua:", 1, true), answer.error)
  end)

  it("cannot call next() when its request has ended", function()
    local app, kept = fastslua.app(), nil
    app:use(function(_, _, next)
      kept = next
      return "done"
    end)
    app:get("/", ok)
    local client = fastslua.test(app)
    client:get("/")
    assert.is_false(pcall(kept))
    assert.are.equal("done", client:get("/").body)
  end)

  it("that does nothing leaves a request without an answer", function()
    local app = fastslua.app()
    app:use("/silent", function() end)
    app:get("/silent/route", ok)
    local client = fastslua.test(app)
    assert.are.equal(404, client:get("/silent").status)
    local answer = client:get("/silent/route")
    assert.are.equal(500, answer.status)
    assert.is_truthy(answer.error:find("GET /silent/route has returned without an answer", 1, true), answer.error)
  end)

  it("finds the parameters of its prefix, and routes their own", function()
    local app, seen = fastslua.app(), {}
    app:use("/:side/units", function(req, _, next)
      seen[1] = req.params.side .. tostring(req.params.id)
      return next()
    end)
    app:get("/:team/units/:id", function(req)
      seen[2] = tostring(req.params.side) .. req.params.team .. req.params.id
      return "ok"
    end)
    assert.are.equal("ok", fastslua.test(app):get("/r%65d/units/7").body)
    assert.are.equal("red", seen[1]:sub(1, 3))
    assert.are.equal("nilred7", seen[2])
  end)
end)

describe("a parameter hook", function()
  it("runs once for each value, before what has the parameter", function()
    local app, trace = fastslua.app(), {}
    local router = fastslua.router()
    router:param("id", function(_, _, next, value, name)
      trace[#trace + 1] = name .. "=" .. tostring(value)
      return next()
    end)
    router:use("/:id", noting(trace, "below"))
    router:get("/:id", noting(trace, "first"), function(_, _, next)
      trace[#trace + 1] = "second"
      return next()
    end)
    router:get("/:id<int>", function()
      return "int"
    end)
    app:use("/units", router):get("/units/:id/x", ok)
    local client = fastslua.test(app)
    assert.are.equal("int", client:get("/units/7").body)
    assert.are.equal("id=7 below first second id=7", table.concat(trace, " "))
  end)

  it("may answer, or fail for the client", function()
    local app = fastslua.app()
    app:param("unit", function(req, _, next, value)
      if value == "7" then
        req.unit = "tank"
        return next()
      elseif value == "8" then
        return 410, "was shot down"
      end
      return next(fastslua.error(404, "no such unit"))
    end)
    app:get("/units/:unit", function(req)
      return req.unit
    end)
    app:get("/:other", ok)
    local client = fastslua.test(app)
    assert.are.equal("tank", client:get("/units/7").body)
    assert.are.equal(410, client:get("/units/8").status)
    assert.are.equal("no such unit\n", client:get("/units/9").body)
    assert.are.equal("ok", client:get("/x").body)
  end)
end)

describe("an error", function()
  local marker = setmetatable({}, {
    __tostring = function()
      return "a marker"
    end,
  })

  it("reaches its handlers with the very value, whatever it is", function()
    for _, value in ipairs({ "text", 7, true, false, {}, marker, print, fastslua.error(404) }) do
      for way, raise in pairs({
        error = function()
          error(value, 0)
        end,
        next = function(_, _, next)
          return next(value)
        end,
      }) do
        local app, seen = fastslua.app(), nil
        app:get("/", raise)
        app:on_error(function(err, req, res, next)
          seen = { err, req.path, res.headers_sent, type(next) }
          return 418, "caught"
        end)
        local answer = fastslua.test(app):get("/")
        assert.are.same({ 418, "caught" }, { answer.status, answer.body }, way)
        assert.are.equal(value, seen[1])
        assert.are.same({ "/", false, "function" }, { seen[2], seen[3], seen[4] })
      end
    end
  end)

  it("goes to the handlers of its router, then to those of who mounted it", function()
    local trace = {}
    local function catching(name, result)
      return function(err, _, _, next)
        trace[#trace + 1] = name .. ":" .. tostring(err)
        if result == "other" then
          return next("other")
        elseif result == "answer" then
          return 503, name
        elseif result == "next" then
          return next()
        end
      end
    end
    local function fail()
      error("bad", 0)
    end
    local inner = fastslua.router():get("/x", fail)
    inner:on_error(catching("inner"), catching("inner2", "other"))
    local middle = fastslua.router():use("/inner", inner):get("/x", fail)
    middle:on_error(catching("middle", "next"))
    local app = fastslua.app():use("/middle", middle):get("/x", fail)
    app:on_error(catching("app", "answer")):on_error(catching("never", "answer"))
    local client = fastslua.test(app)
    for path, order in pairs({
      ["/x"] = "app:bad",
      ["/middle/x"] = "middle:bad app:bad",
      ["/middle/inner/x"] = "inner:bad inner2:bad middle:other app:other",
    }) do
      for index = #trace, 1, -1 do
        trace[index] = nil
      end
      local answer = client:get(path)
      assert.are.same({ 503, "app" }, { answer.status, answer.body })
      assert.are.equal(order, table.concat(trace, " "))
    end
  end)

  it("in an error handler ends with 500, and both are told", function()
    local app = fastslua.app()
    app:get("/", function()
      error("first")
    end)
    app:on_error(function()
      error("second")
    end)
    local answer = fastslua.test(app):get("/")
    assert.are.equal(500, answer.status)
    assert.is_truthy(answer.error:find("first", 1, true) and answer.error:find("second", 1, true), answer.error)
    assert.is_nil(answer.body:find("first", 1, true))
  end)

  it("in middleware behind next() leaves the answer that was sent", function()
    local app = fastslua.app()
    app:use(function(_, _, next)
      next()
      error("too late")
    end)
    app:get("/", ok)
    local answer = fastslua.test(app):get("/")
    assert.are.equal("ok", answer.body)
    assert.is_truthy(answer.error:find("too late", 1, true))
  end)
end)

describe("fastslua.error", function()
  local fields =
    { code = "E7", headers = { ["Retry-After"] = 5, ["X-List"] = { "a", "b" } }, details = { by = "SA-6" } }

  local function client_of(value, options)
    local app = fastslua.app(options)
    app:use(function(_, res, next)
      res:set("X-Kept", "yes"):type("text/html"):set("ETag", '"x"')
      return next()
    end)
    app:get("/", function()
      error(value)
    end)
    return fastslua.test(app)
  end

  local JSON = { headers = { Accept = "application/json" } }

  it("is text, or JSON for who rather has it", function()
    local client = client_of(fastslua.error(410, "was shot down", fields))
    local text = client:get("/")
    assert.are.same({ 410, "was shot down\n" }, { text.status, text.body })
    assert.are.equal("text/plain; charset=utf-8", text.headers["content-type"])
    local json = client:get("/", JSON)
    assert.are.same({ error = { status = 410, message = "was shot down" } }, json:json())
    assert.is_truthy(json.headers["content-type"]:find("^application/json"))
    for _, answer in ipairs({ text, json }) do
      assert.are.equal("5", answer.headers["retry-after"])
      assert.are.same({ "a", "b" }, answer:header_all("X-List"))
      assert.are.equal("yes", answer.headers["x-kept"])
      assert.are.equal(nil, answer.headers.etag)
      assert.is_truthy((answer.headers.vary or ""):lower():find("accept", 1, true))
      assert.is_nil(answer.error)
    end
    for accept, kind in pairs({
      ["text/html,application/xhtml+xml,*/*;q=0.8"] = "text/plain",
      ["*/*"] = "text/plain",
      ["application/json;q=0.5, text/plain;q=0.9"] = "text/plain",
      ["application/json, text/plain;q=0.9"] = "application/json",
    }) do
      local answer = client:get("/", { headers = { Accept = accept } })
      assert.are.equal(kind, answer.headers["content-type"]:match("^[^;]+"), accept)
    end
  end)

  it("shows its details while debugging, and other errors theirs", function()
    local value = fastslua.error(503, "no mission", fields)
    assert.is_nil(client_of(value):get("/", JSON).body:find("SA-6", 1, true))
    local shown = client_of(value, { debug = true }):get("/", JSON):json().error
    assert.are.same({ 503, "no mission", "SA-6" }, { shown.status, shown.message, shown.details.by })
    assert.is_truthy(client_of(value, { debug = true }):get("/").body:find("SA-6", 1, true))
    for _, other in ipairs({
      "a secret",
      setmetatable({}, {
        __tostring = function()
          return "a secret"
        end,
      }),
    }) do
      for _, options in ipairs({ {}, JSON }) do
        local quiet = client_of(other):get("/", options)
        assert.are.equal(500, quiet.status)
        assert.is_nil(quiet.body:find("secret", 1, true))
        assert.is_truthy(quiet.error:find("a secret", 1, true))
        local loud = client_of(other, { debug = true }):get("/", options)
        assert.is_truthy(loud.body:find("a secret", 1, true), loud.body)
        assert.is_truthy(loud.body:find("stack traceback", 1, true), loud.body)
      end
    end
  end)

  it("carries its fields, and a sentence of its own when it is given none", function()
    local value = fastslua.error(404, nil, fields)
    assert.are.same({ 404, "Not Found", "E7" }, { value.status, value.message, value.code })
    assert.are.equal("Not Found", tostring(value))
    assert.are.equal(fields.details, value.details)
    assert.are.equal("Service Unavailable\n", client_of(fastslua.error(503)):get("/").body)
  end)

  it("of the server's own is told to the program, of the client's not", function()
    assert.is_nil(client_of(fastslua.error(499)):get("/").error)
    assert.is_truthy(client_of(fastslua.error(500, "ours")):get("/").error:find("ours", 1, true))
  end)

  for wanted, given in pairs({
    ["needs a status from 400 to 599, got 200"] = { 200 },
    ["needs a status from 400 to 599, got nil"] = {},
    ["needs a status from 400 to 599, got 404.5"] = { 404.5 },
    ["needs a status from 400 to 599, got 600"] = { 600 },
    ["needs a message as string, got a table"] = { 404, {} },
    ["needs a table of fields, got a string"] = { 404, "x", "y" },
    ["fastslua.error: headers must be a table, got a string"] = { 404, "x", { headers = "y" } },
    ["fastslua.error: headers must be a table of names and values"] = { 404, "x", { headers = { "y" } } },
  }) do
    it("refuses what " .. wanted, function()
      local fine, message = pcall(function()
        local value = fastslua.error(unpack(given, 1, 3))
        return value
      end)
      assert.is_false(fine)
      assert.is_truthy(message:find(wanted, 1, true), message)
      assert.is_truthy(message:find("chain_spec.lua:", 1, true), message)
    end)
  end
end)
