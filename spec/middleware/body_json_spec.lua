-- body_json: which bodies are parsed, and what the others get.

local body_json = require("fastslua.middleware.body_json")
local fastslua = require("fastslua")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

local JSON = "Content-Type: application/json\r\n"

local function tell(req)
  local value = req.json_body
  if value == fastslua.json.null then
    value = "null"
  end
  return type(value) .. " " .. tostring(type(value) == "table" and (value.a or #value) or value)
end

describe("body_json", function()
  after_each(serve.close_all)

  -- Options, type, body, then status and content; content nil when it does not matter.
  local rows = {
    { nil, JSON, '{"a":1}', 200, "table 1" },
    { nil, JSON, "[1,2,3]", 200, "table 3" },
    { nil, JSON, '"x"', 200, "string x" },
    { nil, JSON, "false", 200, "boolean false" },
    { nil, JSON, "null", 200, "string null" },
    { nil, "Content-Type: application/json; charset=UTF-8\r\n", '{"a":2}', 200, "table 2" },
    { nil, "Content-Type: application/problem+json\r\n", '{"a":3}', 200, "table 3" },
    { nil, "content-type: APPLICATION/JSON\r\n", '{"a":4}', 200, "table 4" },
    { nil, "Content-Type: text/plain\r\n", '{"a":1}', 200, "nil nil" },
    { nil, "", '{"a":1}', 200, "nil nil" },
    { nil, "Content-Type: application/jsonp\r\n", "x", 200, "nil nil" },
    { nil, "Content-Type: nonsense\255\r\n", "x", 200, "nil nil" },
    { nil, JSON, nil, 200, "nil nil" },
    { nil, JSON, "", 200, "nil nil" },
    { nil, JSON, "{", 400 },
    { nil, JSON, " ", 400 },
    { nil, JSON, "{'a':1}", 400 },
    { nil, JSON, '{"a":1} x', 400 },
    { nil, JSON, '{"a":"\255"}', 400 },
    { nil, JSON, '{"a":"\0"}', 400 },
    { nil, JSON, ("["):rep(100000), 400 },
    { nil, "Content-Type: application/json; charset=latin1\r\n", "{}", 415 },
    { { required = true }, JSON, '{"a":1}', 200, "table 1" },
    { { required = true }, JSON, nil, 400 },
    { { required = true }, JSON, "", 400 },
    { { required = true }, "Content-Type: text/plain\r\n", "{}", 415 },
    { { required = true }, "", "{}", 415 },
    { { max_bytes = 7 }, JSON, '{"a":1}', 200, "table 1" },
    { { max_bytes = 6 }, JSON, '{"a":1}', 413 },
    { { max_bytes = 6 }, "Content-Type: text/plain\r\n", "long enough", 200, "nil nil" },
  }
  for index, row in ipairs(rows) do
    it(("answers body %d with %d"):format(index, row[4]), function()
      local called
      local server = support.served(body_json(row[1]), function(req)
        called = true
        return tell(req)
      end)
      local response = serve.ask(server, "POST", "/", row[2], row[3])
      assert.are.equal(row[4], response.status, response.body)
      assert.are.equal(row[4] == 200, called == true)
      if row[5] then
        assert.are.equal(row[5], response.body)
      end
      local accept = row[4] == 415 and row[1] and "application/json" or nil
      assert.are.equal(accept, response.fields.accept)
    end)
  end

  it("refuses wrong options by name", function()
    support.refuses(body_json, {
      { true, "body_json needs a table of options, got a boolean" },
      { { limit = 1 }, "body_json: unknown option 'limit'" },
      { { required = 1 }, "body_json: option 'required' must be a boolean, got a number" },
      { { max_bytes = "1mb" }, "body_json: option 'max_bytes' must be a number, got a string" },
      { { max_bytes = 0 }, "body_json: option 'max_bytes' must be from 1 to" },
    })
  end)
end)
