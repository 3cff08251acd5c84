-- Raw HTTP against a live server: each row of spec/support/raw_cases.lua whole, byte by byte, and cut in two at every
-- place, since a peer's packets may end anywhere; then what only a dialogue shows.

local fastslua = require("fastslua")
local live = dofile("spec/support/live.lua")
local cases = dofile("spec/support/raw_cases.lua")

-- A cut is tried at every byte of a request that is no longer than this; of longer ones a few are.
local CUT_EVERY_MAX = 400

local function application()
  local app = fastslua.app()
  app:get("/health", function()
    return "OK"
  end)
  app:get("/units/:id", function(req, res)
    res:json({ id = req.params.id })
  end)
  app:post("/echo", function(req, res)
    res:send(req.body or "")
  end)
  app:get("/nocontent", function(req, res)
    res:status(204):finish()
  end)
  app:get("/notmodified", function(req, res)
    res:status(304):finish()
  end)
  app:get("/big", function(req, res)
    res:send(("fastslua"):rep(1024 * 1024))
  end)
  return app
end

describe("raw HTTP", function()
  local server

  setup(function()
    server = assert(application():listen({ port = 0, max_requests_per_connection = 0 }))
  end)

  teardown(function()
    server:close()
  end)

  -- Sends the pieces on a connection of their own and compares what comes back with the row.
  local function judge(row, pieces)
    local client = live.client(server)
    for _, piece in ipairs(pieces) do
      -- The server may have refused already, and may have closed: what it said is read below.
      if not client:send(piece) then
        break
      end
      client:turn()
    end
    local responses = {}
    for index, status in ipairs(row[3]) do
      local response = client:response()
      assert.truthy(response, row[1] .. ": no answer " .. index)
      assert.equal(status, response.status, row[1])
      assert.truthy(response.fields.date, row[1] .. ": no Date")
      responses[index] = response
    end
    if row[5] then
      row[5](unpack(responses))
    end
    if row[4] == "open" then
      client:send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
      local response = client:response()
      assert.truthy(response and response.status == 200, row[1] .. ": not open any more")
    else
      assert.is_true(client:closed(), row[1] .. ": not closed")
    end
    client:close()
  end

  local function bytes_of(text)
    local pieces = {}
    for index = 1, #text do
      pieces[index] = text:sub(index, index)
    end
    return pieces
  end

  for kind, rows in pairs(cases) do
    for _, row in ipairs(rows) do
      it(kind .. ": " .. row[1], function()
        local bytes = row[2]
        judge(row, { bytes })
        judge(row, #bytes <= CUT_EVERY_MAX and bytes_of(bytes) or { bytes:sub(1, -4), bytes:sub(-3) })
        for cut = 1, #bytes - 1, #bytes <= CUT_EVERY_MAX and 1 or math.floor(#bytes / 7) do
          judge(row, { bytes:sub(1, cut), bytes:sub(cut + 1) })
        end
      end)
    end
  end

  it("answers HEAD as GET, without the body", function()
    local client = live.client(server)
    client:send("HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    local response = client:response(true)
    assert.equal(200, response.status)
    assert.equal("2", response.fields["content-length"])
    client:send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert.equal("OK", client:response().body)
    client:close()
  end)

  it("answers OPTIONS by itself", function()
    local client = live.client(server)
    client:send("OPTIONS /units/7 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    local response = client:response()
    assert.truthy(response.status == 200 or response.status == 204)
    assert.truthy(response.fields.allow:find("GET", 1, true))
    client:close()
  end)

  it("sends 100 Continue before the body, and only then", function()
    local client = live.client(server)
    client:send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    assert.equal(100, client:response().status)
    client:send("hello")
    assert.equal("hello", client:response().body)
    client:send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nhi")
    assert.equal("hi", client:response().body)
    client:close()
  end)

  it("refuses a body that is too long instead of asking for it", function()
    local client = live.client(server)
    client:send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n")
    assert.equal(413, client:response().status)
    assert.is_true(client:closed())
    client:close()
  end)

  it("answers a client that has ended its sending side", function()
    local client = live.client(server)
    client:send("GET /units/1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /units/2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    client:finish()
    assert.equal('{"id":"1"}', client:response().body)
    assert.equal('{"id":"2"}', client:response().body)
    assert.is_true(client:closed())
    client:close()
  end)

  it("closes without a word when a client ends before it says anything", function()
    local client = live.client(server)
    client:finish()
    assert.is_true(client:closed())
    client:close()
  end)

  it("refuses a request that ends in the middle", function()
    for _, part in ipairs({ "GET /hea", "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhel" }) do
      local client = live.client(server)
      client:send(part)
      client:finish()
      assert.equal(400, client:response().status)
      assert.is_true(client:closed())
      client:close()
    end
  end)

  it("lets a client read the refusal while it is still sending", function()
    local client = live.client(server)
    client:send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n")
    for _ = 1, 20 do
      client:send(("x"):rep(10000))
    end
    assert.equal(413, client:response().status)
    client:close()
  end)

  it("sends 8 MiB whole, and serves others meanwhile", function()
    local reader = live.client(server)
    reader:send("GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n")
    local other = live.client(server)
    other:send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert.equal("OK", other:response().body)
    local response = reader:response()
    assert.equal(8 * 1024 * 1024, #response.body)
    assert.equal(("fastslua"):rep(1024 * 1024), response.body)
    reader:close()
    other:close()
  end)
end)
