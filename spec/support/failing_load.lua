-- failing_load.lua: what failing_memory.c runs in new states. The module is loaded and used; a load that memory has
-- failed must not stand in the way of the next one.

package.loaded.fastslua = nil
local fastslua = require("fastslua")
local app = fastslua.app()
app:get("/:id", function(req, res)
  res:json({ id = req.params.id, host = req.headers.Host })
end)
local client = fastslua.test(app)
assert(client:get("/7").status == 200)
-- Only its own destructor frees what it holds.
client.server:step()
