-- What docs/application.md shows is run: each block of Lua, and the requests and answers in the block behind it.

local fastslua = require("fastslua")

local file = assert(io.open("docs/application.md"))
local text = file:read("*a")
file:close()

-- The application that a block makes, which it calls `app`.
local function run(code, line)
  local chunk = assert(loadstring(("\n"):rep(line) .. code .. "\nreturn app", "@docs/application.md"))
  setfenv(chunk, setmetatable({ fastslua = fastslua }, { __index = _G }))
  return chunk()
end

-- "POST /units {...} -> 201 {...}": the request, and its answer where one is shown.
local function ask(client, row)
  local method, path, body, status, answer = row:match("^(%u+) (%S+) ?(.-) %-> (%d+) ?(.*)$")
  assert(method, "what does this mean: " .. row)
  local options = body ~= "" and { json = fastslua.json.decode(body) } or nil
  local response = assert(client:request(method, path, options))
  assert.are.equal(tonumber(status), response.status, row)
  if answer ~= "" then
    assert.are.equal(answer, (response.body:gsub("\n$", "")), row)
  end
end

describe("docs/application.md", function()
  local at, count = 1, 0
  while true do
    local from, to, code = text:find("\n```lua\n(.-)\n```\n", at)
    if not from then
      break
    end
    local _, line = text:sub(1, from):gsub("\n", "")
    local _, behind, rows = text:find("^```\n(.-)\n```\n", to + 1)
    at, count = behind or to, count + 1
    it(("is right from line %d on"):format(line + 1), function()
      local client = fastslua.test(run(code, line + 1))
      for row in ((rows or "") .. "\n"):gmatch("(.-)\n") do
        if row ~= "" then
          ask(client, row)
        end
      end
    end)
  end
  it("shows what it describes", function()
    assert.is_true(count >= 11)
  end)
end)
