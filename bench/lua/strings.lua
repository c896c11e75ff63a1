-- Patterns, substitution, formatting, concatenation. strings.lua SCALE
local scale = tonumber(arg[1])

local length = 0
for round = 1, 25 * scale do
  local parts = {}
  for i = 1, 1500 do
    parts[#parts + 1] = string.format("%d:%s=%q", i, ("key"):rep(i % 5), round)
  end
  local text = table.concat(parts, ",")
  local words = 0
  for _ in text:gmatch("%a+") do
    words = words + 1
  end
  text = text:gsub("(%d+):", "<%1>"):upper():reverse()
  for i = 1, #text, 7 do
    length = length + text:byte(i)
  end
  length = length + words + #text
end
print(length)
