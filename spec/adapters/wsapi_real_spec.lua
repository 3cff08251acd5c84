-- wsapi with the real WSAPI and Orbit: applications written for them run unchanged. Skipped, and said so, where they
-- are not installed.

local fastslua = require("fastslua")
local serve = require("spec.support.serve")
local wsapi = require("fastslua.adapters.wsapi")

local has_wsapi, request = pcall(require, "wsapi.request")
local has_orbit, orbit = pcall(require, "orbit")

-- A test that needs a library.
local function it_with(present, library, name, run)
  it(name, present and run or function()
    pending(library .. " is not installed for this Lua")
  end)
end

local function mounted(app, settings)
  local outer = fastslua.app()
  outer:use("/app", wsapi(app, settings))
  return serve.with(outer)
end

-- An application in the manner of WSAPI's own examples, by its request and response objects.
local function guestbook(env)
  local response = require("wsapi.response").new()
  local asked = request.new(env)
  if asked.path_info == "/go" then
    return response:redirect(asked:link("/there", { a = "b c" }))
  end
  response:set_cookie("seen", { value = "1", path = "/" })
  response:set_cookie("again", "2")
  response.headers["X-Method"] = asked.method
  response:write("hello ", asked.params.name or "nobody", { " of ", asked.cookies.place or "nowhere" })
  for key, value in pairs(asked.POST) do
    response:write("; ", key, "=", type(value) == "table" and value.contents or value)
  end
  return response:finish()
end

-- luacheck: read globals html head title body p
-- An application of Orbit's classic form. The tags of `page` are Orbit's.
local function notes()
  local app = orbit.new()
  local saved = {}
  app:dispatch_get(function(web)
    return ("%d notes at %s"):format(#saved, web:link("/note/1"))
  end, "/", "/index")
  app:dispatch_get(function(web, number)
    local note = saved[tonumber(number)]
    return note or app.not_found(web)
  end, "/note/(%d+)")
  app:dispatch_post(function(web)
    saved[#saved + 1] = web.input.text
    return web:redirect(web:link("/note/" .. #saved))
  end, "/")
  app:dispatch_get(function()
    error("broken")
  end, "/fail")
  function app.page()
    return html({ head({ title("T") }), body({ p.note("x") }) })
  end
  orbit.htmlify(app, "page")
  app:dispatch_get(app.page, "/page")
  return app
end

describe("WSAPI's own library", function()
  after_each(serve.close_all)

  it_with(has_wsapi, "lua-wsapi", "reads queries, cookies and forms and writes headers", function()
    local server = mounted(guestbook)
    local response = serve.get(server, "/app/?name=anna%20b", "Cookie: place=here\r\n")
    assert.are.same({ 200, "hello anna b of here; post_data=" }, { response.status, response.body })
    assert.are.equal("seen=1; path=/, again=2", response.fields["set-cookie"])
    assert.are.equal("text/html", response.fields["content-type"])
    assert.are.equal("GET", response.fields["x-method"])

    local form = "Content-Type: application/x-www-form-urlencoded\r\n"
    response = serve.ask(server, "POST", "/app/", form, "name=ben&x=1%2B1")
    assert.is_truthy(response.body:find("hello ben of nowhere", 1, true))
    assert.is_truthy(response.body:find("; x=1+1", 1, true))
  end)

  it_with(has_wsapi, "lua-wsapi", "reads uploads", function()
    local body = table.concat({
      "--b",
      'Content-Disposition: form-data; name="file"; filename="a.txt"',
      "Content-Type: text/plain",
      "",
      "contents\0\r\nof the file",
      "--b--",
      "",
    }, "\r\n")
    local response =
      serve.ask(mounted(guestbook), "POST", "/app/", "Content-Type: multipart/form-data; boundary=b\r\n", body)
    assert.are.same({ 200, "hello nobody of nowhere; file=contents\0\r\nof the file" }, {
      response.status,
      response.body,
    })
  end)

  it_with(has_wsapi, "lua-wsapi", "makes links below the prefix", function()
    local response = serve.get(mounted(guestbook), "/app/go")
    assert.are.same({ 302, "/app/there?a=b+c" }, { response.status, response.fields.location })
  end)

  it_with(has_wsapi, "lua-wsapi", "loads applications from files", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write([[
      return function(env)
        return 200, { ["Content-Type"] = "text/plain" }, coroutine.wrap(function()
          coroutine.yield("from a file: " .. env.PATH_INFO .. " " .. env.APP_PATH)
        end)
      end
    ]])
    file:close()
    local common = require("wsapi.common")
    local here = require("lfs").currentdir()
    local server = mounted(common.make_loader({ isolated = false, filename = path, reload = true }))
    local response = serve.get(server, "/app/x")
    assert(require("lfs").chdir(here))
    os.remove(path)
    assert.are.same({ 200, "from a file: /x " .. path:match("^(.*)/") }, { response.status, response.body })
  end)

  it_with(has_wsapi, "lua-wsapi", "has its own 404 for files that are not there", function()
    local common = require("wsapi.common")
    local server = mounted(common.make_loader({ isolated = false }), { document_root = "/nowhere" })
    local response = serve.get(server, "/app/missing.lua")
    assert.are.equal(404, response.status)
    assert.is_truthy(response.body:find("Resource /app/missing.lua not found", 1, true), response.body)
  end)
end)

describe("an Orbit application", function()
  after_each(serve.close_all)

  it_with(has_orbit, "lua-orbit", "runs", function()
    local server = mounted(notes())
    assert.are.equal("0 notes at /app/note/1", serve.get(server, "/app").body)
    local form = "Content-Type: application/x-www-form-urlencoded\r\n"
    local response = serve.ask(server, "POST", "/app/", form, "text=first+note")
    assert.are.same({ 302, "/app/note/1" }, { response.status, response.fields.location })
    response = serve.get(server, "/app/note/1")
    assert.are.same({ 200, "first note", "text/html" }, {
      response.status,
      response.body,
      response.fields["content-type"],
    })
    assert.are.equal("1 notes at /app/note/1", serve.get(server, "/app/index").body)
    assert.are.equal(404, serve.get(server, "/app/note/2").status)
    assert.are.equal(404, serve.get(server, "/app/else").status)
    assert.are.equal(
      '<html ><head ><title>T</title></head><body ><p class="note">x</p></body></html>',
      serve.get(server, "/app/page").body
    )
    response = serve.get(server, "/app/fail")
    assert.are.equal(500, response.status)
    assert.is_truthy(response.body:find("broken", 1, true))
  end)

  it_with(has_orbit, "lua-orbit", "serves the files of its folder and no others", function()
    local file = assert(io.open("spec/support/serve.lua", "rb"))
    local text = file:read("*a")
    file:close()
    local app = notes()
    app:dispatch_static("/support/.+")
    local server = mounted(app, { app_path = "spec" })
    local response = serve.get(server, "/app/support/serve.lua")
    assert.are.same({ 200, text }, { response.status, response.body })
    assert.are.equal(400, serve.get(server, "/app/support/../../README.md").status)
    assert.are.equal(400, serve.get(server, "/app/support/%2e%2e/%2e%2e/README.md").status)
  end)

  it_with(has_orbit, "lua-orbit", "knows no HEAD, and need not with head_as_get", function()
    local response = serve.ask(mounted(notes(), { head_as_get = true }), "HEAD", "/app/")
    assert.are.same({ 200, "22" }, { response.status, response.fields["content-length"] })
  end)
end)
