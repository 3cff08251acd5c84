-- What is written about middleware: each has a section and a file for editors, which list the same options, all of
-- which it knows.

local fastslua = require("fastslua")
local serve = require("spec.support.serve")

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return text
end

-- The options in the first table of a section of docs/middleware.md.
local function documented(name)
  local section = ("\n" .. read("docs/middleware.md")):match("\n## " .. name .. "\n(.-)\n## ")
    or ("\n" .. read("docs/middleware.md")):match("\n## " .. name .. "\n(.*)$")
  assert(section, "docs/middleware.md has no section " .. name)
  local rows = section:match("\n| option |[^\n]*\n|[-|]+|\n(.-)\n\n") or ""
  local names = {}
  for option in ("\n" .. rows):gmatch("\n| `([%w_]+)` |") do
    names[#names + 1] = option
  end
  return names
end

local function typed(name)
  local class =
    read("types/fastslua/middleware/" .. name .. ".lua"):match("\n%-%-%-@class fastslua%.%w+Options\n(.-)\n\n")
  local names = {}
  for option in ("\n" .. (class or "")):gmatch("\n%-%-%-@field ([%w_]+)%??") do
    names[#names + 1] = option
  end
  return names
end

describe("the documents", function()
  after_each(serve.close_all)

  local files = io.popen("ls lua/fastslua/middleware")
  for file in files:lines() do
    local name = file:match("^([%w_]+)%.lua$")
    it("know the options of " .. name, function()
      local names = documented(name)
      assert.is_true(#names > 0)
      assert.are.same(names, typed(name))
      local make = require("fastslua.middleware." .. name)
      for _, option in ipairs(names) do
        -- Nothing takes a thread, so an option that is known is refused by name.
        local fine, message = pcall(make, { [option] = coroutine.create(read) })
        assert.is_false(fine)
        assert.is_truthy(
          message:find("option '" .. option .. "' must be", 1, true) or message:find("is needed", 1, true)
        )
      end
      assert.is_truthy(read("lua/fastslua/middleware/" .. name .. ".lua"):find("^%-%- " .. name .. ": "))
    end)
  end
  files:close()

  it("show examples that run", function()
    local count = 0
    for block in read("docs/middleware.md"):gmatch("\n```lua\n(.-)\n```\n") do
      count = count + 1
      local app = fastslua.app()
      local names = { app = app, tokens = { "t" }, sessions = {}, log = print }
      local environment = setmetatable(names, {
        __index = function(_, name)
          local found, layer = pcall(require, "fastslua.middleware." .. name)
          return found and layer or _G[name]
        end,
      })
      -- Any port will do, and no file is left behind.
      local text = block:gsub("8080", "0"):gsub('"access.log"', '"/dev/null"')
      local run = assert(loadstring(text))
      local fine, problem = pcall(setfenv(run, environment))
      assert.is_true(fine, tostring(problem) .. "\n" .. block)
      -- What it has put together answers.
      local response = serve.get(serve.with(rawget(environment, "app")), "/nothing")
      assert.is_true(response.status < 500)
    end
    assert.is_true(count >= 10, count)
  end)
end)
