-- Bodies of requests: JSON, forms, and forms with files; what each gives, and what a client is told when it is wrong.

local fastslua = require("fastslua")
local serve = require("spec.support.serve")

local JSON = "Content-Type: application/json\r\n"
local FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
local MULTIPART = "Content-Type: multipart/form-data; boundary=b\r\n"

-- What a method of a request gives for a body, or the status and sentence that the client gets.
local function read(method, fields, body, ...)
  local arguments, values, failure = { ... }, nil, nil
  local server = serve.with(function(req)
    values = { req[method](req, unpack(arguments)) }
    return ""
  end, {
    on_error = function(text)
      failure = text
    end,
  })
  local response = serve.ask(server, "POST", "/", fields, body)
  assert(not failure, failure)
  if response.status == 200 then
    return unpack(values)
  end
  return response.status, (response.body:gsub("\n$", ""))
end

local function part(head, content)
  return "--b\r\n" .. head .. "\r\n\r\n" .. content .. "\r\n"
end

local function named(name, content, more)
  return part(('Content-Disposition: form-data; name="%s"%s'):format(name, more or ""), content)
end

describe("a body of JSON", function()
  after_each(serve.close_all)

  for _, type in ipairs({
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/problem+json",
    "application/vnd.api+json; version=1",
  }) do
    it("is read when its type is " .. type, function()
      assert.are.same({ a = 1 }, (read("json", "Content-Type: " .. type .. "\r\n", '{"a":1}')))
    end)
  end

  it("is read whole, exactly, and behind the mark that some editors put before it", function()
    local value = read("json", JSON, '\239\187\191{"a":[1,"\\u00e9",null]}')
    assert.are.equal(1, value.a[1])
    assert.are.equal("é", value.a[2])
    assert.are.equal(fastslua.json.null, value.a[3])
  end)

  for _, row in ipairs({
    { "text", "Content-Type: text/plain\r\n", "application/json" },
    { "a form", FORM, "application/json" },
    { "no type", "", "application/json" },
    { "no sound type", "Content-Type: json\r\n", "application/json" },
    { "another charset", "Content-Type: application/json; charset=utf-16\r\n", "UTF-8" },
    { "Latin 1", "Content-Type: application/json; charset=iso-8859-1\r\n", "UTF-8" },
    { "a content coding", JSON .. "Content-Encoding: gzip\r\n", "content coding" },
  }) do
    it("is 415 with " .. row[1], function()
      local status, sentence = read("json", row[2], "{}")
      assert.are.equal(415, status)
      assert.is_truthy(sentence:find(row[3], 1, true), sentence)
    end)
  end

  it("is not asked for its type when that is forced", function()
    assert.are.same({ a = 1 }, (read("json", "Content-Type: text/plain\r\n", '{"a":1}', { force = true })))
    assert.are.same({ 1 }, (read("json", "", "[1]", { force = true })))
    assert.are.equal(415, (read("json", "", "[1]", { force = false })))
  end)

  for _, row in ipairs({
    { "{", "" },
    { "[1,]", "" },
    { "", "" },
    { "nul", "" },
    { '{"a":1}x', "" },
    { '{"a":\n  tru}', "line 2" },
  }) do
    it("is 400 when it is " .. row[1], function()
      local status, sentence = read("json", JSON, row[1])
      assert.are.equal(400, status)
      assert.is_truthy(sentence:find("^The body is not JSON: .+"), sentence)
      assert.is_truthy(sentence:find(row[2], 1, true), sentence)
    end)
  end

  it("is 400 when there is no body at all", function()
    assert.are.equal(400, (read("json", "")))
  end)

  it("can be asked for by a handler that catches what is wrong", function()
    local server = serve.with(function(req, res)
      local fine, failure = pcall(req.json, req)
      assert(not fine and failure.status == 400)
      res:status(422):send(tostring(failure))
    end)
    local response = serve.ask(server, "POST", "/", JSON, "{")
    assert.are.equal(422, response.status)
    assert.is_truthy(response.body:find("^The body is not JSON"))
  end)

  it("takes no options that nobody knows", function()
    local messages = {}
    serve.once(function(req)
      for _, options in ipairs({ { forced = true }, { true }, "x", 5 }) do
        local _, message = pcall(req.json, req, options)
        messages[#messages + 1] = message
      end
      return ""
    end)
    assert.is_truthy(messages[1]:find("unknown option 'forced' of req:json", 1, true), messages[1])
    assert.is_truthy(messages[2]:find("options of req:json have names, got a number", 1, true), messages[2])
    assert.is_truthy(messages[3]:find("options must be a table, got a string", 1, true), messages[3])
    assert.is_truthy(messages[4]:find("options must be a table, got a number", 1, true), messages[4])
  end)
end)

describe("a form", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    { "", {} },
    { "a=1&b=2", { a = "1", b = "2" } },
    { "flag&x=", { flag = "", x = "" } },
    { "a=b=c&&=v", { a = "b=c", [""] = "v" } },
    { "q=a+b%2B%20c%00", { q = "a b+ c\0" } },
    { "a=first&a=second", { a = "first" } },
  }) do
    it("is decoded from " .. row[1], function()
      assert.are.same(row[2], (read("form", FORM, row[1])))
    end)
  end

  it("has every value of a name", function()
    assert.are.same({ "1", "2", "" }, (read("form_all", FORM, "a=1&b=x&%61=2&a", "a")))
    assert.are.same({}, (read("form_all", FORM, "a=1", "b")))
  end)

  it("is empty when nothing was sent", function()
    assert.are.same({}, (read("form", "")))
    assert.are.same({}, (read("form_all", "", nil, "a")))
  end)

  it("is made once", function()
    local server = serve.with(function(req)
      return tostring(req:form() == req:form())
    end)
    assert.are.equal("true", serve.ask(server, "POST", "/", FORM, "a=1").body)
    assert.are.equal("true", serve.ask(server, "POST", "/", FORM, "a=2").body)
  end)

  for _, row in ipairs({
    { "a cut percent sequence", FORM, "a=1&b=%4", 400, "at byte 7 a percent sign" },
    { "a percent sign before other letters", FORM, "%zz", 400, "at byte 1 a percent sign" },
    { "JSON", JSON, "{}", 415, "application/x-www-form-urlencoded" },
    { "no type", "", "a=1", 415, "application/x-www-form-urlencoded" },
    { "another charset", FORM:gsub("\r\n", "; charset=latin1\r\n"), "a=1", 415, "UTF-8" },
    { "more fields than anybody fills in", FORM, ("a&"):rep(1001), 413, "more than 1000 fields" },
  }) do
    it("is refused with " .. row[1], function()
      local status, sentence = read("form", row[2], row[3])
      assert.are.equal(row[4], status)
      assert.is_truthy(sentence:find(row[5], 1, true), sentence)
      assert.are.equal(row[4], (read("form_all", row[2], row[3], "a")))
    end)
  end

  it("has at most a thousand fields", function()
    assert.are.same({ a = "" }, (read("form", FORM, ("a&"):rep(1000))))
  end)
end)

describe("a form with files", function()
  after_each(serve.close_all)

  it("is taken apart into its parts", function()
    local file = part(
      'Content-Disposition: form-data; name="file"; filename="C:\\dir\\map.png"\r\nContent-Type: image/png\r\nX-A: b',
      "\137PNG\r\n--c\0"
    )
    local body = "preamble\r\n" .. named("title", "one") .. file .. named("title", "two") .. "--b--\r\nepilogue"
    local parts, by_name = read("multipart", MULTIPART, body)
    assert.are.equal(3, #parts)
    assert.are.same({ "title", "file", "title" }, { parts[1].name, parts[2].name, parts[3].name })
    assert.are.same({ "one", "\137PNG\r\n--c\0", "two" }, { parts[1].body, parts[2].body, parts[3].body })
    assert.are.equal("text/plain", parts[1].type)
    assert.is_nil(parts[1].filename)
    assert.are.equal("map.png", parts[2].filename)
    assert.are.equal("image/png", parts[2].type)
    assert.are.equal("b", parts[2].headers["X-A"])
    assert.are.equal("image/png", parts[2].headers["content-type"])
    assert.is_true(by_name.title == parts[1] and by_name.file == parts[2])
  end)

  it("keeps a file name from leading anywhere", function()
    local body = named("f", "x", "; filename=\"../../etc/passwd\"; filename*=UTF-8''..%2Fk%C3%A9y") .. "--b--"
    assert.are.equal("kéy", read("multipart", MULTIPART, body)[1].filename)
  end)

  it("is empty when nothing was sent", function()
    local parts, by_name = read("multipart", "")
    assert.are.same({ {}, {} }, { parts, by_name })
  end)

  it("has at most a thousand parts", function()
    assert.are.equal(1000, #read("multipart", MULTIPART, named("a", ""):rep(1000) .. "--b--"))
    local status, sentence = read("multipart", MULTIPART, named("a", ""):rep(1001) .. "--b--")
    assert.are.same({ 413, "The form has too many parts." }, { status, sentence })
  end)

  for _, row in ipairs({
    { "no boundary in its type", "Content-Type: multipart/form-data\r\n", "x", 400, "names no valid boundary" },
    { "another boundary than its type names", MULTIPART, "--c\r\n", 400, "does not contain the boundary" },
    { "no end", MULTIPART, named("a", "1"), 400, "ends before its closing boundary" },
    { "a part without a name", MULTIPART, part("X-A: b", "") .. "--b--", 400, "Content-Disposition" },
    { "a head that is none", MULTIPART, part("nonsense", "") .. "--b--", 400, "headers of a part" },
    { "a large head", MULTIPART, part("X-A: " .. ("x"):rep(9000), "") .. "--b--", 413, "too large" },
    { "another type", FORM, "a=1", 415, "multipart/form-data" },
    { "no type", "", "a=1", 415, "multipart/form-data" },
  }) do
    it("is refused with " .. row[1], function()
      local status, sentence = read("multipart", row[2], row[3])
      assert.are.equal(row[4], status)
      assert.is_truthy(sentence:find(row[5], 1, true), sentence)
    end)
  end
end)
