-- basic_auth: who may pass, and that nothing that a client sends breaks it.

local basic_auth = require("fastslua.middleware.basic_auth")
local mime = require("mime")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

-- A field with these credentials.
local function basic(text, scheme)
  return ("Authorization: %s %s\r\n"):format(scheme or "Basic", (mime.b64(text) or ""))
end

local function who(req)
  return { user = req.user }
end

describe("basic_auth", function()
  after_each(serve.close_all)

  it("takes a user of its table with his password, and tells who he is", function()
    local server = support.served(basic_auth({ users = { anna = "pa:ss wörd", ben = "b" } }), who)
    for _, row in ipairs({
      { basic("anna:pa:ss wörd"), '{"user":"anna"}' },
      { basic("ben:b"), '{"user":"ben"}' },
      { basic("ben:b", "bASIC"), '{"user":"ben"}' },
      { basic("ben:b", "Basic   "), '{"user":"ben"}' },
    }) do
      local response = serve.get(server, "/", row[1])
      assert.are.same({ 200, row[2] }, { response.status, response.body })
    end
  end)

  for name, fields in pairs({
    ["no credentials"] = "",
    ["an empty field"] = "Authorization:\r\n",
    ["another scheme"] = "Authorization: Bearer YW5uYTpzZWNyZXQ=\r\n",
    ["a scheme alone"] = "Authorization: Basic\r\n",
    ["a wrong password"] = basic("anna:Secret"),
    ["a longer password"] = basic("anna:secretsecret"),
    ["no password"] = basic("anna:"),
    ["no colon"] = basic("anna"),
    ["an unknown user"] = basic("eve:secret"),
    ["an unknown user with his name as password"] = basic("eve:eve"),
    ["nobody"] = basic(":"),
    ["nothing"] = basic(""),
    ["a user in another case"] = basic("Anna:secret"),
    ["a NUL behind the password"] = basic("anna:secret\0"),
    ["a line break in the name"] = basic("an\r\nna:secret"),
    ["a name that is not UTF-8"] = basic("\255\254:secret"),
    ["malformed Base64"] = "Authorization: Basic !!!!\r\n",
    ["Base64 without its padding"] = "Authorization: Basic YW5uYTpzZWNyZXQ\r\n",
    ["Base64 with bits left over"] = "Authorization: Basic YW5uYTpzZWNyZXR=\r\n",
    ["Base64 in two pieces"] = "Authorization: Basic YW5uYTpz ZWNyZXQ=\r\n",
    ["URL-safe Base64"] = "Authorization: Basic YW5uYTpzZWNy_-Q=\r\n",
    ["credentials that fill the field"] = basic(("a"):rep(5000) .. ":" .. ("b"):rep(5000)),
    ["a field full of spaces"] = "Authorization: Basic a" .. (" "):rep(15000) .. "b\r\n",
  }) do
    it("asks for credentials when it gets " .. name, function()
      local response = support.get(basic_auth({ users = { anna = "secret" } }), fields)
      assert.are.equal(401, response.status)
      assert.are.equal('Basic realm="Restricted", charset="UTF-8"', response.fields["www-authenticate"])
      assert.is_nil(response.body:find("secret", 1, true))
    end)
  end

  it("quotes the realm", function()
    local response = support.get(basic_auth({ users = { a = "b" }, realm = 'a "b" \\c, d="e"' }))
    assert.are.equal([[Basic realm="a \"b\" \\c, d=\"e\"", charset="UTF-8"]], response.fields["www-authenticate"])
  end)

  it("takes what verify says: true for the name, or the user itself", function()
    local seen = {}
    local server = support.served(
      basic_auth({
        verify = function(name, password, req)
          seen[#seen + 1] = ("%s %s %s"):format(name, password, req.path)
          if password == "yes" then
            return name ~= "root" or { id = 0 }
          end
        end,
      }),
      who
    )
    assert.are.equal('{"user":"anna"}', serve.get(server, "/a", basic("anna:yes")).body)
    assert.are.equal('{"user":{"id":0}}', serve.get(server, "/b", basic("root:yes")).body)
    assert.are.equal(401, serve.get(server, "/c", basic("anna:no")).status)
    assert.are.equal(401, serve.get(server, "/d", basic("anna\n:yes")).status)
    assert.are.same({ "anna yes /a", "root yes /b", "anna no /c" }, seen)
  end)

  it("copies the users", function()
    local users = { anna = "secret" }
    local server = support.served(basic_auth({ users = users }))
    users.anna, users.eve = nil, "evil"
    assert.are.equal(200, serve.get(server, "/", basic("anna:secret")).status)
    assert.are.equal(401, serve.get(server, "/", basic("eve:evil")).status)
  end)

  it("refuses wrong options by name", function()
    local function verify() end
    support.refuses(basic_auth, {
      { "x", "basic_auth needs a table of options, got a string" },
      { nil, "basic_auth: give one of the options 'users' and 'verify'" },
      { {}, "basic_auth: give one of the options 'users' and 'verify'" },
      { { users = { a = "b" }, verify = verify }, "basic_auth: give one of the options 'users' and 'verify'" },
      { { user = {} }, "basic_auth: unknown option 'user'" },
      { { users = "a" }, "basic_auth: option 'users' must be a table, got a string" },
      { { users = {} }, "basic_auth: option 'users' must not be empty" },
      { { users = { ["a:b"] = "c" } }, "basic_auth: option 'users' must have names without colons as keys, got 'a:b'" },
      { { users = { "anna" } }, "basic_auth: option 'users' must have names without colons as keys, got '1'" },
      { { users = { a = "" } }, "that of 'a' is none" },
      { { users = { a = 1 } }, "that of 'a' is none" },
      { { users = { a = "b\0" } }, "that of 'a' is none" },
      { { verify = "x" }, "basic_auth: option 'verify' must be a function, got a string" },
      { { verify = verify, realm = 1 }, "basic_auth: option 'realm' must be a string, got a number" },
      { { verify = verify, realm = "a\r\nb" }, "basic_auth: option 'realm' must be text without control characters" },
    })
  end)
end)
