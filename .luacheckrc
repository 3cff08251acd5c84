-- What luacheck may assume: Lua 5.1 and nothing beside it; specs see busted.
std = "lua51"
max_line_length = 120
-- A handler is called with (req, res) whether it needs both or not.
ignore = { "212/req", "212/res" }
exclude_files = { "build/", "target/", "types/" }
files["spec/"] = { std = "+busted" }
-- wrk calls these by name.
files["bench/wrk/"] = { std = "lua51+wrk" }
stds.wrk = { globals = { "wrk", "init", "request", "response", "done", "setup" } }
