-- Where a request came from: what a trusted proxy says is believed, what anybody else says is not.

local serve = require("spec.support.serve")

-- The origin that a handler sees with these options and fields.
local function origin(options, fields, target)
  local seen
  local server = serve.with(function(req)
    seen = {
      address = req.remote_address,
      peer = req.peer_address,
      scheme = req.scheme,
      secure = req.secure,
      host = req.host,
      hostname = req.hostname,
    }
    return ""
  end, options)
  assert.are.equal(200, serve.get(server, target or "/", fields).status)
  return seen
end

local PLAIN = {
  address = "127.0.0.1",
  peer = "127.0.0.1",
  scheme = "http",
  secure = false,
  host = "127.0.0.1",
  hostname = "127.0.0.1",
}

-- The plain origin with changes.
local function changed(changes)
  local origin_of = {}
  for name, value in pairs(PLAIN) do
    origin_of[name] = value
  end
  for name, value in pairs(changes) do
    origin_of[name] = value
  end
  return origin_of
end

local TOLD = "X-Forwarded-For: 6.6.6.6, 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: sim.example:8443\r\n"
local SAME_IN_RFC_7239 = 'Forwarded: for=6.6.6.6, for="192.0.2.1:4711";proto=https;host="sim.example:8443"\r\n'
local BELIEVED = changed({
  address = "192.0.2.1",
  scheme = "https",
  secure = true,
  host = "sim.example:8443",
  hostname = "sim.example",
})

describe("the origin of a request", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    { "is the socket's", {}, "", PLAIN },
    { "is the socket's whatever is said", {}, TOLD .. SAME_IN_RFC_7239, PLAIN },
    { "is the socket's unless it is trusted", { trusted_proxies = { "10.0.0.0/8", "::1" } }, TOLD, PLAIN },
    { "is what a trusted network says", { trusted_proxies = { "127.0.0.0/8" } }, TOLD, BELIEVED },
    { "is what a trusted address says", { trusted_proxies = { "10.1.1.1", "127.0.0.1" } }, TOLD, BELIEVED },
    { "is what the loopback says", { trusted_proxies = { "loopback" } }, TOLD, BELIEVED },
    {
      "is followed through trusted proxies",
      { trusted_proxies = { "loopback", "192.0.2.0/24" } },
      "X-Forwarded-For: 6.6.6.6, 198.51.100.7, 192.0.2.1\r\n",
      changed({ address = "198.51.100.7" }),
    },
    { "is not read from the other family", { trusted_proxies = { "loopback" } }, SAME_IN_RFC_7239, PLAIN },
    {
      "is read from Forwarded when the proxy writes it",
      { trusted_proxies = { "loopback" }, proxy_header = "forwarded" },
      SAME_IN_RFC_7239 .. "X-Forwarded-For: 6.6.6.6\r\n",
      BELIEVED,
    },
    {
      "has no scheme that nobody comes by, and no host that is none",
      { trusted_proxies = { "loopback" } },
      'X-Forwarded-Proto: javascript\r\nX-Forwarded-Host: evil.example/x"y\r\n',
      PLAIN,
    },
    {
      "has none of those from Forwarded either",
      { trusted_proxies = { "loopback" }, proxy_header = "forwarded" },
      'Forwarded: proto=javascript;host="evil.example/x y"\r\n',
      PLAIN,
    },
    { "survives nonsense", { trusted_proxies = { "loopback" } }, "X-Forwarded-For: junk,, \r\n", PLAIN },
  }) do
    it(row[1], function()
      assert.are.same(row[4], origin(row[2], row[3]))
    end)
  end

  it("is an IPv4 client's own address where the server listens on IPv6", function()
    local fine, server = pcall(serve.with, function(req)
      return req.remote_address .. " " .. req.peer_address
    end, { host = "::" })
    if not fine then
      return pending("needs IPv6")
    end
    assert.are.equal("127.0.0.1 127.0.0.1", serve.get(server, "/").body)
  end)

  it("has the host of an absolute target", function()
    local seen = origin({}, "", "http://localhost:81/x")
    assert.are.same({ "localhost:81", "localhost" }, { seen.host, seen.hostname })
  end)

  it("has the host of an IPv6 literal without brackets", function()
    local seen = origin({}, "", "http://[::1]:81/x")
    assert.are.same({ "[::1]:81", "::1" }, { seen.host, seen.hostname })
  end)

  it("has no host when an HTTP/1.0 client names none", function()
    local live = require("spec.support.live")
    local host = "unset"
    local server = serve.with(function(req)
      host = req.host
      assert(req.hostname == nil)
      return ""
    end)
    local client = live.client(server)
    client:send("GET / HTTP/1.0\r\n\r\n")
    assert.are.equal(200, client:response().status)
    assert.is_nil(host)
  end)
end)
