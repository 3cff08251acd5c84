-- Memory that runs out: every allocation of a round of work fails once. Nothing may crash, hang, leak, or stay
-- broken afterwards. Lua errors jump over native frames here, at every point where they can.

local library = rawget(_G, "jit") and "libluajit-5.1.so.2" or "liblua5.1.so.0"

-- What failing_memory.c ends with when something is not there.
local lacks = {
  ["2"] = "needs " .. library,
  ["4"] = library .. " takes no allocator of the host's",
}

describe("a state whose memory runs out", function()
  local host

  setup(function()
    host = os.tmpname()
    if os.execute(("cc -o %s spec/support/failing_memory.c -ldl 2>/dev/null"):format(host)) ~= 0 then
      os.remove(host)
      host = nil
    end
  end)

  teardown(function()
    if host then
      os.remove(host)
    end
  end)

  local function run(script, outcome)
    if not host then
      return pending("needs a C compiler")
    end
    local output = io.popen(("%s %s spec/support/%s; echo code $?"):format(host, library, script))
    local text = output:read("*a")
    output:close()
    local lacking = lacks[text:match("code (%d+)\n$")]
    if lacking then
      return pending(lacking)
    end
    assert.is_truthy(text:find((outcome or ", 0 bytes left") .. "\ncode 0", 1, true), text)
    assert.is_true(tonumber(text:match("^(%d+) allocations failed")) > 30, text)
  end

  it("serves on afterwards and leaves nothing behind", function()
    run("failing_memory.lua")
  end)

  it("encodes and decodes on afterwards and leaves nothing behind", function()
    run("failing_memory_json.lua")
  end)

  it("can load the module afterwards", function()
    run("failing_load.lua new", "allocations failed")
  end)
end)
