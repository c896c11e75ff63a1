import sys


def mid(x, y, z):
    m = z
    if y < z:
        if x < y:
            m = y
        elif x < z:
            m = y  # BUG
    else:
        if x > y:
            m = y
        elif x > z:
            m = x
    return m


if __name__ == "__main__":
    print(mid(*map(int, sys.argv[1:])))
