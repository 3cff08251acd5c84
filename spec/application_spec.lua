-- Applications: routes, parameters, the answers without a route, and misuse at registration.

local fastslua = require("fastslua")
local serve = require("spec.support.serve")

-- An application with one route that tells its name and parameters.
local function naming(app, method, path)
  return app[method](app, path, function(req, res)
    res:json({ route = req.route, params = fastslua.json.object(req.params), same = req.params == req.params })
  end)
end

describe("an application", function()
  after_each(serve.close_all)

  it("chains, says what it is and knows its requests", function()
    local app = fastslua.app()
    assert.are.equal("fastslua.app (0 routes)", tostring(app))
    assert.are.equal(
      app,
      app:get("/", function(req)
        return tostring(req.app == app)
      end)
    )
    assert.are.equal("fastslua.app (1 routes)", tostring(app))
    assert.are.equal("true", serve.get(serve.with(app), "/").body)
  end)

  it("takes each method", function()
    local app = fastslua.app()
    for _, name in ipairs({ "get", "post", "put", "patch", "delete", "options" }) do
      app[name](app, "/" .. name, function(req)
        return req.method
      end)
    end
    app:head("/head", function(_, res)
      res:set("X-Method", "HEAD"):finish()
    end)
    app:all("/all", function(req)
      return "all " .. req.method
    end)
    local server = serve.with(app)
    for _, name in ipairs({ "get", "post", "put", "patch", "delete", "options" }) do
      assert.are.equal(name:upper(), serve.ask(server, name:upper(), "/" .. name).body)
    end
    assert.are.equal("HEAD", serve.ask(server, "HEAD", "/head").fields["x-method"])
    for _, name in ipairs({ "GET", "BREW", "OPTIONS" }) do
      assert.are.equal("all " .. name, serve.ask(server, name, "/all").body)
    end
  end)

  for _, row in ipairs({
    { "/units/7", 200, '{"id":"7"}', "/units/:id" },
    { "/units/a%20b%2Fc%C3%A9", 200, '{"id":"a b/cé"}', "/units/:id" },
    { "/units/7?x=1", 200, '{"id":"7"}', "/units/:id" },
    { "/units/7/", 200, '{"id":"7"}', "/units/:id" },
    { "/", 200, "{}", "/" },
    { "/none", 404 },
    { "/units", 404 },
    { "/units/7/8/9", 404 },
    { "/units/%zz", 400 },
  }) do
    it("routes " .. row[1], function()
      local app = fastslua.app()
      naming(app, "get", "/")
      naming(app, "get", "/units/:id")
      local response = serve.get(serve.with(app), row[1])
      assert.are.equal(row[2], response.status)
      if row[3] then
        assert.is_truthy(response.body:find('"params":' .. row[3], 1, true), response.body)
        assert.is_truthy(response.body:find('"route":"' .. row[4] .. '"', 1, true), response.body)
        assert.is_truthy(response.body:find('"same":true', 1, true))
      else
        assert.are.equal("text/plain; charset=utf-8", response.fields["content-type"])
        assert.is_true(#response.body > 0)
      end
    end)
  end

  it("has several parameters", function()
    local app = fastslua.app()
    app:get("/:a/x/:b/:c", function(req)
      return req.params.a .. req.params.b .. req.params.c .. tostring(req.params.d)
    end)
    assert.are.equal("123nil", serve.get(serve.with(app), "/1/x/2/3").body)
  end)

  it("answers HEAD, OPTIONS and wrong methods by itself", function()
    local server = serve.with(fastslua
      .app()
      :get("/a", function()
        return "abc"
      end)
      :post("/a", function()
        return "posted"
      end))
    local head = serve.ask(server, "HEAD", "/a")
    assert.are.same({ 200, "3", "" }, { head.status, head.fields["content-length"], head.body })
    local options = serve.ask(server, "OPTIONS", "/a")
    assert.are.same({ 204, "GET, HEAD, POST, OPTIONS" }, { options.status, options.fields.allow })
    local wrong = serve.ask(server, "DELETE", "/a")
    assert.are.same({ 405, "GET, HEAD, POST, OPTIONS" }, { wrong.status, wrong.fields.allow })
    assert.are.equal(405, serve.ask(server, "BREW", "/a").status)
    assert.are.equal(404, serve.ask(server, "OPTIONS", "/b").status)
    local all = serve.ask(server, "OPTIONS", "*")
    assert.are.equal(204, all.status)
    assert.is_truthy(all.fields.allow:find("GET, HEAD", 1, true))
    assert.are.equal(200, serve.get(server, "/a").status)
  end)

  it("runs several handlers in turn", function()
    local app = fastslua.app()
    local seen
    app:get("/", function(req, res, next)
      req.trace = { "first" }
      res:set("X-First", "1")
      local sent = next()
      req.trace[3] = tostring(sent) .. tostring(res.headers_sent)
      seen = table.concat(req.trace, " ")
    end, function(req, _, next)
      req.trace[2] = "second"
      return next()
    end, function(req)
      return 201, table.concat(req.trace, " ")
    end)
    app:get("/stop", function()
      return "stopped"
    end, function()
      error("never")
    end)
    local server = serve.with(app)
    local response = serve.get(server, "/")
    assert.are.equal(201, response.status)
    assert.are.equal("first second", response.body)
    assert.are.equal("first second truetrue", seen)
    assert.are.equal("1", response.fields["x-first"])
    assert.are.equal("stopped", serve.get(server, "/stop").body)
  end)

  it("takes routes while it serves", function()
    local app = fastslua.app()
    app:get("/add", function()
      app:get("/added", function()
        return "there"
      end)
      return "ok"
    end)
    local server = serve.with(app)
    assert.are.equal(404, serve.get(server, "/added").status)
    assert.are.equal("ok", serve.get(server, "/add").body)
    assert.are.equal("there", serve.get(server, "/added").body)
  end)

  it("serves on two ports at once", function()
    local app = fastslua.app():get("/", function(req)
      return tostring(req.id)
    end)
    local first, second = serve.with(app), serve.with(app)
    assert.are.equal("1", serve.get(first, "/").body)
    assert.are.equal("2", serve.get(first, "/").body)
    assert.are.equal("1", serve.get(second, "/").body)
  end)

  it("names the route in the words about a failure", function()
    local message
    local app = fastslua.app():get("/units/:id", function() end)
    local server = serve.with(app, {
      on_error = function(text)
        message = text
      end,
    })
    assert.are.equal(500, serve.get(server, "/units/7").status)
    assert.is_truthy(message:find("the handler of GET /units/:id has returned without an answer", 1, true), message)
  end)

  local function handler() end

  for _, row in ipairs({
    { "no path", { nil, handler }, "app:get needs a path as string, got nil" },
    { "a path of a number", { 5, handler }, "app:get needs a path as string, got a number" },
    { "a path without a slash", { "units", handler }, "app:get('units'): a path begins with '/'" },
    { "no handler", { "/units" }, "app:get('/units') needs a handler" },
    { "a handler of text", { "/units", "x" }, "app:get('/units'): the handler is a string, not a function" },
    { "a second handler of nil", { "/units", handler, nil, handler }, "handler 2 is nil, not a function" },
    { "two parameters of one name", { "/:a/:a", handler }, "/:a/:a" },
    { "a parameter without a name", { "/:/x", handler }, "/:/x" },
  }) do
    it("refuses a route with " .. row[1], function()
      local app = fastslua.app()
      local count = row[1] == "a second handler of nil" and 4 or #row[2]
      if row[1] == "no path" then
        count = 2
      end
      local fine, message = pcall(function()
        local same = app:get(unpack(row[2], 1, count))
        return same
      end)
      assert.is_false(fine)
      assert.is_truthy(message:find(row[3], 1, true), message)
      assert.is_truthy(message:find("application_spec.lua:", 1, true), message)
      assert.are.equal("fastslua.app (0 routes)", tostring(app))
    end)
  end

  it("is needed before the colon", function()
    local app = fastslua.app()
    for _, bad in ipairs({ false, {}, "x" }) do
      local fine, message = pcall(app.get, bad, "/", handler)
      assert.is_false(fine)
      assert.is_truthy(message:find("needs an application before the colon", 1, true), message)
      fine, message = pcall(app.listen, bad, 0)
      assert.is_false(fine)
      assert.is_truthy(message:find("an application made by fastslua.app() is needed", 1, true), message)
    end
    for _, options in ipairs({ { debug = 1 }, { colour = true }, { json = { colour = true } }, { strict = "x" } }) do
      assert.is_false(pcall(fastslua.app, options))
    end
  end)
end)

describe("the Lua layers", function()
  it("are found by require", function()
    local application = require("fastslua.application")
    assert.are.equal("function", type(application.new))
  end)
end)
