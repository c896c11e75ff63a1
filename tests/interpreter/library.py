"""The C library, as far as the programs use it.

A function takes the machine, the statement of the call, and the arguments. What
it reads is used by that statement, what it writes is defined by it. A text that
is passed is read to its end, but not one that a va_list leads to. errno, the
tables of <ctype.h> and the insides of streams are nobody's. These are the rules
of docs/internals/pairs.md.
"""
import math
import re
import struct

import arithmetic

FUNCTIONS = {}
ERANGE = 34
MASK64 = (1 << 64) - 1


def model(*names):
    def add(function):
        for name in names:
            FUNCTIONS[name] = function
        return function
    return add


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (value >> (bits - 1) << bits)


def u32(value):
    return value & 0xffffffff


# --- texts and memory -------------------------------------------------------

@model("strlen")
def strlen(m, line, s):
    return len(m.text(s, line))


@model("strnlen")
def strnlen(m, line, s, n):
    return len(m.text(s, line, n))


def compare(a, b):
    return u32((a > b) - (a < b))


@model("strcmp", "strcoll")
def strcmp(m, line, a, b):
    return difference(m.text(a, line), m.text(b, line))


def difference(a, b):
    """As glibc gives it on x86-64: of the first bytes that differ."""
    for x, y in zip(a + b"\0", b + b"\0"):
        if x != y:
            return u32(x - y)
    return 0


@model("strncmp")
def strncmp(m, line, a, b, n):
    return difference(m.text(a, line, n), m.text(b, line, n))


@model("strcasecmp")
def strcasecmp(m, line, a, b):
    return difference(m.text(a, line).lower(), m.text(b, line).lower())


@model("memcmp", "bcmp")
def memcmp(m, line, a, b, n):
    return difference(m.get(a, n, line), m.get(b, n, line)) if n else 0


@model("strcpy")
def strcpy(m, line, to, s):
    m.put(to, m.text(s, line) + b"\0", line)
    return to


@model("strncpy")
def strncpy(m, line, to, s, n):
    m.put(to, m.text(s, line, n).ljust(n, b"\0"), line)
    return to


@model("strcat")
def strcat(m, line, to, s):
    whole = m.text(to, line) + m.text(s, line) + b"\0"
    m.put(to, whole, line)
    return to


@model("strdup")
def strdup(m, line, s):
    text = m.text(s, line) + b"\0"
    at = m.allocate(len(text))
    m.put(at, text, line)
    return at


@model("memcpy", "memmove")
def memcpy(m, line, to, s, n):
    m.copy(to, s, n, line)
    return to


@model("memset")
def memset(m, line, to, c, n):
    m.put(to, bytes([c & 255]) * n, line)
    return to


@model("memchr")
def memchr(m, line, s, c, n):
    at = m.get(s, n, line).find(c & 255)
    return s + at if at >= 0 else 0


@model("strchr")
def strchr(m, line, s, c):
    at = (m.text(s, line) + b"\0").find(c & 255)
    return s + at if at >= 0 else 0


@model("strrchr")
def strrchr(m, line, s, c):
    at = (m.text(s, line) + b"\0").rfind(c & 255)
    return s + at if at >= 0 else 0


@model("strstr")
def strstr(m, line, s, part):
    at = m.text(s, line).find(m.text(part, line))
    return s + at if at >= 0 else 0


def span(text, among, inside):
    return next((i for i, c in enumerate(text) if (c in among) != inside),
                len(text))


@model("strspn")
def strspn(m, line, s, among):
    return span(m.text(s, line), m.text(among, line), True)


@model("strcspn")
def strcspn(m, line, s, among):
    return span(m.text(s, line), m.text(among, line), False)


@model("strpbrk")
def strpbrk(m, line, s, among):
    text = m.text(s, line)
    at = span(text, m.text(among, line), False)
    return s + at if at < len(text) else 0


def cut(m, line, s, among, skips):
    """(token or 0, where the rest begins or 0). Reads the token; writes its
    end, if it is not that of the text."""
    marks = m.text(among, line)
    text = m.text(s) if s else b""
    start = span(text, marks, True) if skips else 0
    if not s or skips and start == len(text):
        return 0, 0
    end = start + span(text[start:], marks, False)
    m.use(s + start, end - start, line)
    if end == len(text):
        return s + start, 0
    m.put(s + end, b"\0", line)
    return s + start, s + end + 1


@model("strtok")
def strtok(m, line, s, among):
    token, m.token = cut(m, line, s or m.token, among, True)
    return token


@model("strtok_r", "__strtok_r")
def strtok_r(m, line, s, among, rest):
    token, left = cut(m, line, s or m.number(rest, 8), among, True)
    m.put_number(rest, left, 8, line)
    return token


@model("strsep", "__strsep")
def strsep(m, line, rest, among):
    token, left = cut(m, line, m.number(rest, 8), among, False)
    m.put_number(rest, left, 8, line)
    return token


# --- memory -----------------------------------------------------------------

@model("malloc")
def malloc(m, line, n):
    return m.allocate(n)


@model("calloc")
def calloc(m, line, n, size):
    return m.allocate(n * size, line)


@model("realloc")
def realloc(m, line, at, n):
    """What is moved keeps its definitions: no value is new."""
    to = m.allocate(n)
    if at and to:
        kept = min(n, m.blocks[at])
        m.mem[to:to + kept] = m.mem[at:at + kept]
        m.writers[to:to + kept] = m.writers[at:at + kept]
    return to


@model("free")
def free(m, line, at):
    if at and at not in m.blocks:
        from machine import Ended
        raise Ended(-6)
    return None


@model("qsort")
def qsort(m, line, base, n, size, function):
    """All of it is read and written before it begins."""
    if n and size:
        sort(m, line, base, n, size, function)


def sort(m, line, base, n, size, function):
    m.use(base, n * size, line)
    m.define(base, n * size, line)
    merge_sort(m, base, n, size, function)


def merge_sort(m, base, n, size, function):
    """With the comparisons that tests/data/close/qsort.c makes."""
    if n <= 1:
        return
    half = n // 2
    a, b, end = base, base + half * size, base + n * size
    merge_sort(m, a, half, size, function)
    merge_sort(m, b, n - half, size, function)
    merged, middle = b"", b
    while a < middle and b < end:
        if signed(m.call_back(function, a, b), 32) <= 0:
            merged, a = merged + m.mem[a:a + size], a + size
        else:
            merged, b = merged + m.mem[b:b + size], b + size
    merged += m.mem[a:middle]
    m.mem[base:base + len(merged)] = merged


@model("bsearch")
def bsearch(m, line, key, base, n, size, function):
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        at = base + middle * size
        c = signed(m.call_back(function, key, at), 32)
        if not c:
            return at
        low, high = (low, middle) if c < 0 else (middle + 1, high)
    return 0


# --- numbers ----------------------------------------------------------------

def set_errno(m, value):
    m.mem[m.errno:m.errno + 4] = struct.pack("<i", value)


@model("__errno_location")
def errno_location(m, line):
    return m.errno


def integer_prefix(text, base):
    """(value, length) of the number that the text begins with; length 0:
    none."""
    blanks = re.match(rb"[ \t\n\v\f\r]*", text).end()
    rest = text[blanks:]
    sign = re.match(rb"[+-]?", rest).group()
    rest = rest[len(sign):]
    prefix = 0
    if base in (0, 16) and re.match(rb"0[xX][0-9a-fA-F]", rest):
        prefix, base = 2, 16
    elif base == 0:
        base = 8 if rest[:1] == b"0" else 10
    value = n = 0
    for c in rest[prefix:]:
        digit = int(chr(c), 36) if chr(c).isalnum() and c < 128 else 99
        if digit >= base:
            break
        value, n = value * base + digit, n + 1
    if not n:
        return 0, 0
    return (-value if sign == b"-" else value,
            blanks + len(sign) + prefix + n)


def to_long(m, line, s, end, base, low, high):
    value, n = integer_prefix(m.text(s, line), signed(base, 32))
    if end:
        m.put_number(end, s + n, 8, line)
    if not low <= value <= high:
        set_errno(m, ERANGE)
        value = low if value < low else high
    return value & MASK64


@model("strtol", "strtoll", "__isoc23_strtol", "__isoc23_strtoll")
def strtol(m, line, s, end, base):
    return to_long(m, line, s, end, base, -(1 << 63), (1 << 63) - 1)


@model("strtoul", "strtoull", "__isoc23_strtoul", "__isoc23_strtoull")
def strtoul(m, line, s, end, base):
    return to_long(m, line, s, end, base, -(1 << 64) + 1, (1 << 64) - 1)


@model("atoi")
def atoi(m, line, s):
    return u32(strtol(m, line, s, 0, 10))


@model("atol", "atoll")
def atol(m, line, s):
    return strtol(m, line, s, 0, 10)


REAL = re.compile(rb"[ \t\n\v\f\r]*([+-]?(?:0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*"
                  rb"(?:[pP][+-]?\d+)?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
                  rb"|inf(?:inity)?|nan(?:\([0-9A-Za-z_]*\))?))", re.I)


def real_prefix(text):
    found = REAL.match(text)
    if not found:
        return 0.0, 0
    digits = found.group(1).decode()
    if "x" in digits.lower():
        return float.fromhex(digits), found.end()
    return float(re.sub(r"\(.*", "", digits)), found.end()


@model("strtod")
def strtod(m, line, s, end):
    value, n = real_prefix(m.text(s, line))
    if end:
        m.put_number(end, s + n, 8, line)
    if math.isinf(value) and b"n" not in m.text(s)[:n].lower():
        set_errno(m, ERANGE)
    return value


@model("atof")
def atof(m, line, s):
    return real_prefix(m.text(s, line))[0]


@model("abs")
def absolute(m, line, x):
    return u32(abs(signed(x, 32)))


def add_real(name, function, bad=arithmetic.nan):
    guarded = arithmetic.guarded(function, bad)
    FUNCTIONS[name] = lambda m, line, x: guarded(x)


def log_of_bad(x):
    return -math.inf if x == 0 else arithmetic.INVALID


for _name in "sin cos tan asin acos atan exp sinh cosh tanh sqrt".split():
    add_real(_name, getattr(math, _name))
for _name in "log log10 log2".split():
    add_real(_name, getattr(math, _name), log_of_bad)
add_real("lgamma", math.lgamma, lambda x: math.inf)
add_real("floor", arithmetic.floor)
add_real("ceil", arithmetic.ceil)
add_real("trunc", arithmetic.trunc)
add_real("fabs", math.fabs)
add_real("round", lambda x: math.copysign(math.floor(abs(x) + 0.5), x))
FUNCTIONS["pow"] = lambda m, line, a, b: arithmetic.power(a, b)
FUNCTIONS["fmod"] = lambda m, line, a, b: arithmetic.remainder(a, b)


# --- characters -------------------------------------------------------------

@model("tolower")
def tolower(m, line, c):
    return c + 32 if 65 <= c <= 90 else c


@model("toupper")
def toupper(m, line, c):
    return c - 32 if 97 <= c <= 122 else c


def character_bits(c):
    """As the table of glibc has them in the C locale."""
    char = chr(c)
    upper, lower = "A" <= char <= "Z", "a" <= char <= "z"
    digit, graph = "0" <= char <= "9", 33 <= c <= 126
    alpha = upper or lower
    bits = [upper, lower, alpha, digit, digit or char in "abcdefABCDEF",
            c in (9, 10, 11, 12, 13, 32), 32 <= c <= 126, graph, c in (9, 32),
            c < 32 or c == 127, graph and not alpha and not digit,
            alpha or digit]
    order = [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3]
    return sum(1 << k for k, on in zip(order, bits) if on) if c < 128 else 0


def table(m, form, entries):
    at = m.allocate(8 + 384 * struct.calcsize(form))
    data = struct.pack(f"<384{form}", *entries)
    m.put(at + 8, data, 0)
    m.put_number(at, at + 8 + 128 * struct.calcsize(form), 8, 0)
    return at


def cached(make):
    places = {}

    def call(m, line):
        if m not in places:
            places[m] = make(m)
        return places[m]
    return call


FUNCTIONS["__ctype_b_loc"] = cached(lambda m: table(
    m, "H", [character_bits(c) if c >= 0 else 0 for c in range(-128, 256)]))
FUNCTIONS["__ctype_tolower_loc"] = cached(lambda m: table(
    m, "i", [tolower(m, 0, c) for c in range(-128, 256)]))
FUNCTIONS["__ctype_toupper_loc"] = cached(lambda m: table(
    m, "i", [toupper(m, 0, c) for c in range(-128, 256)]))


# --- ending -----------------------------------------------------------------

@model("exit", "_exit")
def leave(m, line, status):
    from machine import Ended
    raise Ended(status & 255)


@model("abort")
def abort(m, line):
    from machine import Ended
    raise Ended(-6)


@model("__assert_fail")
def assert_fail(m, line, *_):
    abort(m, line)


@model("longjmp", "siglongjmp")
def longjmp(m, line, buffer, value):
    from machine import Jump
    raise Jump(buffer, value or 1)


@model("getenv")
def getenv(m, line, name):
    m.text(name, line)
    return 0


@model("setlocale")
def setlocale(m, line, *_):
    return 0
