-- logger: what the lines say, and that no client can forge one.

local fastslua = require("fastslua")
local logger = require("fastslua.middleware.logger")
local serve = require("spec.support.serve")
local support = require("spec.support.middleware")

-- A list of lines, and the options that fill it.
local function listed(options)
  local lines = {}
  options = options or {}
  options.sink = function(line)
    lines[#lines + 1] = line
  end
  return lines, options
end

local DATE = "%[%d%d/%u%l%l/%d%d%d%d:%d%d:%d%d:%d%d %+0000%]"

describe("logger", function()
  after_each(serve.close_all)

  it("writes the common log format", function()
    local lines, options = listed()
    local server = support.served(logger(options), function(req, res)
      if req.path == "/none" then
        return 204
      elseif req.path == "/user" then
        req.user = "anna"
      elseif req.path == "/bad" then
        error("boom")
      end
      res:status(201):send("hello")
    end)
    serve.get(server, "/a?b=c%20d")
    serve.get(server, "/none")
    serve.get(server, "/user")
    local bad = serve.get(server, "/bad")
    serve.ask(server, "PURGE", "/x")
    for index, pattern in ipairs({
      '^127%.0%.0%.1 %- %- DATE "GET /a%?b=c%%20d HTTP/1%.1" 201 5$',
      '^127%.0%.0%.1 %- %- DATE "GET /none HTTP/1%.1" 204 %-$',
      '^127%.0%.0%.1 %- anna DATE "GET /user HTTP/1%.1" 201 5$',
      '^127%.0%.0%.1 %- %- DATE "GET /bad HTTP/1%.1" 500 ' .. #bad.body .. "$",
      '^127%.0%.0%.1 %- %- DATE "PURGE /x HTTP/1%.1" 201 5$',
    }) do
      assert.is_truthy(lines[index]:find((pattern:gsub("DATE", (DATE:gsub("%%", "%%%%"))))), lines[index])
    end
    assert.are.equal(5, #lines)
  end)

  it("writes the time of the answer", function()
    local lines, options = listed()
    local before = os.time()
    support.get(logger(options))
    local day, month, year, hour, minute, second = lines[1]:match("%[(%d+)/(%a+)/(%d+):(%d+):(%d+):(%d+) %+0000%]")
    local found = false
    for time = before, os.time() do
      local date = os.date("!*t", time)
      found = found
        or date.day == tonumber(day)
          and date.year == tonumber(year)
          and os.date("!%b", time) == month
          and date.hour == tonumber(hour)
          and date.min == tonumber(minute)
          and date.sec == tonumber(second)
    end
    assert.is_true(found, lines[1])
  end)

  it("writes the combined format", function()
    local lines, options = listed({ format = "combined" })
    local server = support.served(logger(options))
    serve.get(server, "/", "Referer: http://a.example/\r\nUser-Agent: probe/1.0 (x)\r\n")
    serve.get(server, "/")
    assert.is_truthy(lines[1]:find(' 200 2 "http://a.example/" "probe/1.0 (x)"', 1, true))
    assert.is_truthy(lines[2]:find(' 200 2 "-" "-"', 1, true))
  end)

  it("writes lines of JSON", function()
    local lines, options = listed({ format = "json" })
    local app = fastslua.app()
    app:use(logger(options))
    app:get("/units/:id", function(req)
      req.user, req.request_id = "anna", "r-1"
      return "four"
    end)
    local server = serve.with(app)
    serve.get(server, "/units/7?x", "User-Agent: probe\r\nReferer: http://a.example/\r\n")
    serve.get(server, "/nowhere")
    local line = fastslua.json.decode(lines[1])
    assert.is_truthy(line.time:find("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%dZ$"))
    assert.is_true(line.seconds >= 0 and line.seconds < 5)
    line.time, line.seconds = nil, nil
    assert.are.same({
      remote_address = "127.0.0.1",
      user = "anna",
      method = "GET",
      target = "/units/7?x",
      version = "1.1",
      route = "/units/:id",
      status = 200,
      bytes = 4,
      request_id = "r-1",
      referer = "http://a.example/",
      user_agent = "probe",
    }, line)
    assert.is_truthy(lines[1]:find('^{"time":"[^"]+","remote_address":"127.0.0.1","user":"anna","method":"GET"'))
    line = fastslua.json.decode(lines[2])
    assert.are.same({ 404, "/nowhere" }, { line.status, line.target })
    assert.is_nil(line.user or line.route or line.request_id or line.referer or line.user_agent)
  end)

  -- What a client can send, and what must not stand in a line.
  local hostile = {
    'User-Agent: " 200 5 "x" "y\r\nReferer: \\" 1\r\n',
    "User-Agent: \255\254\200\r\nReferer: a\tb\r\n",
    ("User-Agent: %s\r\n"):format(("x"):rep(15000)),
    'User-Agent: ","status":200,"x":"\r\n',
    "User-Agent: \195\164\r\nReferer: \226\128\168\r\n",
  }
  for _, format in ipairs({ "common", "combined", "json" }) do
    it("has one line for each request, whatever a client sends: " .. format, function()
      local lines, options = listed({ format = format })
      local server = support.served(logger(options), function(req)
        req.user = 'an"na \r\n\\ b\0'
        req.request_id = '"\n'
        return 404, "gone"
      end)
      for index, fields in ipairs(hostile) do
        local before = #lines
        assert.are.equal(404, serve.get(server, "/x%22%0d%0a", fields).status)
        assert.are.equal(before + 1, #lines)
        local line = lines[#lines]
        assert.is_nil(line:find("[%z\1-\31\127]"), line)
        if format == "json" then
          local read = assert(fastslua.json.decode(line))
          assert.are.same({ 404, 'an"na \r\n\\ b\0' }, { read.status, read.user }, index)
        else
          local quotes = select(2, line:gsub("\\.", ""):gsub('"', ""))
          assert.are.equal(format == "common" and 2 or 6, quotes, line)
          assert.is_truthy(line:find('^127%.0%.0%.1 %- an\\"na\\x20\\x0d\\x0a\\\\\\x20b\\x00 %['), line)
          assert.is_truthy(line:find('HTTP/1%.1" 404 4'), line)
          assert.is_nil(line:find("[\128-\255]"))
        end
      end
    end)
  end

  it("cuts fields that a client fills as it likes", function()
    for _, format in ipairs({ "combined", "json" }) do
      local lines, options = listed({ format = format })
      local server = support.served(logger(options))
      serve.get(server, "/", ("User-Agent: %s\r\nReferer: %s\r\n"):format(("\255"):rep(7000), ("r"):rep(7000)))
      assert.is_true(#lines[1] < 6000, #lines[1])
      assert.is_truthy(lines[1]:find('"' .. ("r"):rep(1024) .. '..."', 1, true))
    end
  end)

  it("takes a format of the program's own, and keeps its lines whole", function()
    local lines, options = listed({
      format = function(req, res, seconds)
        if req.path == "/quiet" then
          return nil
        end
        return ("%s %d %s\n\0%s"):format(req.path, res.status_code, type(seconds), req:header("x") or "")
      end,
    })
    local server = support.served(logger(options))
    serve.get(server, "/quiet")
    serve.get(server, "/a%0ab", "X: y\tz\r\n")
    assert.are.same({ "/a\\x0ab 200 number\\x0a\\x00y\tz" }, lines)
  end)

  it("leaves out what `skip` says", function()
    local lines, options = listed({
      skip = function(req, res)
        return req.path == "/health" and res.status_code == 200
      end,
    })
    local server = support.served(logger(options))
    serve.get(server, "/health")
    serve.get(server, "/other")
    assert.are.equal(1, #lines)
    assert.is_truthy(lines[1]:find("/other", 1, true))
  end)

  it("writes to an open file", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    support.get(logger({ sink = file }))
    file:close()
    local text = assert(io.open(path)):read("*a")
    os.remove(path)
    assert.is_truthy(text:find("^127[^\n]* 200 2\n$"), text)
  end)

  it("reports a sink that fails, and answers all the same", function()
    local failures = {}
    local step = logger({
      sink = function()
        error("the disk is full")
      end,
    })
    local server = support.served(step, nil, {
      on_error = function(text)
        failures[#failures + 1] = text
      end,
    })
    assert.are.equal(200, serve.get(server, "/").status)
    assert.is_truthy(failures[1]:find("the disk is full", 1, true))
    server = support.served(
      logger({
        sink = print,
        format = function()
          return 7
        end,
      }),
      nil,
      {
        on_error = function(text)
          failures[#failures + 1] = text
        end,
      }
    )
    assert.are.equal(200, serve.get(server, "/").status)
    assert.is_truthy(failures[2]:find("logger: option 'format' must give a string or nil, got a number", 1, true))
  end)

  it("has no line for a request whose handler has closed the server", function()
    local lines, options = listed()
    local problem
    local server, closed
    server = support.served(logger(options), function()
      server:close()
      closed = true
    end, {
      on_error = function(text)
        problem = text
      end,
    })
    local client = require("socket").connect("127.0.0.1", server:port())
    client:send(serve.bytes("GET", "/"))
    for _ = 1, 1000 do
      server:step()
      if closed then
        break
      end
    end
    client:close()
    assert.is_true(closed)
    assert.are.same({}, lines)
    assert.is_nil(problem)
  end)

  it("refuses wrong options by name", function()
    support.refuses(logger, {
      { nil, "logger: option 'sink' is needed: a function that takes a line, or an open file" },
      { print, "logger needs a table of options, got a function" },
      { { sink = "access.log" }, "logger: option 'sink' must be a function or an open file, got a string" },
      { { sink = {} }, "logger: option 'sink' must be a function or an open file" },
      {
        { sink = print, format = "xml" },
        "logger: option 'format' must be 'common', 'combined', 'json' or a function",
      },
      { { sink = print, format = 1 }, "logger: option 'format' must be a name or a function, got a number" },
      { { sink = print, skip = "/x" }, "logger: option 'skip' must be a function, got a string" },
      { { sink = print, level = 1 }, "logger: unknown option 'level'" },
    })
  end)
end)
