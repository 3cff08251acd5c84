-- The Lua layers: all of them are in the one file, and can be read from a folder instead. Each case is a process of its
-- own in an empty folder, which has no lua/ to find them in.

local interpreter = rawget(_G, "jit") and "luajit" or "lua5.1"

-- What a command prints.
local function output_of(command)
  local output = io.popen(command)
  local text = output:read("*a")
  output:close()
  return text
end

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local here = output_of("pwd"):gsub("\n$", "")
local cpath = here .. "/build/?.so"

-- The names of all layers, from their files.
local names = {}
for file in output_of("find lua/fastslua -name '*.lua'"):gmatch("lua/([^\n]+)%.lua\n") do
  names[#names + 1] = file:gsub("/", ".")
end

-- A new folder, for as long as `use` runs.
local function in_folder(use)
  local folder = output_of("mktemp -d"):gsub("\n$", "")
  local fine, problem = pcall(use, folder)
  os.execute("rm -rf " .. quoted(folder))
  assert(fine, problem)
end

-- What a script prints that runs in the folder. `from` is the value of FASTSLUA_LUA_PATH.
local function run(folder, script, from)
  local variable = from and "FASTSLUA_LUA_PATH=" .. quoted(from) or ""
  local command = "cd %s && env -u FASTSLUA_LUA_PATH -u LUA_PATH LUA_CPATH=%s %s %s -e %s 2>&1"
  return output_of(command:format(quoted(folder), quoted(cpath), variable, interpreter, quoted(script)))
end

describe("the layers", function()
  it("are all found by require, with nothing but the one file", function()
    assert.is_true(#names > 8, "only " .. #names)
    in_folder(function(folder)
      for _, name in ipairs(names) do
        local script = ("require('fastslua') print(type(require('%s')))"):format(name)
        assert.is_truthy(run(folder, script):find("^[ft][ua][nb][cl]"), name .. ": " .. run(folder, script))
      end
    end)
  end)

  it("that users name are found before the module is loaded", function()
    local named = {
      ["fastslua.router"] = true,
      ["fastslua.exposition"] = true,
      ["fastslua.adapters.http_server"] = true,
      ["fastslua.adapters.wsapi"] = true,
    }
    in_folder(function(folder)
      for _, name in ipairs(names) do
        if name:find("fastslua.middleware.", 1, true) or named[name] then
          local script = ("local it = require('%s') print(require('%s') == it)"):format(name, name)
          assert.are.equal("true\n", run(folder, script))
        end
      end
    end)
  end)

  it("are read from the folder that FASTSLUA_LUA_PATH names", function()
    in_folder(function(folder)
      os.execute(("cp -r %s/lua/. %s"):format(quoted(here), quoted(folder)))
      for _, name in ipairs(names) do
        local path = ("%s/%s.lua"):format(folder, name:gsub("%.", "/"))
        local file = assert(io.open(path, "a+"))
        local text = file:read("*a")
        file:close()
        file = assert(io.open(path, "w"))
        -- The first line stays a line, so that line numbers do.
        file:write(("READ = (READ or '') .. ' %s' "):format(name), text)
        file:close()
      end
      for _, name in ipairs(names) do
        local script = ("require('fastslua') require('%s') print(READ)"):format(name)
        local read = run("/", script, folder)
        assert.is_truthy((read .. " "):gsub("\n", " "):find(" " .. name .. " ", 1, true), read)
        assert.are.equal("nil\n", run("/", script))
        assert.are.equal("nil\n", run("/", script, ""))
      end
    end)
  end)

  it("say which file is missing or wrong there", function()
    in_folder(function(folder)
      local script = "local fine, message = pcall(require, 'fastslua') print(fine, message)"
      local missing = run("/", script, folder)
      assert.is_truthy(missing:find("false", 1, true))
      assert.is_truthy(missing:find(folder .. "/fastslua/application.lua", 1, true), missing)
      os.execute(("mkdir %s/fastslua"):format(quoted(folder)))
      local file = assert(io.open(folder .. "/fastslua/application.lua", "w"))
      file:write("local x = 1\nlocal y = = 2\n")
      file:close()
      local wrong = run("/", script, folder)
      assert.is_truthy(wrong:find("fastslua/application.lua:2:", 1, true), wrong)
    end)
  end)

  it("say what they miss where a program keeps libraries from its scripts", function()
    in_folder(function(folder)
      local script = "local logger = require('fastslua.middleware.logger') "
        .. "print(pcall(logger, { sink = print })) print(pcall(logger, { sink = print, format = tostring }))"
      local whole = run(folder, script)
      assert.are.equal("true\ttrue", whole:gsub("function: %S+", ""):gsub("[\t\n]+", "\t"):match("^%s*(.-)%s*$"))
      local without = run(folder, "os, io, debug = nil, nil, nil " .. script)
      assert.is_truthy(
        without:find("false\tlogger: option 'format' cannot be 'common': the os library", 1, true),
        without
      )
      assert.is_truthy(without:find("\ntrue\tfunction", 1), without)
    end)
  end)
end)
