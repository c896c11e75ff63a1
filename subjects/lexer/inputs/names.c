a b c_d _x x9 _ __init__ camelCase UPPER a1b2c3
