-- pipeline.lua: for wrk: sixteen requests in each send. wrk counts every answer.

local DEPTH = 16

function init()
  wrk.pipelined = wrk.format("GET"):rep(DEPTH)
end

function request()
  return wrk.pipelined
end
