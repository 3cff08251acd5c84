-- Routes: what their patterns take, which comes first, how they are named, replaced and removed, and misuse.

local fastslua = require("fastslua")

-- A handler that tells which route it is, and its parameters.
local function told(name)
  return function(req, res)
    res:json({ route = name, params = fastslua.json.object(req.params) })
  end
end

local function handler() end

describe("a pattern", function()
  -- The pattern, and what each path makes of its parameters; false where the path is not taken.
  for pattern, paths in pairs({
    ["/units"] = { ["/units"] = {}, ["/units/"] = {}, ["/UNITS"] = {}, ["/unit%73"] = {}, ["/units/7"] = false },
    ["/a%2Fb/c%20d"] = { ["/a%2fb/c%20d"] = {}, ["/a/b/c%20d"] = false },
    ["/é"] = { ["/%C3%A9"] = {}, ["/%c3%a9"] = {}, ["/e"] = false },
    ["/units/:id"] = {
      ["/units/7"] = { id = "7" },
      ["/units/a%2Fb"] = { id = "a/b" },
      ["/units/%2F"] = { id = "/" },
      ["/units/a+b%2Bc"] = { id = "a+b+c" },
      ["/units/..;=:@&"] = { id = "..;=:@&" },
      ["/units/"] = false,
      ["/units//"] = false,
      ["/units/7/8"] = false,
    },
    ["/legs/:from-:to"] = {
      ["/legs/a-b"] = { from = "a", to = "b" },
      ["/legs/a-b-c"] = { from = "a", to = "b-c" },
      ["/legs/a%2Db"] = { from = "a", to = "b" },
      ["/legs/ab"] = false,
      ["/legs/-b"] = false,
    },
    ["/file.:ext(%a+)"] = { ["/file.lua"] = { ext = "lua" }, ["/file.l2"] = false, ["/file."] = false },
    ["/:id(%d+)"] = { ["/07"] = { id = "07" }, ["/7a"] = false, ["/%37"] = { id = "7" } },
    ["/:id([%w_-]+)/x"] = { ["/a_b-1/x"] = { id = "a_b-1" }, ["/a.b/x"] = false },
    ["/i/:v<int>"] = {
      ["/i/7"] = { v = 7 },
      ["/i/-7"] = { v = -7 },
      ["/i/007"] = { v = 7 },
      ["/i/9007199254740992"] = { v = 2 ^ 53 },
      ["/i/9007199254740993"] = false,
      ["/i/7.5"] = false,
      ["/i/0x10"] = false,
      ["/i/+7"] = false,
      ["/i/1e3"] = false,
      ["/i/%37"] = { v = 7 },
    },
    ["/u/:v<uint>"] = { ["/u/7"] = { v = 7 }, ["/u/-7"] = false, ["/u/"] = false },
    ["/n/:v<number>"] = {
      ["/n/7"] = { v = 7 },
      ["/n/-7.25"] = { v = -7.25 },
      ["/n/.5"] = false,
      ["/n/7."] = false,
      ["/n/nan"] = false,
      ["/n/inf"] = false,
    },
    ["/h/:v<hex>"] = { ["/h/00fF"] = { v = "00fF" }, ["/h/0x1"] = false },
    ["/a/:v<alpha>"] = { ["/a/abC"] = { v = "abC" }, ["/a/a1"] = false },
    ["/id/:v<uuid>"] = {
      ["/id/123e4567-e89b-12d3-a456-426614174000"] = { v = "123e4567-e89b-12d3-a456-426614174000" },
      ["/id/123e4567e89b12d3a456426614174000"] = false,
    },
    ["/files/*rest"] = {
      ["/files/a/b.lua"] = { rest = "a/b.lua" },
      ["/files/a%2Fb/"] = { rest = "a/b/" },
      ["/files/"] = { rest = "" },
      ["/files"] = { rest = "" },
      ["/files//x"] = { rest = "/x" },
      ["/filesx"] = false,
    },
    ["/*rest"] = { ["/"] = { rest = "" }, ["/a/b"] = { rest = "a/b" } },
  }) do
    it(pattern .. " takes what it says", function()
      local client = fastslua.test(fastslua.app():get(pattern, told("it")))
      for path, params in pairs(paths) do
        local answer = client:get(path)
        if params then
          assert.are.equal(200, answer.status, path)
          assert.are.same(params, answer:json().params, path)
        else
          assert.are.equal(404, answer.status, path)
        end
      end
    end)
  end

  it("gives parameters as the characters they stand for, and refuses what is none", function()
    local seen
    local app = fastslua.app():get("/:a", function(req)
      seen = req.params.a
      return "ok"
    end)
    local client = fastslua.test(app)
    client:get("/%00%C3%BF%2F%25")
    assert.are.equal("\0ÿ/%", seen)
    assert.are.equal(400, client:get("/%00%FF").status)
  end)

  it("is refused a request with a malformed percent sequence", function()
    local client = fastslua.test(fastslua.app():get("/*rest", told("it")))
    for _, path in ipairs({ "/%", "/%4", "/%zz", "/a/%g0/b", "/a%" }) do
      assert.are.equal(400, client:get(path).status, path)
    end
  end)

  it("tells case and trailing slashes apart when asked to", function()
    for _, row in ipairs({
      { {}, { ["/Ab"] = 200, ["/ab"] = 200, ["/Ab/"] = 200, ["/c"] = 200, ["/c/"] = 200 } },
      { { case_sensitive = true }, { ["/Ab"] = 200, ["/ab"] = 404, ["/Ab/"] = 200 } },
      { { strict = true }, { ["/Ab"] = 200, ["/ab"] = 200, ["/Ab/"] = 404, ["/c"] = 404, ["/c/"] = 200 } },
      { { case_sensitive = true, strict = true }, { ["/Ab"] = 200, ["/AB"] = 404, ["/Ab/"] = 404, ["/C/"] = 404 } },
    }) do
      local client = fastslua.test(fastslua.app(row[1]):get("/Ab", told("ab")):get("/c/", told("c")))
      for path, status in pairs(row[2]) do
        assert.are.equal(status, client:get(path).status, path)
      end
    end
  end)
end)

describe("the first route that takes a request", function()
  it("wins, whatever is more special", function()
    local app = fastslua.app()
    app:get("/units/:id<uint>", told("number"))
    app:get("/units/7", told("seven"))
    app:get("/units/new", told("new"))
    app:get("/units/:name", told("name"))
    app:get("/units/old", told("old"))
    app:get("/*rest", told("rest"))
    app:get("/other", told("other"))
    local client = fastslua.test(app)
    for path, route in pairs({
      ["/units/7"] = "number",
      ["/units/new"] = "new",
      ["/units/old"] = "name",
      ["/units/%6Eew"] = "new",
      ["/UNITS/NEW"] = "new",
      ["/other"] = "rest",
      ["/"] = "rest",
    }) do
      assert.are.equal(route, client:get(path):json().route, path)
    end
  end)

  it("is one that takes its method", function()
    local app = fastslua.app()
    app:post("/a", told("post"))
    app:get("/:x", told("get"))
    app:all("/a", told("all"))
    local client = fastslua.test(app)
    for method, route in pairs({ GET = "get", POST = "post", PUT = "all", BREW = "all" }) do
      assert.are.equal(route, client:request(method, "/a"):json().route, method)
    end
    assert.are.same({ 405, "GET, HEAD, OPTIONS" }, { client:post("/b").status, client:post("/b").headers.allow })
  end)

  it("passes on to the next one", function()
    local app, trace = fastslua.app(), {}
    local function passing(name)
      return function(req, _, next)
        trace[#trace + 1] = name .. (req.params.x or "") .. req.route
        return next()
      end
    end
    app:get("/a", passing("1"), passing("2"))
    app:post("/a", passing("never"))
    app:get("/:x", passing("3"))
    app:get("/b", passing("never"))
    app:get("/a/", passing("4"))
    local client = fastslua.test(app)
    assert.are.equal(404, client:get("/a").status)
    assert.are.equal("1/a 2/a 3a/:x 4/a/", table.concat(trace, " "))
  end)
end)

describe("without a handler of its own", function()
  it("a path answers HEAD, OPTIONS and wrong methods", function()
    local app = fastslua.app()
    app:get("/a", function(_, res)
      res:set("X-Seen", "yes")
      return "abc"
    end)
    app:put("/a/:id", told("put"))
    app:method("PURGE", "/a", told("purge"))
    app:head("/own", function(_, res)
      res:set("X-Own", "yes"):finish()
    end)
    app:options("/own", told("options"))
    local client = fastslua.test(app)
    local head = client:head("/a")
    assert.are.same({ 200, "", "3", "yes" }, {
      head.status,
      head.body,
      head.headers["content-length"],
      head.headers["x-seen"],
    })
    assert.are.equal("yes", client:head("/own").headers["x-own"])
    assert.are.equal("options", client:options("/own"):json().route)
    assert.are.equal("GET, HEAD, OPTIONS, PURGE", client:options("/a").headers.allow)
    assert.are.equal("PUT, OPTIONS", client:get("/a/7").headers.allow)
    assert.are.equal(405, client:get("/a/7").status)
    assert.are.equal(405, client:head("/a/7").status)
    assert.are.equal(404, client:options("/none").status)
    assert.are.equal("purge", client:request("PURGE", "/a"):json().route)
  end)
end)

describe("routes of one path", function()
  it("are added through route()", function()
    local app = fastslua.app()
    local route = app:route("/units/:id")
    assert.are.equal(route, route:get(told("get")):delete(told("delete")))
    for _, name in ipairs({ "post", "put", "patch", "options", "head", "all" }) do
      assert.are.equal(route, route[name](route, told(name)))
    end
    local client = fastslua.test(app)
    for _, name in ipairs({ "get", "delete", "post", "put", "patch", "options" }) do
      assert.are.equal(name, client:request(name:upper(), "/units/7"):json().route)
    end
    assert.are.equal("all", client:request("BREW", "/units/7"):json().route)
    assert.are.equal(8, #app:routes())
  end)
end)

describe("a route with a name", function()
  local function app_of_units()
    local below = fastslua.router():get("/:id/parts/*part", told("part")):name("part")
    local app = fastslua.app()
    app:get("/", told("root")):get("/units/:id<uint>", told("unit")):name("unit"):get("/units/:other", told("other"))
    app:use("/in/:side(%a+)", below)
    return app, below
  end

  it("is listed, in order, with those below", function()
    assert.are.same({
      { method = "GET", path = "/", handlers = 1 },
      { method = "GET", path = "/units/:id<uint>", name = "unit", handlers = 1 },
      { method = "GET", path = "/units/:other", handlers = 1 },
      { method = "GET", path = "/in/:side(%a+)/:id/parts/*part", name = "part", handlers = 1 },
      { method = "*", path = "/all", handlers = 2 },
    }, app_of_units():all("/all", handler, handler):routes())
  end)

  it("makes paths that lead back to it", function()
    local app = app_of_units()
    local client = fastslua.test(app)
    for _, row in ipairs({
      { "unit", { id = 7 }, "/units/7" },
      { "part", { side = "red", id = "a/b c%", part = "x/y z" }, "/in/red/a%2Fb%20c%25/parts/x/y%20z" },
      { "part", { side = "red", id = "é", part = "" }, "/in/red/%C3%A9/parts/" },
    }) do
      local path = app:url(row[1], row[2])
      assert.are.equal(row[3], path)
      local answer = client:get(path):json()
      assert.are.equal(row[1], answer.route)
      assert.are.same(row[2], answer.params)
    end
    for _, row in ipairs({
      { "none", {}, "app:url('none'): there is no route of this name" },
      { "unit", {}, "parameter 'id' must be a string or a number, got nil" },
      { "unit", { id = "x" }, "a parameter does not fit /units/:id<uint>" },
      { "unit", { id = 7, more = 1 }, "the route has no parameter 'more'" },
      { "unit", { id = "" }, "parameter 'id' is empty" },
      { "unit", 7, "parameters are a table" },
      { "part", { side = "7", id = "a", part = "b" }, "a parameter does not fit" },
    }) do
      local fine, message = pcall(function()
        local path = app:url(row[1], row[2])
        return path
      end)
      assert.is_false(fine)
      assert.is_truthy(message:find(row[3], 1, true), message)
      assert.is_truthy(message:find("routing_spec.lua:", 1, true), message)
    end
  end)

  it("is replaced in its place while serving, from inside a handler too", function()
    local app, below = app_of_units()
    local client = fastslua.test(app)
    assert.are.equal("unit", client:get("/units/7"):json().route)
    app:replace("unit", function(_, res)
      app:replace("unit", told("third"))
      res:json({ route = "second", params = {} })
    end)
    assert.are.equal("second", client:get("/units/7"):json().route)
    assert.are.equal("third", client:get("/units/7"):json().route)
    app:replace("GET", "/units/:other", told("replaced"))
    assert.are.equal("replaced", client:get("/units/x"):json().route)
    app:replace("part", told("new part"))
    assert.are.equal("new part", client:get("/in/red/7/parts/x"):json().route)
    below:replace("part", told("newer part"))
    assert.are.equal("newer part", client:get("/in/red/7/parts/x"):json().route)
    assert.are.equal("/units/7", app:url("unit", { id = 7 }))
  end)

  it("is removed while serving, once", function()
    local app = app_of_units()
    app
      :get("/suicide", function()
        assert(app:remove("suicide"))
        return "gone"
      end)
      :name("suicide")
    local client = fastslua.test(app)
    assert.are.equal("gone", client:get("/suicide").body)
    assert.are.equal(404, client:get("/suicide").status)
    assert.is_true(app:remove("unit"))
    assert.is_false(app:remove("unit"))
    assert.are.equal("other", client:get("/units/7"):json().route)
    assert.is_true(app:remove("GET", "/units/:other"))
    assert.is_false(app:remove("GET", "/units/:other"))
    assert.is_false(app:remove("POST", "/"))
    assert.are.equal(404, client:get("/units/7").status)
    assert.is_true(app:remove("part"))
    assert.are.equal(404, client:get("/in/red/7/parts/x").status)
    app:get("/units/:id", told("again")):name("unit")
    assert.are.equal("again", client:get("/units/7"):json().route)
  end)
end)

describe("misuse", function()
  local function fails(wanted, call)
    local fine, message = pcall(function()
      local result = call()
      return result
    end)
    assert.is_false(fine, wanted)
    assert.is_truthy(tostring(message):find(wanted, 1, true), message)
    assert.is_truthy(tostring(message):find("routing_spec.lua:", 1, true), message)
  end

  -- A pattern, and what is said of it beside the pattern itself.
  for _, row in ipairs({
    { "units", "a path begins with '/'" },
    { "", "a path begins with '/'" },
    { "/:a/:a", 'it names two parameters "a"' },
    { "/:a/*a", 'it names two parameters "a"' },
    { "/:id<integer>", "there is no type <integer>; there are int, uint" },
    { "/:id<int", "is not closed with >" },
    { "/:id(%d+", "" },
    { "/:id(%q+)", "" },
    { "/:id([a-)", "" },
    { "/:id()", "" },
    { "/:/x", ": needs a name behind it" },
    { "/:7", "begins with a digit" },
    { "/:a:b", "two parameters stand side by side" },
    { "/*", "* needs a name behind it" },
    { "/*a/b", "must be the last segment" },
    { "/a*b", "* must be a segment by itself" },
    { "/a//b", "it holds an empty segment" },
    { "/a?", "? cannot stand here" },
    { "/{a}", "a parameter is written :name" },
    { "/a#b", "a fragment is never sent" },
    { "/100%", "% must be followed by two hexadecimal digits" },
    { "/a\nb", "it holds a control character" },
    { "/\255", "a path is UTF-8 text" },
    { "/a" .. ("/b"):rep(64), "more than 64 segments" },
  }) do
    it("is a route " .. ("%q"):format(row[1]):sub(1, 40), function()
      local app = fastslua.app()
      for _, call in ipairs({ "get", "post", "all" }) do
        fails(row[2], function()
          app[call](app, row[1], handler)
        end)
        fails(("app:%s('%s')"):format(call, row[1]), function()
          app[call](app, row[1], handler)
        end)
      end
      assert.are.equal(0, #app:routes())
    end)
  end

  it("names the call, the route and what was given", function()
    local app, router = fastslua.app(), fastslua.router()
    app:get("/named", handler):name("taken"):get("/unnamed", handler)
    for wanted, call in pairs({
      ["app:get('/x') needs a handler"] = function()
        app:get("/x")
      end,
      ["router:put('/x'): handler 2 is a table, not a function"] = function()
        router:put("/x", handler, {})
      end,
      ["app:get('/x'): the handler is nil, not a function"] = function()
        app:get("/x", nil)
      end,
      ["app:method needs a method as string, got nil"] = function()
        app:method(nil, "/x", handler)
      end,
      ["methods are written in upper case"] = function()
        app:method("get", "/x", handler)
      end,
      ["it is no token"] = function()
        app:method("GE T", "/x", handler)
      end,
      ["app:name('taken'): the route /named has this name"] = function()
        app:name("taken")
      end,
      ["router:name('x'): no route was added before it"] = function()
        router:name("x")
      end,
      ["app:name needs a name as string, got a number"] = function()
        app:name(7)
      end,
      ["app:replace('none'): there is no route of this name"] = function()
        app:replace("none", handler)
      end,
      ["app:replace('POST', '/named'): there is no such route"] = function()
        app:replace("POST", "/named", handler)
      end,
      ["app:replace('/named') needs a handler"] = function()
        app:replace("taken")
      end,
      ["app:remove needs a name, or a method and a path, got nil"] = function()
        app:remove(nil)
      end,
    }) do
      fails(wanted, call)
    end
    assert.are.equal(2, #app:routes())
    assert.are.equal(0, #router:routes())
    -- Nothing of it has changed what is served.
    app:replace("taken", told("still"))
    assert.are.equal("still", fastslua.test(app):get("/named"):json().route)
  end)

  it("names what else was called", function()
    local app, router = fastslua.app(), fastslua.router()
    for wanted, call in pairs({
      ["app:route('x'): a path begins with '/'"] = function()
        app:route("x")
      end,
      ["app:use('admin'): a prefix begins with '/'"] = function()
        app:use("admin", handler)
      end,
      ["app:use('/admin') needs a handler"] = function()
        app:use("/admin")
      end,
      ["app:use('/'): the handler is a number, not a function, a router or an application"] = function()
        app:use(7)
      end,
      ["app:use('/*rest'): prefix"] = function()
        app:use("/*rest", handler)
      end,
      ["app:param needs the name of a parameter, got ':id'"] = function()
        app:param(":id", handler)
      end,
      ["app:param('id') needs a handler"] = function()
        app:param("id")
      end,
      ["app:on_error needs a handler"] = function()
        app:on_error()
      end,
      ["router:on_error: the handler is a string, not a function"] = function()
        router:on_error("x")
      end,
      ["fastslua.app: unknown option 'colour'"] = function()
        fastslua.app({ colour = true })
      end,
      ["fastslua.router: option 'strict' must be a boolean, got a string"] = function()
        fastslua.router({ strict = "yes" })
      end,
      ["fastslua.router needs a table of options, got a number"] = function()
        fastslua.router(7)
      end,
    }) do
      fails(wanted, call)
    end
    assert.are.equal(
      "ok",
      fastslua
        .test(app:get("/", function()
          return "ok"
        end))
        :get("/").body
    )
  end)
end)
