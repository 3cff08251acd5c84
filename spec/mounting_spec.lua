-- Routers and applications below prefixes: where they stand, and whose rules hold.

local fastslua = require("fastslua")

local function here(req)
  return ("%s|%s|%s"):format(req.base_path, req.path, req.route)
end

describe("a mounted router", function()
  it("leaves its prefix to the rule of who mounts it", function()
    local router = fastslua.router({ case_sensitive = false })
    router:get("/x", function()
      return "secret"
    end)
    local app = fastslua.app({ case_sensitive = true })
    app:use("/admin", function()
      return 401, "who are you?"
    end)
    app:use("/admin", router)
    local client = fastslua.test(app)
    assert.are.equal(401, client:get("/admin/x").status)
    assert.are.equal(401, client:get("/admin/X").status)
    assert.are.equal(404, client:get("/ADMIN/x").status)
    assert.are.equal(404, client:get("/Admin/x").status)
  end)

  it("compares its own routes by its own rules", function()
    local exact = fastslua.router({ case_sensitive = true, strict = true })
    exact:get("/Units", here)
    local inherits = fastslua.router()
    inherits:get("/units", here)
    exact:use("/Below", inherits)
    local app = fastslua.app()
    app:use("/api", exact)
    local client = fastslua.test(app)
    for path, status in pairs({
      ["/api/Units"] = 200,
      ["/API/Units"] = 200,
      ["/api/units"] = 404,
      ["/api/Units/"] = 404,
      ["/API/Below/units"] = 200,
      ["/api/below/units"] = 404,
      ["/api/Below/Units"] = 404,
      ["/api/Below/units/"] = 404,
    }) do
      assert.are.equal(status, client:get(path).status, path)
    end
  end)

  it("knows where it stands, however deep", function()
    local inner = fastslua.router():get("/", here):get("/:id", here)
    local middle = fastslua.router():use("/units", inner):get("/list", here)
    local outer = fastslua.app():use("/v:version<uint>", middle)
    local app = fastslua.app():use("/api", outer):get("/", here)
    local client = fastslua.test(app)
    for path, seen in pairs({
      ["/"] = "|/|/",
      ["/api/v1/list"] = "/api/v1|/api/v1/list|/api/v:version<uint>/list",
      ["/api/v1/units"] = "/api/v1/units|/api/v1/units|/api/v:version<uint>/units",
      ["/api/v22/units/7"] = "/api/v22/units|/api/v22/units/7|/api/v:version<uint>/units/:id",
      ["/api/v1/un%69ts/7"] = "/api/v1/units|/api/v1/units/7|/api/v:version<uint>/units/:id",
    }) do
      assert.are.equal(seen, client:get(path).body, path)
    end
    assert.are.equal(404, client:get("/api/vx/units").status)
  end)

  it("stands in several places, and gets what is added later", function()
    local router = fastslua.router():get("/a", here)
    local app = fastslua.app():use("/one", router):use("/two", router)
    local client = fastslua.test(app)
    assert.are.equal("/one|/one/a|/one/a", client:get("/one/a").body)
    assert.are.equal("/two|/two/a|/two/a", client:get("/two/a").body)
    assert.are.equal(404, client:get("/two/b").status)
    router:get("/b", here)
    assert.are.equal("/two|/two/b|/two/b", client:get("/two/b").body)
    assert.is_true(router:remove("GET", "/b"))
    assert.are.equal(404, client:get("/one/b").status)
  end)

  it("answers wrong methods and OPTIONS like any route", function()
    local router = fastslua.router():get("/a", here):post("/a", here)
    local client = fastslua.test(fastslua.app():use("/x", router))
    local wrong = client:delete("/x/a")
    assert.are.same({ 405, "GET, HEAD, POST, OPTIONS" }, { wrong.status, wrong.headers.allow })
    local options = client:options("/x/a")
    assert.are.same({ 204, "GET, HEAD, POST, OPTIONS" }, { options.status, options.headers.allow })
    assert.are.equal("", client:head("/x/a").body)
    assert.are.equal(200, client:head("/x/a").status)
  end)

  it("may be nested hundreds of times", function()
    local router = fastslua.router():get("/x", here)
    for _ = 1, 300 do
      router = fastslua.router():use(router)
    end
    local deep = fastslua.router():get("/x", here)
    for _ = 1, 60 do
      deep = fastslua.router():use("/a", deep)
    end
    local client = fastslua.test(fastslua.app():use(router):use(deep))
    assert.are.equal("|/x|/x", client:get("/x").body)
    assert.are.equal(200, client:get(("/a"):rep(60) .. "/x").status)
  end)

  it("has a sentence when its pattern gets too long", function()
    local router = fastslua.router():get("/x", here)
    for _ = 1, 70 do
      router = fastslua.router():use("/a", router)
    end
    local fine, message = pcall(function()
      local client = fastslua.test(fastslua.app():use(router))
      local answer = client:get("/x")
      return answer.status == 500 and error(answer.error, 0) or answer
    end)
    assert.is_false(fine)
    assert.is_truthy(tostring(message):find("more than 64 segments", 1, true), tostring(message))
  end)

  it("cannot be mounted into itself", function()
    local outer, inner = fastslua.router(), fastslua.router()
    outer:use("/in", inner)
    for _, call in ipairs({
      function()
        outer:use("/out", outer)
      end,
      function()
        inner:use("/out", outer)
      end,
    }) do
      local fine, message = pcall(call)
      assert.is_false(fine)
      assert.is_truthy(message:find("router:use('/out'): a router cannot be mounted into itself", 1, true), message)
      assert.is_truthy(message:find("mounting_spec.lua:", 1, true), message)
    end
  end)
end)
