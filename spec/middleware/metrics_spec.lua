-- metrics: what is counted, that the text is what Prometheus reads, and that no client makes it grow.

local fastslua = require("fastslua")
local live = require("spec.support.live")
local metrics = require("fastslua.middleware.metrics")
local prometheus = require("spec.support.prometheus")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

local function count_of(values, pattern)
  local count = 0
  for key in pairs(values) do
    count = count + (key:find(pattern) and 1 or 0)
  end
  return count
end

-- An application that is counted, and its metrics.
local function counted(options)
  local app = fastslua.app()
  local meter = metrics(options)
  app:use(meter.middleware)
  app:get("/units/:id", function(req)
    return req.params.id == "none" and 404 or "four"
  end)
  app:all("/any", function()
    return 204
  end)
  app:get("/bad", function()
    error("boom")
  end)
  app:get("/metrics", meter.handler)
  return app, meter
end

describe("metrics", function()
  after_each(serve.close_all)

  it("counts by route, method and status", function()
    local app, meter = counted()
    local server = serve.with(app)
    for _, row in ipairs({
      { "GET", "/units/1" },
      { "GET", "/units/2" },
      { "GET", "/units/none" },
      { "HEAD", "/units/1" },
      { "POST", "/any" },
      { "PURGE", "/any" },
      { "GET", "/bad" },
      { "GET", "/nowhere" },
      { "POST", "/units/1" },
    }) do
      assert.is_truthy(serve.ask(server, row[1], row[2]))
    end
    local values = prometheus.read(meter:text())
    for key, value in pairs({
      ["method=GET route=/units/:id status=200"] = 2,
      ["method=GET route=/units/:id status=404"] = 1,
      ["method=HEAD route=/units/:id status=200"] = 1,
      ["method=POST route=/any status=204"] = 1,
      ["method=OTHER route=/any status=204"] = 1,
      ["method=GET route=/bad status=500"] = 1,
      ["method=GET route=none status=404"] = 1,
      ["method=POST route=none status=405"] = 1,
    }) do
      assert.are.equal(value, values["http_requests_total " .. key], key)
    end
    assert.are.equal(8, count_of(values, "^http_requests_total "))
    local not_found = #serve.get(server, "/units/none").body
    assert.are.equal(8 + not_found, values["http_response_bytes_total method=GET route=/units/:id"])
    assert.are.equal(0, values["http_response_bytes_total method=HEAD route=/units/:id"])
    assert.are.equal(3, values["http_request_duration_seconds_count method=GET route=/units/:id"])
    assert.are.equal(3, values["http_request_duration_seconds_bucket le=+Inf method=GET route=/units/:id"])
    local sum = values["http_request_duration_seconds_sum method=GET route=/units/:id"]
    assert.is_true(sum > 0 and sum < 5)
  end)

  it("puts times into their buckets", function()
    local meter = metrics({ buckets = { 0.001, 0.02, 60 } })
    local server = support.served(meter.middleware, function(req)
      if req.path == "/slow" then
        local ends = fastslua.now() + 0.002
        while fastslua.now() < ends do
        end
      end
      return "ok"
    end)
    serve.get(server, "/slow")
    serve.get(server, "/slow")
    local values = prometheus.read(meter:text())
    local function bucket(le)
      return values["http_request_duration_seconds_bucket le=" .. le .. " method=GET route=/*rest"]
    end
    assert.are.same({ 0, 2, 2 }, { bucket("0.001"), bucket("60"), bucket("+Inf") })
    assert.is_true(values["http_request_duration_seconds_sum method=GET route=/*rest"] >= 0.004)
  end)

  it("tells them, and the counters of servers that it watches", function()
    local app, meter = counted()
    local server = serve.with(app)
    assert.are.equal(meter, meter:watch(server))
    serve.get(server, "/units/1")
    local response = serve.get(server, "/metrics")
    assert.are.equal("text/plain; version=0.0.4; charset=utf-8", response.fields["content-type"])
    assert.are.equal("no-store", response.fields["cache-control"])
    local values, kinds = prometheus.read(response.body)
    local label = "server=127.0.0.1:" .. server:port()
    assert.are.equal(2, values["fastslua_requests_total " .. label])
    assert.are.equal(2, values["fastslua_connections_accepted_total " .. label])
    assert.are.equal("counter", kinds.fastslua_requests_total)
    assert.are.equal("gauge", kinds.fastslua_connections)
    assert.are.equal("histogram", kinds.http_request_duration_seconds)
    assert.are.equal(1, values["http_requests_total method=GET route=/units/:id status=200"])
  end)

  it("tells of several servers, and of one that has come back to its port", function()
    local app, meter = counted()
    local one, two = serve.with(app), serve.with(app)
    meter:watch(one, two)
    serve.get(two, "/any")
    one:close()
    local again = assert(app:listen({ port = one:port() }))
    meter:watch(again)
    serve.get(again, "/any")
    serve.get(again, "/any")
    local values = prometheus.read(meter:text())
    assert.are.equal(2, values["fastslua_requests_total server=127.0.0.1:" .. again:port()])
    assert.are.equal(1, values["fastslua_requests_total server=127.0.0.1:" .. two:port()])
    assert.are.equal(2, count_of(values, "^fastslua_requests_total"))
    again:close()
  end)

  it("keeps no server alive", function()
    local _, meter = counted()
    do
      local watched = fastslua.listen({ port = 0 }, print)
      meter:watch(watched)
      assert.is_true(count_of(prometheus.read(meter:text()), "^fastslua_") > 0)
    end
    collectgarbage()
    collectgarbage()
    assert.are.equal(0, count_of(prometheus.read(meter:text()), "^fastslua_"))
  end)

  it("escapes what a route has in it", function()
    local app = fastslua.app()
    local meter = metrics()
    app:use(meter.middleware)
    app:get('/a"b', function()
      return "ok"
    end)
    local server = serve.with(app)
    assert.are.equal(200, serve.get(server, "/a%22b").status)
    local values = prometheus.read(meter:text())
    assert.are.equal(1, values['http_requests_total method=GET route=/a"b status=200'])
  end)

  it("has as many series as there are routes, however many targets and methods are tried", function()
    local app, meter = counted()
    local server = serve.with(app)
    local client = live.client(server)
    local sent = 0
    for index = 1, 300 do
      client:send(serve.bytes("M" .. index, "/path" .. index))
      client:send(serve.bytes("GET", "/units/" .. index .. "?q=" .. index))
      client:send(serve.bytes("X" .. index, "/any"))
      for _ = 1, 3 do
        sent = sent + (client:response() and 1 or 0)
      end
    end
    client:close()
    assert.are.equal(900, sent)
    local values = prometheus.read(meter:text())
    assert.are.equal(3, count_of(values, "^http_requests_total"))
    assert.are.equal(300, values["http_requests_total method=OTHER route=none status=404"])
  end)

  it("counts nothing for a request whose handler has closed the server", function()
    local meter = metrics()
    local server, problem
    server = support.served(meter.middleware, function()
      server:close()
      problem = "none"
    end, {
      on_error = function(text)
        problem = text
      end,
    })
    local client = require("socket").connect("127.0.0.1", server:port())
    client:send(serve.bytes("GET", "/"))
    for _ = 1, 1000 do
      server:step()
      if problem then
        break
      end
    end
    client:close()
    assert.are.equal("none", problem)
    assert.are.equal(0, count_of(prometheus.read(meter:text()), "requests_total "))
  end)

  it("is named otherwise by its prefix", function()
    local meter = metrics({ prefix = "game_api" })
    serve.get(support.served(meter.middleware), "/")
    assert.are.equal(1, prometheus.read(meter:text())["game_api_requests_total method=GET route=/*rest status=200"])
  end)

  it("refuses wrong options by name", function()
    local buckets = "metrics: option 'buckets' must "
    support.refuses(metrics, {
      { "http", "metrics needs a table of options, got a string" },
      { { name = "x" }, "metrics: unknown option 'name'" },
      { { prefix = 1 }, "metrics: option 'prefix' must be a string, got a number" },
      { { prefix = "" }, "metrics: option 'prefix' must be a name" },
      { { prefix = "a-b" }, "metrics: option 'prefix' must be a name" },
      { { prefix = "a\nb 1" }, "metrics: option 'prefix' must be a name" },
      { { prefix = "fastslua" }, "metrics: option 'prefix' must not be that of the server's own counters" },
      { { buckets = 1 }, "metrics: option 'buckets' must be a table, got a number" },
      { { buckets = {} }, buckets .. "not be an empty list" },
      { { buckets = { 1, 1 } }, buckets .. "be a list of growing numbers" },
      { { buckets = { 0, 1 } }, buckets .. "be a list of growing numbers" },
      { { buckets = { 1, 0 / 0 } }, buckets .. "be a list of growing numbers" },
      { { buckets = { 1, 1 / 0 } }, buckets .. "be a list of growing numbers" },
      { { buckets = { "1" } }, buckets .. "be a list of growing numbers" },
    })
    for _, wrong in ipairs({ 1, "server", {}, print }) do
      local fine, message = pcall(function()
        metrics():watch(wrong)
      end)
      assert.is_false(fine)
      assert.is_truthy(message:find("metrics_spec.lua:%d+: metrics:watch needs a server, got a "), message)
    end
    assert.has_error(function()
      metrics():watch()
    end)
  end)
end)
