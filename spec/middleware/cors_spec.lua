-- cors: which fields a browser is told, and that nobody but the origins that are meant gets them.

local cors = require("fastslua.middleware.cors")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

local function from(origin, more)
  return ("Origin: %s\r\n%s"):format(origin, more or "")
end

-- The fields of the protocol in an answer, one text each, in their order.
local function told(response)
  local lines = {}
  for name, value in pairs(response.fields) do
    if name:find("^access%-control%-") then
      lines[#lines + 1] = name:gsub("^access%-control%-", "") .. "=" .. value
    end
  end
  table.sort(lines)
  return table.concat(lines, "; ")
end

local function preflight(server, origin, more)
  return serve.ask(server, "OPTIONS", "/", from(origin, "Access-Control-Request-Method: PUT\r\n" .. (more or "")))
end

describe("cors", function()
  after_each(serve.close_all)

  it("lets every page read by default", function()
    local server = support.served(cors())
    local response = serve.get(server, "/", from("https://page.example"))
    assert.are.same({ 200, "allow-origin=*" }, { response.status, told(response) })
    assert.is_nil(response.fields.vary)
    response = serve.get(server, "/")
    assert.are.same({ 200, "" }, { response.status, told(response) })
  end)

  -- Origin option, origin of the page, whether it is told.
  local rows = {
    { "https://a.example", "https://a.example", true },
    { "https://a.example", "HTTPS://A.Example", true },
    { "https://A.Example", "https://a.example", true },
    { "https://a.example", "http://a.example", false },
    { "https://a.example", "https://a.example:8443", false },
    { "https://a.example", "https://a.example.evil.example", false },
    { "https://a.example", "https://aXexample", false },
    { "https://a.example", "null", false },
    { "null", "null", true },
    { { "https://a.example", "https://b.example" }, "https://b.example", true },
    { { "https://a.example", "https://b.example" }, "https://c.example", false },
    { "https://*.a.example", "https://x.a.example", true },
    { "https://*.a.example", "https://x.y.a.example", true },
    { "https://*.a.example", "https://a.example", false },
    { "https://*.a.example", "https://.a.example", false },
    { "https://*.a.example", "https://xa.example", false },
    { "https://*.a.example", "https://evil.example/.a.example", false },
    { "https://*.a.example", "https://evil.example#.a.example", false },
    { "https://*.a.example", "https://x.aXexample", false },
    { "https://*.a.example", "https://x.a.example:81", false },
    { "http://localhost:*", "http://localhost:5173", true },
    { "http://localhost:*", "http://localhost", false },
    { "http://localhost:*", "http://localhost:", false },
    { "http://localhost:*", "http://localhost:80.evil.example", false },
    { "http://[::1]:*", "http://[::1]:80", true },
    { "https://*.a-b.example:*", "https://x.a-b.example:444", true },
    { "https://*.a.example", "https://" .. ("x"):rep(400) .. ".a.example", false },
    { "https://*.a.example", "https://" .. ("x."):rep(4000), false },
    { "https://a.example", "https://a.example\255", false },
  }
  for index, row in ipairs(rows) do
    it(("tells origins that are meant, and no others (%d)"):format(index), function()
      local response = serve.get(support.served(cors({ origin = row[1] })), "/", from(row[2]))
      assert.are.equal(200, response.status)
      assert.are.equal(row[3] and row[2] or nil, response.fields["access-control-allow-origin"])
      assert.are.equal("Origin", response.fields.vary)
    end)
  end

  it("says that the answer depends on the origin also where none was sent", function()
    local server = support.served(cors({ origin = "https://a.example" }), function(_, res)
      res:vary("Accept"):send("x")
    end)
    local response = serve.get(server, "/")
    assert.are.same({ "", "Origin, Accept" }, { told(response), response.fields.vary })
  end)

  it("asks a function: true, an origin, or a false value", function()
    local seen = {}
    local server = support.served(cors({
      origin = function(origin, req)
        seen[#seen + 1] = origin .. " " .. req.path
        if origin == "https://other.example" then
          return "https://named.example"
        end
        return origin == "https://a.example"
      end,
    }))
    local function allowed(origin)
      return serve.get(server, "/p", from(origin)).fields["access-control-allow-origin"]
    end
    assert.are.equal("https://a.example", allowed("https://a.example"))
    assert.are.equal("https://named.example", allowed("https://other.example"))
    assert.is_nil(allowed("https://evil.example"))
    assert.is_nil(serve.get(server, "/p").fields["access-control-allow-origin"])
    assert.are.equal(3, #seen)
    assert.are.equal("https://a.example /p", seen[1])
  end)

  it("answers a preflight, giving back what the page wants to send", function()
    local called = 0
    local server = support.served(cors(), function()
      called = called + 1
      return "handler"
    end)
    local response = preflight(server, "https://a.example", "Access-Control-Request-Headers: x-a, Content-Type\r\n")
    assert.are.same({ 204, "", 0 }, { response.status, response.body, called })
    assert.are.equal(
      "allow-headers=x-a, Content-Type; allow-methods=GET, HEAD, PUT, PATCH, POST, DELETE; allow-origin=*",
      told(response)
    )
    assert.are.equal("Access-Control-Request-Method, Access-Control-Request-Headers", response.fields.vary)
    assert.is_nil(response.fields["content-length"])
  end)

  it("answers a preflight with everything that the options say", function()
    local server = support.served(cors({
      origin = { "https://a.example" },
      methods = { "GET", "PUT" },
      allowed_headers = { "X-One", "X-Two" },
      exposed_headers = { "X-Total" },
      credentials = true,
      max_age = 600,
      private_network = true,
    }))
    local all = "allow-credentials=true; allow-headers=X-One, X-Two; allow-methods=GET, PUT; "
      .. "allow-origin=https://a.example; %smax-age=600"
    assert.are.equal(all:format(""), told(preflight(server, "https://a.example")))
    local private = "Access-Control-Request-Private-Network: true\r\n"
    local response = preflight(server, "https://a.example", private)
    assert.are.equal(all:format("allow-private-network=true; "), told(response))
    assert.is_truthy(response.fields.vary:find("^Origin, "))
    response = serve.get(server, "/", from("https://a.example"))
    assert.are.equal("allow-credentials=true; allow-origin=https://a.example; expose-headers=X-Total", told(response))
    response = preflight(server, "https://evil.example", private)
    assert.are.same({ 204, "" }, { response.status, told(response) })
  end)

  it("gives back no header names that are none", function()
    local server = support.served(cors())
    for _, names in ipairs({ "x-a\255", "x-a; x-b", 'x-a"', "(x)", "x/y" }) do
      local response = preflight(server, "https://a.example", "Access-Control-Request-Headers: " .. names .. "\r\n")
      assert.are.equal(204, response.status)
      assert.is_nil(response.fields["access-control-allow-headers"])
    end
  end)

  it("leaves OPTIONS that is no preflight to the handlers", function()
    local server = support.served(cors(), function(req)
      return req.method
    end)
    assert.are.equal("OPTIONS", serve.ask(server, "OPTIONS", "/", from("https://a.example")).body)
    assert.are.equal("OPTIONS", serve.ask(server, "OPTIONS", "/", "Access-Control-Request-Method: PUT\r\n").body)
  end)

  it("lets a page read failures too", function()
    local server = support.served(cors({ origin = "https://a.example", exposed_headers = "*" }), function()
      error("boom")
    end)
    local response = serve.get(server, "/", from("https://a.example"))
    assert.are.same({ 500, "allow-origin=https://a.example; expose-headers=*" }, { response.status, told(response) })
    assert.are.equal("Origin, Accept", response.fields.vary)
  end)

  it("tells no more than the server allows: a listed origin may change state", function()
    local server =
      support.served(cors({ origin = "https://a.example" }), nil, { allowed_origins = { "https://a.example" } })
    assert.are.equal(200, serve.ask(server, "POST", "/", from("https://a.example"), "x").status)
    assert.are.equal(403, serve.ask(server, "POST", "/", from("https://b.example"), "x").status)
    server = support.served(cors({ origin = "https://a.example" }))
    assert.are.equal(403, serve.ask(server, "POST", "/", from("https://a.example"), "x").status)
  end)

  it("refuses wrong options by name", function()
    local origin = "cors: option 'origin' must"
    support.refuses(cors, {
      { "*", "cors needs a table of options, got a string" },
      { { origins = "*" }, "cors: unknown option 'origins'" },
      { { origin = 1 }, "cors: option 'origin' must be an origin, a list of them, a function or '*', got a number" },
      { { origin = "a.example" }, origin .. " hold origins like" },
      { { origin = "https://a.example/" }, origin .. " hold origins like" },
      { { origin = "https://" }, origin .. " hold origins like" },
      { { origin = "https://*" }, origin .. " hold origins like" },
      { { origin = "https://*a.example" }, origin .. " hold origins like" },
      { { origin = "https://*.*.example" }, origin .. " hold origins like" },
      { { origin = "https://a.example\r\n" }, origin .. " hold origins like" },
      { { origin = {} }, origin .. " not be an empty list" },
      { { origin = { "https://a.example", "*" } }, origin .. " not have '*' in a list" },
      { { origin = { 1 } }, origin .. " hold origins as strings, got a number" },
      { { methods = "GET" }, "cors: option 'methods' must be a table, got a string" },
      { { methods = {} }, "cors: option 'methods' must not be an empty list" },
      { { methods = { "GE T" } }, "cors: option 'methods' must be a name that HTTP allows, got 'GE T' (item 1)" },
      { { allowed_headers = "X-A" }, "cors: option 'allowed_headers' must be a list or '*', got 'X-A'" },
      { { allowed_headers = { "X A" } }, "cors: option 'allowed_headers' must be a name" },
      { { exposed_headers = { "X\r\nA" } }, "cors: option 'exposed_headers' must be a name" },
      { { exposed_headers = 1 }, "cors: option 'exposed_headers' must be a list of names or '*', got a number" },
      { { credentials = 1 }, "cors: option 'credentials' must be a boolean, got a number" },
      { { max_age = -1 }, "cors: option 'max_age' must be from 0 to" },
      { { max_age = 0 / 0 }, "cors: option 'max_age' must be from 0 to" },
      { { max_age = 1.5 }, "cors: option 'max_age' must be a whole number" },
      { { credentials = true }, "cors: option 'credentials' cannot be true while 'origin' is '*'" },
      {
        { credentials = true, origin = "null", exposed_headers = "*" },
        "cors: option 'credentials' cannot be true while 'exposed_headers' is '*'",
      },
    })
  end)
end)
