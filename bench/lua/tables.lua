-- Hash tables, objects, closures, garbage. tables.lua SCALE
local scale = tonumber(arg[1])

local Point = {}
Point.__index = Point
function Point.new(x, y)
  return setmetatable({x = x, y = y}, Point)
end
function Point:add(other)
  return Point.new(self.x + other.x, self.y + other.y)
end

local sum = 0
for round = 1, 10 * scale do
  local counts = {}
  for i = 1, 8000 do
    local key = "k" .. (i * 7919 % 500)
    counts[key] = (counts[key] or 0) + 1
  end
  local p = Point.new(0, 0)
  for i = 1, 8000 do
    p = p:add(Point.new(i, round))
  end
  for _, n in pairs(counts) do
    sum = sum + n
  end
  sum = sum + p.x + p.y
end
print(sum)
