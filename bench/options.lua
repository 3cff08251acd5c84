-- options.lua: the options of `listen` that the benchmarks use, by profile, for fastslua and the plain-Lua server
-- alike.

return {
  -- What a user gets who sets nothing.
  default = {},
  -- What a user sets whose clients are many: more time and more accepts in a step, short patience with silent clients.
  tuned = {
    step_seconds = 0.004,
    max_accepts_per_step = 256,
    max_requests_per_connection = 0,
    header_timeout = 2,
    keep_alive_timeout = 2,
  },
  -- As many requests on a connection as the servers beside it allow.
  capacity = { max_requests_per_connection = 0 },
}
