-- raw_cases.lua: bytes that a client sends, and what has to come back (RFC 9110, RFC 9112). Rows are
--   { name, bytes, { status... }, "open" | "closed" [, check(response...)] }
-- A list of statuses is one response each, in order. `open` means that the connection serves another request.
-- The routes are those of spec/raw_http_spec.lua: /health, /units/:id, POST /echo, /nocontent, /notmodified.

local assert = require("luassert")

local HOST = "Host: localhost"

-- A head: the request line and its fields, each with its line end, and the empty line.
local function head(...)
  return table.concat({ ... }, "\r\n") .. "\r\n\r\n"
end

local function get(...)
  return head("GET /health HTTP/1.1", HOST, ...)
end

local function post(...)
  return head("POST /echo HTTP/1.1", HOST, ...)
end

local function chunked(body)
  return post("Transfer-Encoding: chunked") .. body
end

-- Checks that the last response has that body.
local function body(expected)
  return function(...)
    local response = select(select("#", ...), ...)
    assert.equal(expected, response.body)
  end
end

local served = {
  { "HTTP/1.1 persists", get(), { 200 }, "open", body("OK") },
  { "Connection: close is heard", get("Connection: close"), { 200 }, "closed", body("OK") },
  { "close is heard among other options", get("Connection: TE , Close"), { 200 }, "closed" },
  { "close is heard in the second of two fields", get("Connection: te", "Connection: close"), { 200 }, "closed" },
  { "HTTP/1.0 closes", head("GET /health HTTP/1.0", HOST), { 200 }, "closed", body("OK") },
  { "HTTP/1.0 needs no Host", head("GET /health HTTP/1.0"), { 200 }, "closed" },
  {
    "HTTP/1.0 persists when asked, and is told so",
    head("GET /health HTTP/1.0", HOST, "Connection: keep-alive"),
    { 200 },
    "open",
    function(response)
      assert.equal("keep-alive", response.fields.connection:lower())
    end,
  },
  {
    "pipelined requests",
    get() .. head("GET /units/2 HTTP/1.1", HOST) .. get(),
    { 200, 200, 200 },
    "open",
    body("OK"),
  },
  {
    "pipelined answers keep their order",
    head("GET /units/1 HTTP/1.1", HOST) .. head("GET /units/2 HTTP/1.1", HOST),
    { 200, 200 },
    "open",
    function(first, second)
      assert.equal('{"id":"1"}', first.body)
      assert.equal('{"id":"2"}', second.body)
    end,
  },
  { "nothing is answered after close", get("Connection: close") .. get(), { 200 }, "closed" },
  { "an empty line before the request line", "\r\n" .. get(), { 200 }, "open" },
  { "an empty line between requests", get() .. "\r\n" .. get(), { 200, 200 }, "open" },
  { "a body by its length", post("Content-Length: 5") .. "hello", { 200 }, "open", body("hello") },
  { "a body of no bytes", post("Content-Length: 0"), { 200 }, "open", body("") },
  { "a POST without a body", post(), { 200 }, "open", body("") },
  { "a request after a body", post("Content-Length: 2") .. "hi" .. get(), { 200, 200 }, "open", body("OK") },
  { "a body that looks like a request", post("Content-Length: " .. #get()) .. get(), { 200 }, "open", body(get()) },
  { "a body in chunks", chunked("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"), { 200 }, "open", body("abc0123456789") },
  { "chunk sizes with leading zeros", chunked("0003\r\nabc\r\n000\r\n\r\n"), { 200 }, "open", body("abc") },
  { "chunk extensions are skipped", chunked('3;a=b;c="d;e"\r\nabc\r\n0;x\r\n\r\n'), { 200 }, "open", body("abc") },
  {
    "trailers are dropped",
    chunked("1\r\nx\r\n0\r\nX-Sum: 1\r\nX-B: 2\r\n\r\n") .. get(),
    { 200, 200 },
    "open",
    body("OK"),
  },
  { "the name of a coding has no case", post("Transfer-Encoding: CHUNKED") .. "0\r\n\r\n", { 200 }, "open", body("") },
  { "a parameter is decoded", head("GET /units/a%2Fb%20c HTTP/1.1", HOST), { 200 }, "open", body('{"id":"a/b c"}') },
  { "a query is no part of the path", head("GET /units/7?a=1&b HTTP/1.1", HOST), { 200 }, "open", body('{"id":"7"}') },
  { "the absolute form", head("GET http://localhost/health HTTP/1.1", HOST), { 200 }, "open", body("OK") },
  { "field values lose their blanks", head("GET /health HTTP/1.1", "Host: \t localhost \t"), { 200 }, "open" },
  { "a field without a value", get("X-Empty:"), { 200 }, "open" },
  { "bytes above ASCII in a value", get("X-Name: J\195\182rg"), { 200 }, "open" },
  { "an unknown path", head("GET /nowhere HTTP/1.1", HOST), { 404 }, "open" },
  {
    "a known path with another method",
    head("DELETE /health HTTP/1.1", HOST),
    { 405 },
    "open",
    function(response)
      assert.truthy(response.fields.allow:find("GET", 1, true))
    end,
  },
  {
    "no content has no length",
    head("GET /nocontent HTTP/1.1", HOST) .. get(),
    { 204, 200 },
    "open",
    function(response)
      assert.is_nil(response.fields["content-length"])
    end,
  },
  { "not modified has no body", head("GET /notmodified HTTP/1.1", HOST) .. get(), { 304, 200 }, "open", body("OK") },
}

-- Each of these is refused with its status, and the connection ends: after a framing fault nobody knows where the next
-- request starts.
local refused = {
  { "a length and a coding", post("Content-Length: 5", "Transfer-Encoding: chunked") .. "0\r\n\r\n", 400 },
  { "a coding and a length", post("Transfer-Encoding: chunked", "Content-Length: 5") .. "0\r\n\r\n", 400 },
  { "two lengths", post("Content-Length: 2", "Content-Length: 3") .. "abc", 400 },
  { "the same length twice", post("Content-Length: 2", "Content-Length: 2") .. "ab", 400 },
  { "a list of lengths", post("Content-Length: 2, 2") .. "ab", 400 },
  { "a length with a sign", post("Content-Length: +2") .. "ab", 400 },
  { "a negative length", post("Content-Length: -1"), 400 },
  { "a hexadecimal length", post("Content-Length: 0x2") .. "ab", 400 },
  { "a length with a blank inside", post("Content-Length: 1 0"), 400 },
  { "a length without digits", post("Content-Length:"), 400 },
  { "a length with a fraction", post("Content-Length: 2.0") .. "ab", 400 },
  { "chunked twice", post("Transfer-Encoding: chunked, chunked") .. "0\r\n\r\n", 400 },
  { "chunked in two fields", post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") .. "0\r\n\r\n", 400 },
  { "chunked not last", post("Transfer-Encoding: chunked, gzip") .. "0\r\n\r\n", 400 },
  { "a coding on HTTP/1.0", head("POST /echo HTTP/1.0", HOST, "Transfer-Encoding: chunked") .. "0\r\n\r\n", 400 },
  { "an unknown coding", post("Transfer-Encoding: rot13, chunked") .. "0\r\n\r\n", 501 },
  { "bare line feeds", "GET /health HTTP/1.1\nHost: localhost\n\n", 400 },
  { "one bare line feed", "GET /health HTTP/1.1\r\nHost: localhost\nX-A: b\r\n\r\n", 400 },
  { "a bare carriage return", get("X-A: b\rc"), 400 },
  { "a blank before the colon", head("GET /health HTTP/1.1", "Host : localhost"), 400 },
  { "a folded line", get("X-A: b", " c"), 400 },
  { "a folded line with a tab", get("X-A: b", "\tc"), 400 },
  { "a blank before the first field", head("GET /health HTTP/1.1", " X-A: b", HOST), 400 },
  { "a NUL in a value", get("X-A: b\0c"), 400 },
  { "a control byte in a value", get("X-A: b\1c"), 400 },
  { "a field without a colon", get("X-A"), 400 },
  { "a field without a name", get(": b"), 400 },
  { "a blank in a name", get("X A: b"), 400 },
  { "no Host", head("GET /health HTTP/1.1", "X-A: b"), 400 },
  { "two Hosts", get(HOST), 400 },
  { "a Host with a blank", head("GET /health HTTP/1.1", "Host: local host"), 400 },
  { "a Host with a path", head("GET /health HTTP/1.1", "Host: localhost/x"), 400 },
  { "a foreign Host", head("GET /health HTTP/1.1", "Host: rebound.example"), 421 },
  { "a version above 1", head("GET /health HTTP/2.0", HOST), 505 },
  { "a version below 1", head("GET /health HTTP/0.9", HOST), 505 },
  { "a version in lower case", head("GET /health http/1.1", HOST), 400 },
  { "no version", head("GET /health", HOST), 400 },
  { "two blanks in the request line", head("GET  /health HTTP/1.1", HOST), 400 },
  { "a blank in the target", head("GET /hea lth HTTP/1.1", HOST), 400 },
  { "a target without a slash", head("GET health HTTP/1.1", HOST), 400 },
  { "a method that is no token", head("G(T /health HTTP/1.1", HOST), 400 },
  { "the greeting of TLS", "\22\3\1\2\0\1\0\1\252\3\3\r\n\r\n", 400 },
  { "a chunk size without digits", chunked("\r\n"), 400 },
  { "a chunk size of no hexadecimal digits", chunked("g\r\n"), 400 },
  { "a chunk size with a sign", chunked("+3\r\nabc\r\n0\r\n\r\n"), 400 },
  { "a chunk size with a prefix", chunked("0x3\r\nabc\r\n0\r\n\r\n"), 400 },
  { "a chunk size after a blank", chunked(" 3\r\nabc\r\n0\r\n\r\n"), 400 },
  { "a chunk size beyond all bounds", chunked("fffffffffffffffff\r\nabc"), 413 },
  { "a chunk size with a bare line feed", chunked("3\nabc\r\n0\r\n\r\n"), 400 },
  { "a chunk longer than its size", chunked("3\r\nabcd\r\n0\r\n\r\n"), 400 },
  { "a bare line feed in a chunk extension", chunked("3;a\nb\r\nabc\r\n0\r\n\r\n"), 400 },
  { "a trailer with a blank before its colon", chunked("0\r\nX-A : b\r\n\r\n"), 400 },
  { "a bad percent sequence in a parameter", head("GET /units/%zz HTTP/1.1", HOST), 400 },
  { "a percent sequence that is cut short", head("GET /units/a%2 HTTP/1.1", HOST), 400 },
  { "a long target", head("GET /" .. ("a"):rep(8192) .. " HTTP/1.1", HOST), 414 },
  { "a long field", get("X-A: " .. ("a"):rep(16384)), 431 },
  { "many fields", get((("X-A: b\r\n"):rep(101):sub(1, -3))), 431 },
  { "a long body", post("Content-Length: 1048577"), 413 },
  { "a body of an absurd length", post("Content-Length: " .. ("9"):rep(40)), 400 },
  { "a long chunk", chunked("100001\r\n"), 413 },
  {
    "two origins, one of them its own",
    post("Origin: http://127.0.0.1", "Origin: http://evil.example", "Content-Length: 2") .. "hi",
    403,
  },
  { "a page of another origin that posts", post("Origin: http://evil.example", "Content-Length: 2") .. "hi", 403 },
}

for index, row in ipairs(refused) do
  refused[index] = { row[1], row[2], { row[3] }, "closed" }
end

return { served = served, refused = refused }
