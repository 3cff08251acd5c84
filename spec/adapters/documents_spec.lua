-- What is written about the adapters: the examples run, and the options and variables that are listed are those that
-- there are.

local HttpServer = require("fastslua.adapters.http_server").HttpServer
local fastslua = require("fastslua")
local serve = require("spec.support.serve")
local wsapi = require("fastslua.adapters.wsapi")

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return text
end

local document = read("docs/adapters.md")

-- Runs an example on any port; its locals `server` and `on_frame` are what it leaves.
local function run_example(block, modules)
  local names = setmetatable({
    require = function(name)
      return modules[name] or require(name)
    end,
  }, { __index = _G })
  local text = block:gsub("8080", "0"):gsub("local server", "server")
  local run = assert(loadstring(text))
  setfenv(run, names)()
  return names
end

-- The names in the first column of the rows below a heading.
local function rows(heading)
  local names = {}
  local body = document:match("\n| " .. heading .. " |[^\n]*\n|[-|]+|\n(.-)\n\n")
  for cell in ("\n" .. assert(body, heading)):gmatch("\n| ([^|]+) |") do
    for name in cell:gmatch("`([%w_*]+)`") do
      names[#names + 1] = name
    end
  end
  return names
end

describe("docs/adapters.md", function()
  after_each(serve.close_all)

  local blocks = {}
  for block in document:gmatch("\n```lua\n(.-)\n```\n") do
    blocks[#blocks + 1] = block
  end

  it("mounts an application", function()
    local made = run_example(blocks[1], {
      blog = {
        run = function(env)
          return 200,
            {},
            coroutine.wrap(function()
              coroutine.yield(("%s %s %s"):format(env.REQUEST_METHOD, env.SCRIPT_NAME, env.PATH_INFO))
            end)
        end,
      },
    })
    local response = serve.get(made.server, "/blog/post/1")
    made.server:close()
    assert.are.same({ 200, "GET /blog /post/1" }, { response.status, response.body })
  end)

  it("has a server for frames", function()
    local made = run_example(blocks[2], {})
    made.on_frame()
    local response = serve.get(made.server.fastslua, "/health")
    local missing = serve.get(made.server.fastslua, "/")
    made.server:close()
    assert.are.same({ 200, "UP", 404 }, { response.status, response.body, missing.status })
    assert.are.equal(2, #blocks)
  end)

  it("lists the options of wsapi, as the types do", function()
    local typed = {}
    local class = read("types/fastslua/adapters/wsapi.lua"):match("%-%-%-@class fastslua%.WsapiOptions\n(.-)\n\n")
    for name in class:gmatch("%-%-%-@field ([%w_]+)%?") do
      typed[#typed + 1] = name
    end
    local listed = rows("option")
    local unknown = {}
    for _, name in ipairs(listed) do
      local fine, message = pcall(wsapi, print, { [name] = coroutine.create(read) })
      if fine or not message:find("option '" .. name .. "' must be", 1, true) then
        unknown[#unknown + 1] = name
      end
    end
    assert.are.same({}, unknown)
    table.sort(typed)
    table.sort(listed)
    assert.are.same(typed, listed)
  end)

  it("lists variables that a request fills", function()
    local app, empty, count = fastslua.app(), {}, 0
    app:use(function(req, _, next)
      req.user = "anna"
      return next()
    end)
    app:use(
      "/app",
      wsapi(function(env)
        for _, name in ipairs(rows("variable")) do
          count = count + 1
          if name ~= "HTTP_*" and env[name] == "" then
            empty[#empty + 1] = name
          end
        end
        return 204
      end, { document_root = "/srv", app_path = "/srv" })
    )
    local server = serve.with(app)
    local fields = "Authorization: Basic x\r\nContent-Type: text/x\r\n"
    assert.are.equal(204, serve.ask(server, "POST", "/app/x?a=b", fields, "abc").status)
    -- The client came by HTTP.
    assert.are.same({ "HTTPS" }, empty)
    assert.is_true(count > 20)
  end)

  it("lists options of tslua-http that are taken", function()
    local names = rows("of tslua%-http")
    assert.are.equal(17, #names)
    for _, name in ipairs(names) do
      local fine, message = pcall(HttpServer.new, "127.0.0.1", 0, print, { [name] = coroutine.create(read) })
      if fine then
        message:close()
      else
        assert.is_nil(message:find("unknown option", 1, true), message)
      end
    end
  end)
end)
