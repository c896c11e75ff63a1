-- Calls and arithmetic. fib.lua SCALE
local scale = tonumber(arg[1])

local function fib(n)
  if n < 2 then
    return n
  end
  return fib(n - 1) + fib(n - 2)
end

local sum = 0
for _ = 1, 15 * scale do
  sum = sum + fib(24)
end
print(sum)
