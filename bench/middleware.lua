-- middleware.lua [SECONDS]: what each middleware adds to a request, each for SECONDS in `step` (0.3 by default).
-- A figure is the whole of a request, pipelined (see pipelined.lua): what a middleware adds is the difference to
-- `nothing`, which only calls `next`.

local fastslua = require("fastslua")
local measure = dofile("bench/pipelined.lua")

local function answer(_, res)
  res:send("ok")
end

-- The middleware of that name, with options.
local function make(name, options)
  return require("fastslua.middleware." .. name)(options)
end

-- A server with one middleware and one route.
local function served(step)
  local app = fastslua.app()
  app:use(step)
  app:all("/units/:id", answer)
  return assert(app:listen({ port = 0, max_requests_per_connection = 0, step_seconds = 1 }))
end

local function bench(name, step, fields, body)
  local head = (body and "POST" or "GET") .. " /units/42 HTTP/1.1\r\nHost: 127.0.0.1\r\n" .. (fields or "")
  local length = body and ("Content-Length: %d\r\n"):format(#body) or ""
  measure(name, served(step), head .. length .. "\r\n" .. (body or ""))
end

local ORIGIN = "Origin: https://a.example\r\n"
local BASIC = "Authorization: Basic YW5uYTpzZWNyZXQ=\r\n"
local TOKEN = ("0123456789abcdef"):rep(2)
local BEARER = ("Authorization: Bearer %s\r\n"):format(TOKEN)
local AGENT = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0\r\n"

local function sink() end

bench("nothing", function(_, _, next)
  return next()
end)
bench("cors_any_origin", make("cors"), ORIGIN)
bench("cors_listed_origin", make("cors", { origin = { "https://a.example" } }), ORIGIN)
bench("basic_auth", make("basic_auth", { users = { anna = "secret" } }), BASIC)
bench("basic_auth_refused", make("basic_auth", { users = { anna = "other" } }), BASIC)
bench("bearer_auth", make("bearer_auth", { tokens = { TOKEN } }), BEARER)
bench("rate_limit", make("rate_limit", { rate = 1e8 }))
bench("rate_limit_without_fields", make("rate_limit", { rate = 1e8, headers = false }))
bench("rate_limit_refused", make("rate_limit", { rate = 1e-6 }))
bench("logger_common", make("logger", { sink = sink }))
bench("logger_combined", make("logger", { sink = sink, format = "combined" }), AGENT)
bench("logger_json", make("logger", { sink = sink, format = "json" }), AGENT)
bench("metrics", make("metrics").middleware)
bench("request_id", make("request_id"))
bench("request_id_taken", make("request_id"), "X-Request-Id: " .. TOKEN .. "\r\n")
bench("security_headers", make("security_headers"))
bench("timeout", make("timeout", { seconds = 1 }))
bench("timeout_without_interruption", make("timeout", { seconds = 1, interrupt = false }))
bench("body_json", make("body_json"), "Content-Type: application/json\r\n", '{"id":42,"name":"tank","alive":true}')
