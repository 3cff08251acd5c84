-- Fields of a response whose values have a form of their own: where it leads, what it varies with, links, attachments.

local serve = require("spec.support.serve")

describe("a response", function()
  after_each(serve.close_all)

  it("names once what it varies with", function()
    local response = serve.once(function(_, res)
      res:set("Vary", "Accept"):vary("Origin", "accept"):vary({ "Cookie", "ORIGIN" }):send("")
    end)
    assert.are.equal("Accept, Origin, Cookie", response.fields.vary)
    response = serve.once(function(_, res)
      res:vary("Accept"):vary("*"):vary("Origin"):send("")
    end)
    assert.are.equal("*", response.fields.vary)
  end)

  it("has links in the order of their relations", function()
    local response = serve.once(function(_, res)
      res:links({ next = "/a?page=2", last = "/a b" }):links({}):links({ ["prev first"] = "/>" }):send("")
    end)
    local links = '</a%20b>; rel="last", </a?page=2>; rel="next", </%3E>; rel="prev first"'
    assert.are.equal(links, response.fields.link)
  end)

  for _, row in ipairs({
    { nil, "attachment", "text/plain; charset=utf-8" },
    { "track.csv", 'attachment; filename="track.csv"', "text/csv; charset=utf-8" },
    { "dir/Map.PNG", 'attachment; filename="Map.PNG"', "image/png" },
    { "no extension", 'attachment; filename="no extension"', "text/plain; charset=utf-8" },
    {
      'a"\r\nX: y',
      'attachment; filename="a\\"??X: y"; filename*=UTF-8\'\'a%22%0D%0AX%3A%20y',
      "text/plain; charset=utf-8",
    },
    { "é.json", "attachment; filename=\"?.json\"; filename*=UTF-8''%C3%A9.json", "application/json" },
  }) do
    it("is an attachment " .. tostring(row[1]), function()
      local response = serve.once(function(_, res)
        res:attachment(row[1]):send("x")
      end)
      assert.are.equal(row[2], response.fields["content-disposition"])
      assert.are.equal(row[3], response.fields["content-type"])
    end)
  end

  it("keeps a type that was set before its attachment", function()
    local response = serve.once(function(_, res)
      res:type("bin"):attachment("a.json"):send("x")
    end)
    assert.are.equal("application/octet-stream", response.fields["content-type"])
  end)

  it("redirects", function()
    local response = serve.once(function(_, res)
      res:redirect("/else?a=b")
    end)
    assert.are.equal(302, response.status)
    assert.are.equal("/else?a=b", response.fields.location)
    assert.are.equal("The answer is at /else?a=b\n", response.body)
    assert.are.equal("text/plain; charset=utf-8", response.fields["content-type"])
    response = serve.once(function(_, res)
      return res:type("html"):redirect("http://a/", 308)
    end)
    assert.are.equal(308, response.status)
    assert.are.equal("text/plain; charset=utf-8", response.fields["content-type"])
  end)

  for _, row in ipairs({
    { "/a b", "/a%20b" },
    { "/%41?x=<y>&z", "/%41?x=%3Cy%3E&z" },
    { "/\r\nX: y", "/%0D%0AX:%20y" },
    { "/\\evil.example", "/%5Cevil.example" },
    { "/é", "/%C3%A9" },
    { "http://[::1]:80/#top", "http://[::1]:80/#top" },
  }) do
    it(("redirects to %q"):format(row[2]), function()
      local response = serve.once(function(_, res)
        res:redirect(row[1])
      end)
      assert.are.equal(row[2], response.fields.location)
      assert.is_nil(response.fields.x)
    end)
  end

  for _, row in ipairs({
    {
      "redirect to nothing",
      function(res)
        res:redirect()
      end,
      "url must be a string, got no value",
    },
    {
      "redirect with 304",
      function(res)
        res:redirect("/", 304)
      end,
      "code must be a redirection (300, 301, 302, 303, 307 or 308), got 304",
    },
    {
      "redirect with 200",
      function(res)
        res:redirect("/", 200)
      end,
      "code must be a redirection",
    },
    {
      "vary of nothing",
      function(res)
        res:vary()
      end,
      "res:vary needs at least one name",
    },
    {
      "vary with a line end",
      function(res)
        res:vary("Accept", "A\r\nX: y")
      end,
      "response header 'Vary': header name is not a token",
    },
    {
      "links of text",
      function(res)
        res:links("/next")
      end,
      "links must be a table, got a string",
    },
    {
      "links without relations",
      function(res)
        res:links({ "/next" })
      end,
      "links must be a table of URLs by relation, got a number as relation of a string",
    },
    {
      "links to nothing",
      function(res)
        res:links({ next = 5 })
      end,
      "links must be a table of URLs by relation, got a string as relation of a number",
    },
    {
      "relations with quotation marks",
      function(res)
        res:links({ ['next"'] = "/a" })
      end,
      "'next\"' is no relation of a link",
    },
    {
      "an attachment of a table",
      function(res)
        res:attachment({})
      end,
      "filename must be a string, got a table",
    },
  }) do
    it("refuses " .. row[1], function()
      local message
      local response = serve.once(function(_, res)
        local fine, why = pcall(row[2], res)
        assert(not fine)
        message = why
        -- It can still be used.
        res:send("after")
      end)
      assert.are.same({ 200, "after" }, { response.status, response.body })
      assert.is_truthy(message:find(row[3], 1, true), message)
      assert.is_truthy(message:find("response_fields_spec.lua:", 1, true), message)
    end)
  end
end)
