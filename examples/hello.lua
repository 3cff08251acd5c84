-- hello.lua [PORT]: a small application under server:run(), which sleeps until a client does something.
-- The port is the argument, else FASTSLUA_PORT, else 8080; 0 lets the system choose one. Try:
--   curl http://127.0.0.1:8080/units/7
--   curl -T README.md -X POST http://127.0.0.1:8080/echo

local fastslua = require("fastslua")

local BIG_BYTES = 8 * 1024 * 1024
local big = ("fastslua"):rep(BIG_BYTES / 8)

local app = fastslua.app()

local page = [[<!doctype html>
<title>fastslua</title>
<h1>Hello from Lua</h1>
<p>Unit 7 says: <code id="unit">…</code></p>
<script>
  fetch("/units/7")
    .then((answer) => answer.text())
    .then((text) => { document.getElementById("unit").textContent = text })
</script>
]]

app:get("/", function(req, res)
  res:html(page)
end)

-- A string that a handler returns is the answer as text, a table is the answer as JSON.
app:get("/health", function()
  return "OK"
end)

app:get("/units/:id", function(req, res)
  res:json({ id = req.params.id, alive = true })
end)

app:post("/echo", function(req, res)
  res:set("Content-Type", req:header("content-type") or "application/octet-stream"):send(req.body or "")
end)

-- Sent from where the string lies in Lua, over as many steps as the client needs.
app:get("/big", function(req, res)
  res:type("application/octet-stream"):send(big)
end)

app:get("/nocontent", function(req, res)
  res:status(204):finish()
end)

app:get("/notmodified", function(req, res)
  res:status(304):finish()
end)

local text = arg and arg[1] or os.getenv("FASTSLUA_PORT") or "8080"
local port = text:match("^%d+$") and tonumber(text)
if not port or port > 65535 then
  io.stderr:write("not a port: ", text, "\n")
  os.exit(2)
end

local server, message = app:listen({ host = "127.0.0.1", port = port })
if not server then
  io.stderr:write("cannot listen: ", message, "\n")
  os.exit(1)
end

io.stdout:write(("listening on http://%s:%d\n"):format(server:address(), server:port()))
io.stdout:flush()
server:run()
