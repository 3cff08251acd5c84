-- security_headers: what browsers are told, and how a program changes it.

local security_headers = require("fastslua.middleware.security_headers")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

local DEFAULTS = {
  ["content-security-policy"] = "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'; "
    .. "object-src 'none'",
  ["x-content-type-options"] = "nosniff",
  ["cross-origin-opener-policy"] = "same-origin",
  ["cross-origin-resource-policy"] = "same-origin",
  ["x-frame-options"] = "SAMEORIGIN",
  ["origin-agent-cluster"] = "?1",
  ["referrer-policy"] = "no-referrer",
  ["x-xss-protection"] = "0",
}

local OFF = { "cross-origin-embedder-policy", "permissions-policy", "strict-transport-security" }

describe("security_headers", function()
  after_each(serve.close_all)

  it("sends its fields with every answer", function()
    local server = support.served(security_headers(), function(req)
      return req.path == "/bad" and error("boom") or "ok"
    end)
    for _, path in ipairs({ "/", "/bad" }) do
      local fields = serve.get(server, path).fields
      for name, value in pairs(DEFAULTS) do
        assert.are.equal(value, fields[name])
      end
      for _, name in ipairs(OFF) do
        assert.is_nil(fields[name])
      end
    end
  end)

  it("sends what the options say, and leaves out what is false", function()
    local step = security_headers({
      content_security_policy = "default-src *",
      content_type_options = false,
      cross_origin_embedder_policy = "require-corp",
      cross_origin_opener_policy = false,
      cross_origin_resource_policy = "cross-origin",
      frame_options = false,
      origin_agent_cluster = false,
      permissions_policy = "camera=()",
      referrer_policy = "same-origin",
      strict_transport_security = "max-age=31536000",
      xss_protection = false,
    })
    local fields = support.get(step).fields
    for name, value in pairs({
      ["content-security-policy"] = "default-src *",
      ["cross-origin-embedder-policy"] = "require-corp",
      ["cross-origin-resource-policy"] = "cross-origin",
      ["permissions-policy"] = "camera=()",
      ["referrer-policy"] = "same-origin",
      ["strict-transport-security"] = "max-age=31536000",
    }) do
      assert.are.equal(value, fields[name])
      fields[name] = nil
    end
    for name in pairs(DEFAULTS) do
      assert.is_nil(fields[name])
    end
  end)

  it("leaves the last word to the handler", function()
    local fields = support.get(security_headers(), nil, function(_, res)
      res:remove("X-Frame-Options")
      res:set("Referrer-Policy", "origin"):send("x")
    end).fields
    assert.are.equal("origin", fields["referrer-policy"])
    assert.is_nil(fields["x-frame-options"])
  end)

  it("refuses wrong options by name", function()
    support.refuses(security_headers, {
      { 1, "security_headers needs a table of options, got a number" },
      { { csp = "x" }, "security_headers: unknown option 'csp'" },
      { { frame_options = 1 }, "security_headers: option 'frame_options' must be false or a string, got a number" },
      {
        { frame_options = true },
        "security_headers: option 'frame_options' must be false or what the field is to say",
      },
      { { referrer_policy = "" }, "security_headers: option 'referrer_policy' must be false or what" },
      {
        { permissions_policy = "a\r\nb" },
        "security_headers: option 'permissions_policy' must be text without control",
      },
    })
  end)
end)
