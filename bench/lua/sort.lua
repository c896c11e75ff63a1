-- Comparisons through a Lua function, array reads and writes. sort.lua SCALE
local scale = tonumber(arg[1])

local seed = 42
local function random()
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed
end

local sum = 0
for _ = 1, 5 * scale do
  local a = {}
  for i = 1, 10000 do
    a[i] = random()
  end
  table.sort(a)
  table.sort(a, function(x, y) return x % 1000 < y % 1000 end)
  sum = sum + a[1]
end
print(sum)
