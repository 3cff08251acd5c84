-- fastslua.exposition: every counter of server:stats() as Prometheus reads it.

local exposition = require("fastslua.exposition")
local fastslua = require("fastslua")
local prometheus = require("spec.support.prometheus")
local serve = require("spec.support.serve")

local function answer()
  return "ok"
end

describe("exposition.text", function()
  after_each(serve.close_all)

  it("tells every counter, with its value", function()
    local server = serve.with(answer)
    serve.get(server, "/")
    serve.get(server, "/", "Bad Field: x\r\n")
    local values = prometheus.read(exposition.text(server))
    local stats = server:stats()
    -- A request's number is no figure that a graph can use.
    stats.slowest_request = nil
    -- The names do not matter here: as often as a number is in the one, it is in the other.
    local function numbers_of(all)
      local numbers = {}
      local function visit(value)
        if type(value) == "table" then
          for _, inner in pairs(value) do
            visit(inner)
          end
        else
          numbers[#numbers + 1] = value
        end
      end
      visit(all)
      table.sort(numbers)
      return numbers
    end
    assert.are.same(numbers_of(stats), numbers_of(values))
    local name = " server=127.0.0.1:" .. server:port()
    assert.are.equal(stats.bytes_in, values["fastslua_received_bytes_total" .. name])
    assert.are.equal(stats.step_seconds_max, values["fastslua_step_seconds_max" .. name])
    assert.are.equal(1, values["fastslua_responses_total class=2xx" .. name])
    assert.are.equal(1, values["fastslua_refusals_total reason=bad_field_name" .. name])
    assert.are.equal(stats.ends.refused, values["fastslua_connections_ended_total reason=refused" .. name])
  end)

  it("is the same text for the same counters", function()
    local server = serve.with(answer)
    serve.get(server, "/")
    assert.are.equal(exposition.text(server), exposition.text(server))
  end)

  it("names servers by their addresses", function()
    local six = fastslua.listen({ port = 0, host = "::1" }, answer)
    if not six then
      return
    end
    local four = serve.with(answer)
    local values = prometheus.read(exposition.text(four, six))
    assert.are.equal(0, values["fastslua_connections server=[::1]:" .. six:port()])
    assert.are.equal(0, values["fastslua_connections server=127.0.0.1:" .. four:port()])
    six:close()
  end)

  it("escapes labels", function()
    local out = exposition.new()
    out:begin("x", "gauge", "Nothing.")
    local text = 'a\\n"b"\n\\\195\164,c="d"} 1'
    out:add("x", 0.25, "one", text, "two", "")
    assert.are.equal(0.25, prometheus.read(out:text())["x one=" .. text .. " two="])
  end)

  it("refuses what is no server", function()
    assert.are.equal("", exposition.text())
    for _, wrong in ipairs({ 1, "x", {}, print, io.stdout }) do
      local fine, message = pcall(function()
        local text = exposition.text(serve.with(answer), wrong)
        return text
      end)
      assert.is_false(fine)
      assert.is_truthy(message:find("exposition_spec.lua:%d+: exposition.text needs servers, got a "), message)
    end
  end)
end)
