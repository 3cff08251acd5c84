-- bearer_auth: which tokens pass, what the challenge says, and that nothing that a client sends breaks it.

local bearer_auth = require("fastslua.middleware.bearer_auth")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

local function bearer(token)
  return ("Authorization: Bearer %s\r\n"):format(token)
end

local function who(req)
  return { user = req.user }
end

describe("bearer_auth", function()
  after_each(serve.close_all)

  it("takes tokens of its table and tells whose they are", function()
    local server = support.served(bearer_auth({ tokens = { "t-1", ["a.b_c~d+e/f=="] = "anna", t3 = { id = 3 } } }), who)
    for _, row in ipairs({
      { bearer("t-1"), '{"user":true}' },
      { bearer("a.b_c~d+e/f=="), '{"user":"anna"}' },
      { "authorization: BEARER   t3\r\n", '{"user":{"id":3}}' },
    }) do
      local response = serve.get(server, "/", row[1])
      assert.are.same({ 200, row[2] }, { response.status, response.body })
    end
  end)

  local plain = 'Bearer realm="Restricted"'
  local invalid = plain .. ', error="invalid_token", error_description="The token is not valid."'
  local malformed = plain .. ', error="invalid_request", error_description="The token is malformed."'
  for name, row in pairs({
    ["no token"] = { "", 401, plain },
    ["another scheme"] = { "Authorization: Basic YTpi\r\n", 401, plain },
    ["a scheme alone"] = { "Authorization: Bearer\r\n", 401, plain },
    ["a token in the query"] = { "X-Nothing: 1\r\n", 401, plain, "/?access_token=token" },
    ["a wrong token"] = { bearer("Token"), 401, invalid },
    ["a token that goes on"] = { bearer("tokentoken"), 401, invalid },
    ["a huge token"] = { bearer(("t"):rep(15000)), 401, invalid },
    ["two tokens"] = { bearer("token token"), 400, malformed },
    ["a token with a quote"] = { bearer('to"ken'), 400, malformed },
    ["a token that is not ASCII"] = { bearer("tok\255en"), 400, malformed },
    ["a token in equals signs"] = { bearer("==token"), 400, malformed },
    ["a field full of spaces"] = { bearer("a" .. (" "):rep(15000) .. "b"), 400, malformed },
  }) do
    it("refuses " .. name, function()
      local server = support.served(bearer_auth({ tokens = { "token" } }))
      local response = serve.get(server, row[4] or "/", row[1])
      assert.are.same({ row[2], row[3] }, { response.status, response.fields["www-authenticate"] })
      assert.is_nil(response.body:find("tokentoken", 1, true))
    end)
  end

  it("answers for long hostile fields in no time", function()
    local server = support.served(bearer_auth({ tokens = { "token" } }))
    local before = os.clock()
    for _ = 1, 20 do
      serve.get(server, "/", bearer("a" .. (" "):rep(15000) .. "b"))
    end
    -- Backtracking over every pair of places would take seconds.
    assert.is_true(os.clock() - before < 1)
  end)

  it("says which scope is needed, and quotes the realm", function()
    local step = bearer_auth({
      realm = 'the "map"',
      scope = "read write",
      verify = function(token)
        if token == "reader" then
          return nil, "insufficient_scope"
        end
        return token == "writer" and { name = "w" }
      end,
    })
    local server = support.served(step, who)
    local realm = [[Bearer realm="the \"map\""]]
    assert.are.equal(realm .. ', scope="read write"', serve.get(server, "/").fields["www-authenticate"])
    local response = serve.get(server, "/", bearer("reader"))
    assert.are.equal(403, response.status)
    assert.are.equal(
      realm
        .. ', error="insufficient_scope", error_description="The token does not reach this far.", scope="read write"',
      response.fields["www-authenticate"]
    )
    assert.are.equal(401, serve.get(server, "/", bearer("nobody")).status)
    assert.are.equal('{"user":{"name":"w"}}', serve.get(server, "/", bearer("writer")).body)
  end)

  it("refuses wrong options by name", function()
    local function verify() end
    local one = "bearer_auth: give one of the options 'tokens' and 'verify'"
    local tokens = "bearer_auth: option 'tokens' must hold"
    support.refuses(bearer_auth, {
      { 1, "bearer_auth needs a table of options, got a number" },
      { nil, one },
      { { tokens = { "a" }, verify = verify }, one },
      { { token = "a" }, "bearer_auth: unknown option 'token'" },
      { { tokens = "a" }, "bearer_auth: option 'tokens' must be a table, got a string" },
      { { tokens = {} }, "bearer_auth: option 'tokens' must not be empty" },
      { { tokens = { "a b" } }, tokens },
      { { tokens = { 7 } }, tokens },
      { { tokens = { [true] = "a" } }, tokens },
      { { tokens = { a = false } }, tokens .. " users as values" },
      { { verify = verify, realm = "a\nb" }, "bearer_auth: option 'realm' must be text without control characters" },
      { { verify = verify, scope = "" }, "bearer_auth: option 'scope' must be words" },
      { { verify = verify, scope = 'a"b' }, "bearer_auth: option 'scope' must be words" },
      { { verify = verify, scope = "a\\b" }, "bearer_auth: option 'scope' must be words" },
      { { verify = verify, scope = "ä" }, "bearer_auth: option 'scope' must be words" },
    })
  end)
end)
