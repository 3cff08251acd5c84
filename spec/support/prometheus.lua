-- prometheus.lua: reads Prometheus' text format 0.0.4, strictly: what a test gets is never more lenient than it.

local prometheus = {}

local KINDS = { counter = true, gauge = true, histogram = true }
local ESCAPES = { ["\\"] = "\\", ['"'] = '"', n = "\n" }

local function number(text)
  if text == "+Inf" then
    return math.huge
  end
  assert(text:find("^-?%d+%.?%d*$") or text:find("^-?%d+%.?%d*[eE][+-]?%d+$"), "no number: " .. text)
  return assert(tonumber(text))
end

-- The labels of a sample: a table, and the same as a text with the names in order.
local function labels_of(text)
  local labels, names = {}, {}
  local at = 1
  while at <= #text do
    local name, after = text:match('^([%a_][%w_]*)="()', at)
    assert(name, "bad labels: " .. text)
    local value = {}
    while true do
      local plain, stop, behind = text:match('^([^\\"\n]*)(.)()', after)
      assert(plain, "bad labels: " .. text)
      value[#value + 1] = plain
      after = behind
      if stop == '"' then
        break
      end
      local escape = assert(ESCAPES[text:sub(after, after)], "a bad escape: " .. text)
      value[#value + 1] = escape
      after = after + 1
    end
    assert(labels[name] == nil, "a label twice: " .. text)
    labels[name] = table.concat(value)
    names[#names + 1] = name
    at = text:match("^,()", after) or after
    assert(at > after or at > #text, "bad labels: " .. text)
  end
  table.sort(names)
  local parts = {}
  for _, name in ipairs(names) do
    parts[#parts + 1] = name .. "=" .. labels[name]
  end
  return labels, table.concat(parts, " ")
end

-- Which names a metric's samples may have.
local function belongs(sample, family)
  if family.kind ~= "histogram" then
    return sample == family.name
  end
  return sample == family.name .. "_bucket" or sample == family.name .. "_sum" or sample == family.name .. "_count"
end

-- Buckets grow, the last is +Inf, and it is the count.
local function check_histogram(family)
  local last = {}
  for _, sample in ipairs(family.samples) do
    local le = sample.labels.le
    local others = sample.key:gsub("le=%S+ ?", "", 1):gsub(" $", "")
    if le then
      local before = last[others]
      local bound = number(le)
      assert(not before or before.bound < bound and before.value <= sample.value, "buckets of " .. family.name)
      last[others] = { bound = bound, value = sample.value }
    elseif sample.name == family.name .. "_count" then
      local before = last[others]
      assert(before and before.bound == math.huge and before.value == sample.value, "count of " .. family.name)
    end
  end
end

-- The values of all samples by "name key=value ...", and the kinds of the metrics by name.
function prometheus.read(text)
  assert(text:sub(-1) == "\n", "no line feed at the end")
  local values, kinds, family = {}, {}, nil
  for line in text:gmatch("([^\n]*)\n") do
    local help = line:match("^# HELP ([%a_:][%w_:]*) .")
    local name, kind = line:match("^# TYPE ([%a_:][%w_:]*) (%a+)$")
    if help then
      assert(not kinds[help], "a metric twice: " .. help)
      family = { name = help, samples = {} }
    elseif name then
      assert(family and family.name == name and not family.kind and KINDS[kind], line)
      family.kind, kinds[name] = kind, kind
      kinds[#kinds + 1] = family
    else
      local sample, labels, value = line:match("^([%a_:][%w_:]*){(.*)} (%S+)$")
      if not sample then
        sample, value = line:match("^([%a_:][%w_:]*) (%S+)$")
      end
      assert(sample and family and family.kind and belongs(sample, family), "out of place: " .. line)
      local table_of, key = labels_of(labels or "")
      local whole = key == "" and sample or sample .. " " .. key
      assert(values[whole] == nil, "a series twice: " .. line)
      values[whole] = number(value)
      family.samples[#family.samples + 1] = { name = sample, labels = table_of, key = key, value = values[whole] }
    end
  end
  for _, each in ipairs(kinds) do
    if each.kind == "histogram" then
      check_histogram(each)
    end
  end
  return values, kinds
end

return prometheus
