-- What a client likes best, and what its body is: req:accepts and its kin, req:is.

local serve = require("spec.support.serve")

-- What the method gives for these fields.
local function ask(method, fields, body, ...)
  local arguments, result = { ... }, nil
  local server = serve.with(function(req)
    result = req[method](req, unpack(arguments))
    return ""
  end)
  assert.are.equal(200, serve.ask(server, "POST", "/", fields, body).status)
  return result
end

describe("negotiation", function()
  after_each(serve.close_all)

  for _, row in ipairs({
    { "accepts", "", { "html", "json" }, "html" },
    { "accepts", "Accept: application/json\r\n", { "html", "json" }, "json" },
    { "accepts", "Accept: text/html;q=0.5\r\nAccept: application/json\r\n", { "html", "json" }, "json" },
    { "accepts", "Accept: text/*\r\n", { "application/json", "text/csv" }, "text/csv" },
    { "accepts", "Accept: image/png\r\n", { "html", "json" }, nil },
    { "accepts", "Accept: */*;q=0.1, image/png;q=0\r\n", { "png", "jpg" }, "jpg" },
    { "accepts", "Accept: application/json\r\n", { { "html", "json" } }, "json" },
    { "accepts_languages", "Accept-Language: en-GB, de;q=0.5\r\n", { "de", "en" }, "en" },
    { "accepts_languages", "", { "de", "en" }, "de" },
    { "accepts_charsets", "Accept-Charset: utf-8;q=0.1, latin1\r\n", { "utf-8", "latin1" }, "latin1" },
    { "accepts_encodings", "Accept-Encoding: gzip;q=0.5, br\r\n", { "gzip", "br" }, "br" },
    { "accepts_encodings", "", { "gzip", "identity" }, "identity" },
    { "accepts_encodings", "", { "gzip" }, nil },
  }) do
    it(("%s finds %s with %q"):format(row[1], tostring(row[4]), row[2]), function()
      assert.are.equal(row[4], ask(row[1], row[2], nil, unpack(row[3])))
    end)
  end

  for _, row in ipairs({
    { "text/html; charset=utf-8", { "html" }, "html" },
    { "text/html", { "json", "text/*" }, "text/*" },
    { "application/problem+json", { "+json" }, "+json" },
    { "application/problem+json", { "json" }, nil },
    { "application/x-www-form-urlencoded", { "json", "urlencoded" }, "urlencoded" },
    { "multipart/form-data; boundary=b", { "multipart" }, "multipart" },
    { "text/html", { { "json", "html" } }, "html" },
    { "nonsense", { "*/*" }, nil },
    { nil, { "*/*" }, nil },
  }) do
    it(("is %s when its type is %s"):format(tostring(row[3]), tostring(row[1])), function()
      local fields = row[1] and "Content-Type: " .. row[1] .. "\r\n" or ""
      assert.are.equal(row[3], ask("is", fields, "x", unpack(row[2])))
    end)
  end

  it("is misused with an error", function()
    local messages = {}
    local many = {}
    for index = 1, 201 do
      many[index] = "x"
    end
    serve.once(function(req)
      for _, arguments in ipairs({ {}, { {} }, { 5 }, { { "a", {} } }, { many } }) do
        local _, message = pcall(req.accepts, req, unpack(arguments))
        messages[#messages + 1] = message
      end
      return ""
    end)
    assert.is_truthy(messages[1]:find("req:accepts needs at least one name", 1, true), messages[1])
    assert.is_truthy(messages[2]:find("req:accepts needs at least one name", 1, true), messages[2])
    assert.is_truthy(messages[3]:find("each name must be a string, got a number", 1, true), messages[3])
    assert.is_truthy(messages[4]:find("each name must be a string, got a table", 1, true), messages[4])
    assert.is_truthy(messages[5]:find("req:accepts takes at most 200 names, got 201", 1, true), messages[5])
  end)

  it("decides how the library's own answers look", function()
    local server = serve.with(require("fastslua").app())
    for accept, json in pairs({
      ["application/json"] = true,
      ["application/json, text/plain, */*"] = true,
      ["text/html, application/json;q=0.9"] = false,
      ["*/*"] = false,
      ["text/html;q=0.5, application/*"] = true,
      ["image/png"] = false,
    }) do
      local body = serve.get(server, "/none", "Accept: " .. accept .. "\r\n").body
      assert.are.equal(json, body:sub(1, 1) == "{", accept)
    end
    local split = serve.get(server, "/none", "Accept: text/html;q=0.1\r\nAccept: application/json\r\n")
    assert.are.equal("{", split.body:sub(1, 1))
  end)
end)
