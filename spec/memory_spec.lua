-- Memory that runs out: every allocation of a round of requests fails once. Nothing may crash, hang, leak, or stay
-- broken afterwards. Lua errors jump over native frames here, at every point where they can.

local library = rawget(_G, "jit") and "libluajit-5.1.so.2" or "liblua5.1.so.0"

describe("a state whose memory runs out", function()
  it("serves on afterwards and leaves nothing behind", function()
    local host = os.tmpname()
    if os.execute(("cc -o %s spec/support/failing_memory.c -ldl 2>/dev/null"):format(host)) ~= 0 then
      return pending("needs a C compiler")
    end
    local output = io.popen(("%s %s spec/support/failing_memory.lua; echo code $?"):format(host, library))
    local text = output:read("*a")
    output:close()
    os.remove(host)
    if text:find("code 2", 1, true) then
      return pending("needs " .. library)
    end
    assert.is_truthy(text:find("0 bytes left\ncode 0", 1, true), text)
    assert.is_true(tonumber(text:match("^(%d+) allocations failed")) > 30, text)
  end)
end)
