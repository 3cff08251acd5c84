-- What is written about middleware: each has a section and a file for editors, which list the same options, all of
-- which it knows.

require("fastslua")

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
end)
