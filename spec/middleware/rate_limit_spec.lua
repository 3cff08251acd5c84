-- rate_limit: how many requests pass at which time, what is told, and that no client makes it remember without bound.

local rate_limit = require("fastslua.middleware.rate_limit")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

-- A clock that a test moves, and options with it.
local function clocked(options)
  local clock = { now = 1000 }
  options.clock = function()
    return clock.now
  end
  return clock, options
end

-- Status and remaining requests of one GET.
local function ask(server, fields)
  local response = serve.get(server, "/", fields)
  return response.status .. " " .. (response.fields["ratelimit-remaining"] or "-"), response
end

local function by_client(req)
  return req:header("client")
end

local function client(name)
  return ("Client: %s\r\n"):format(name)
end

describe("rate_limit", function()
  after_each(serve.close_all)

  it("lets a burst pass, then the rate", function()
    local clock, options = clocked({ rate = 2, burst = 3 })
    local server = support.served(rate_limit(options))
    assert.are.equal("200 2", (ask(server)))
    assert.are.equal("200 1", (ask(server)))
    assert.are.equal("200 0", (ask(server)))
    for _ = 1, 5 do
      assert.are.equal("429 0", (ask(server)))
    end
    clock.now = clock.now + 0.49
    assert.are.equal("429 0", (ask(server)))
    clock.now = clock.now + 0.01
    assert.are.equal("200 0", (ask(server)))
    assert.are.equal("429 0", (ask(server)))
    clock.now = clock.now + 1
    assert.are.equal("200 1", (ask(server)))
    clock.now = clock.now + 1000
    assert.are.equal("200 2", (ask(server)))
  end)

  it("never lets more than the burst and the rate pass, at any times", function()
    local clock, options = clocked({ rate = 5, burst = 4, key = by_client })
    local server = support.served(rate_limit(options))
    local passed, began = 0, clock.now
    math.randomseed(7)
    for _ = 1, 400 do
      clock.now = clock.now + math.random() * 0.15
      if serve.get(server, "/", client("a")).status == 200 then
        passed = passed + 1
      end
      assert.is_true(passed <= 4 + (clock.now - began) * 5 + 1e-6)
    end
    -- And hardly fewer: who asks more often than the rate gets all of it.
    assert.is_true(passed >= (clock.now - began) * 5 - 1, passed)
  end)

  it("tells when to come again", function()
    local clock, options = clocked({ rate = 0.1, burst = 2 })
    local server = support.served(rate_limit(options))
    local function told()
      local _, response = ask(server)
      local fields = response.fields
      return ("%s %s %s %s"):format(
        fields["ratelimit-limit"],
        fields["ratelimit-remaining"],
        fields["ratelimit-reset"],
        fields["retry-after"] or "-"
      )
    end
    assert.are.equal("2 1 10 -", told())
    assert.are.equal("2 0 20 -", told())
    assert.are.equal("2 0 20 10", told())
    clock.now = clock.now + 3.5
    assert.are.equal("2 0 17 7", told())
    clock.now = clock.now + 6.5
    assert.are.equal("2 0 20 -", told())
  end)

  it("tells nothing but Retry-After where it is not to", function()
    local _, options = clocked({ rate = 1, headers = false })
    local server = support.served(rate_limit(options))
    serve.get(server, "/")
    local response = serve.get(server, "/")
    assert.are.same({ 429, "1" }, { response.status, response.fields["retry-after"] })
    for name in pairs(response.fields) do
      assert.is_nil(name:find("ratelimit", 1, true))
    end
  end)

  it("counts clients apart by a key, and none without one", function()
    local _, options = clocked({ rate = 1, key = by_client })
    local server = support.served(rate_limit(options))
    assert.are.equal("200 0", (ask(server, client("a"))))
    assert.are.equal("429 0", (ask(server, client("a"))))
    assert.are.equal("200 0", (ask(server, client("b"))))
    assert.are.equal("200 -", (ask(server)))
    assert.are.equal("200 -", (ask(server)))
  end)

  it("counts addresses as trusted proxies tell them, and IPv6 by the network", function()
    local _, options = clocked({ rate = 1 })
    local server = support.served(rate_limit(options), nil, { trusted_proxies = { "loopback" } })
    for _, row in ipairs({
      { "192.0.2.1", 200 },
      { "192.0.2.1", 429 },
      { "192.0.2.2", 200 },
      { "::ffff:192.0.2.2", 429 },
      { "2001:db8:1:2:3:4:5:6", 200 },
      { "2001:db8:1:2::9", 429 },
      { "2001:db8:1:3::9", 200 },
      { "2001:db8::1", 200 },
      { "2001:db8:0:0:ffff::1", 429 },
      { "::1:2:3:4", 200 },
      { "0:0:0:0:9::", 429 },
    }) do
      local response = serve.get(server, "/", ("X-Forwarded-For: %s\r\n"):format(row[1]))
      assert.are.equal(row[2], response.status, row[1])
    end
  end)

  it("forgets clients whose bucket is full", function()
    local clock, options = clocked({ rate = 10, burst = 10, key = by_client })
    local server = support.served(rate_limit(options))
    for round = 1, 3 do
      for _ = 1, 10 do
        assert.are.equal(200, serve.get(server, "/", client("a")).status, round)
      end
      assert.are.equal(429, serve.get(server, "/", client("a")).status, round)
      clock.now = clock.now + 1
    end
  end)

  it("remembers a client that asks all the time, whoever else asks", function()
    local clock, options = clocked({ rate = 1, burst = 5, key = by_client, max_keys = 10 })
    local server = support.served(rate_limit(options))
    local passed = 0
    for index = 1, 200 do
      clock.now = clock.now + 0.1
      passed = passed + (serve.get(server, "/", client("greedy")).status == 200 and 1 or 0)
      if index % 4 == 0 then
        serve.get(server, "/", client("other" .. index % 5))
      end
    end
    assert.is_true(passed <= 25, passed)
  end)

  it("remembers no more than it is told, however many ask, and however much they send", function()
    local _, options = clocked({ rate = 1, burst = 1000, key = by_client, max_keys = 50 })
    local step = rate_limit(options)
    local req = {}
    function req.header()
      return req.client
    end
    local res = {}
    function res.set()
      return res
    end
    local function next() end
    collectgarbage()
    collectgarbage()
    local before = collectgarbage("count")
    for index = 1, 5000 do
      req.client = ("%d "):format(index) .. ("x"):rep(15000) .. index
      step(req, res, next)
    end
    req.client = nil
    collectgarbage()
    collectgarbage()
    -- 100 keys of 256 bytes, their places in two tables, and what the interpreter keeps for itself; whole keys would
    -- take 1500 KiB.
    local kept = collectgarbage("count") - before
    assert.is_true(kept < 400, kept)
  end)

  it("tells long keys apart", function()
    local _, options = clocked({ rate = 1, key = by_client })
    local server = support.served(rate_limit(options))
    local long = ("k"):rep(1000)
    for _, row in ipairs({
      { long .. "1", 200 },
      { long .. "1", 429 },
      { long .. "2", 200 },
      { "0" .. long .. "1", 200 },
      { "k" .. long .. "1", 200 },
      { ("\255"):rep(2000), 200 },
      { ("\255"):rep(2000), 429 },
    }) do
      assert.are.equal(row[2], serve.get(server, "/", client(row[1])).status)
    end
  end)

  it("counts with a clock of its own when it is given none", function()
    local server = support.served(rate_limit({ rate = 1e-3 }))
    assert.are.equal("200 0", (ask(server)))
    local status, response = ask(server)
    assert.are.equal("429 0", status)
    assert.are.equal("Too many requests.\n", response.body)
    assert.is_true(tonumber(response.fields["retry-after"]) >= 990)
  end)

  it("tells when `key` gives what is no key", function()
    for _, key in ipairs({ {}, true, 0 / 0 }) do
      local failure
      local step = rate_limit({
        rate = 1,
        key = function()
          return key
        end,
      })
      local server = support.served(step, nil, {
        on_error = function(text)
          failure = text
        end,
      })
      assert.are.equal(500, serve.get(server, "/").status)
      assert.is_truthy(failure:find("rate_limit: option 'key' must give a string, a number or nil", 1, true), failure)
    end
  end)

  it("refuses wrong options by name", function()
    support.refuses(rate_limit, {
      { nil, "rate_limit: option 'rate' is needed: requests per second" },
      { 5, "rate_limit needs a table of options, got a number" },
      { { rate = "5" }, "rate_limit: option 'rate' must be a number, got a string" },
      { { rate = 0 }, "rate_limit: option 'rate' must be from 1e-06 to 1e+09, got 0" },
      { { rate = -1 }, "rate_limit: option 'rate' must be from" },
      { { rate = 0 / 0 }, "rate_limit: option 'rate' must be from" },
      { { rate = 1 / 0 }, "rate_limit: option 'rate' must be from" },
      { { rate = 1, burst = 0 }, "rate_limit: option 'burst' must be from 1 to" },
      { { rate = 1, burst = 1.5 }, "rate_limit: option 'burst' must be a whole number" },
      { { rate = 1, key = "address" }, "rate_limit: option 'key' must be a function, got a string" },
      { { rate = 1, max_keys = 0 }, "rate_limit: option 'max_keys' must be from 1 to" },
      { { rate = 1, headers = 1 }, "rate_limit: option 'headers' must be a boolean, got a number" },
      { { rate = 1, clock = 1 }, "rate_limit: option 'clock' must be a function, got a number" },
      { { rate = 1, limit = 1 }, "rate_limit: unknown option 'limit'" },
    })
  end)
end)
