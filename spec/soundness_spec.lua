-- What no script may be able to do: bring down the process. Finalizers that call into the library at every
-- collection, values where others are expected, and whatever is still called while the state closes. The debug library
-- is out of it.

local fastslua = require("fastslua")

local interpreter = rawget(_G, "jit") and "luajit" or "lua5.1"

-- What a process of its own prints, with its exit code behind it.
local function output_of(script, ...)
  local words = { ("LUA_CPATH='build/?.so;;' %s %s"):format(interpreter, script), ... }
  local output = io.popen(table.concat(words, " ") .. " 2>&1; echo code $?")
  local text = output:read("*a")
  output:close()
  return text
end

-- Runs a script text in a process of its own.
local function output_of_text(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local output = output_of(path)
  os.remove(path)
  return output
end

describe("a script", function()
  it("may call what it finds in a metatable with anything", function()
    local seen = 0
    local function call(req)
      local index = getmetatable(req.headers).__index
      assert.is_nil(index({}, "Host"))
      for _, value in ipairs({ 5, "text", true, print, req, fastslua.json.null }) do
        local fine, message = pcall(index, value, "Host")
        assert.is_false(fine)
        assert.is_truthy(message:find("headers must be a table", 1, true), message)
        seen = seen + 1
      end
      assert.is_false(pcall(index))
      return "seen"
    end
    assert.are.equal("seen", fastslua.test(call):get("/").body)
    assert.are.equal(6, seen)
  end)

  for _, field in ipairs({ "_chains", "_router" }) do
    for name, value in pairs({ ["nothing"] = false, ["a string"] = "x", ["a userdata"] = newproxy() }) do
      it(("may put %s in the place of an application's %s"):format(name, field), function()
        local app = fastslua.app()
        app[field] = value or nil
        app._compile = function() end
        local fine, message = pcall(fastslua.test, app)
        assert.is_false(fine)
        assert.is_truthy(message:find("made by fastslua.app()", 1, true), message)
      end)
    end
  end

  it("may write to a response while that is given a place for it", function()
    local body = ("x"):rep(100000)
    local answer = fastslua
      .test(function(_, res)
        for _ = 1, 50 do
          getmetatable(newproxy(true)).__gc = function()
            res.late = "late"
          end
        end
        collectgarbage("setpause", 0)
        collectgarbage("setstepmul", 1000000)
        collectgarbage("restart")
        res.early = "early"
        collectgarbage("setpause", 200)
        collectgarbage("setstepmul", 200)
        collectgarbage()
        assert.are.equal("early", res.early)
        assert.are.equal("late", res.late)
        res:on_finish(function() end)
        res:send(body)
      end)
      :get("/")
    assert.are.equal(200, answer.status)
    assert.are.equal(body, answer.body)
  end)
end)

describe("a state that closes", function()
  it("may call the library from a finalizer of an object that is older", function()
    local output = output_of_text([[
      local fastslua
      _G.older = newproxy(true)
      getmetatable(_G.older).__gc = function() io.write(fastslua.json.encode({ "closing" }), "\n") end
      fastslua = require("fastslua")
    ]])
    assert.are.equal('["closing"]\ncode 0\n', output)
  end)

  it("may make and use objects of every kind in finalizers", function()
    local output = output_of_text([[
      local fastslua = require("fastslua")
      local request, response
      local app = fastslua.app()
      app:get("/:id", function(req, res)
        request, response = req, res
        req.user = "me"
        return req.params.id
      end)
      local client = fastslua.test(app)
      client:get("/1")
      local function arm(rest)
        getmetatable(newproxy(true)).__gc = function()
          pcall(client.get, client, "/2")
          pcall(response.send, response, "late")
          assert(request.user == "me" and not pcall(function() return request.path end))
          client.server:stats()
          local other = fastslua.test(function() return "other" end)
          assert(other:get("/").body == "other")
          if rest > 0 then arm(rest - 1) end
          io.write("finalized\n")
        end
      end
      arm(3)
    ]])
    assert.is_truthy(output:find("finalized\n", 1, true), output)
    assert.is_truthy(output:find("code 0\n", 1, true), output)
    assert.is_nil(output:find("internal error", 1, true), output)
  end)
end)

describe("finalizers at every collection", function()
  for seed = 1, 2 do
    it("may call anything and fail, seed " .. seed, function()
      local output = output_of("spec/support/finalizers.lua", seed)
      assert.is_truthy(output:find("^%d+ finalizers\ncode 0\n$"), output)
    end)
  end
end)
