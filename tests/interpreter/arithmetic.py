"""Arithmetic as the processor does it, where Python's is different; values in
memory; arguments of variadic functions."""
import math
import struct
from array import array

from ir_text import REALS, member_offset, size_of

INVALID = math.copysign(math.nan, -1.0)  # what invalid operations give


def divide(a, b, bits=None):
    """bits: of signed numbers, whose quotient may be too large."""
    if not b or b == -1 and a == -1 << (bits - 1):
        from machine import Ended
        raise Ended(-8)
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def rest_of(a, b, bits=None):
    return a - divide(a, b, bits) * b


def multiply(a, b):
    return a * b


def quotient(a, b):
    if b:
        return a / b
    if math.isnan(a) or math.isnan(b):
        return a + b
    if not a:
        return INVALID
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def remainder(a, b):
    if math.isnan(a) or math.isnan(b):
        return a + b
    return INVALID if not b or math.isinf(a) else math.fmod(a, b)


def to_float(value):
    return struct.unpack("<f", pack_real(value, "float"))[0]


def to_integer(value, bits, is_signed):
    """Out of range: as the processor has it."""
    wide = 64 if bits > 32 or not is_signed else 32
    if math.isnan(value) or not -2.0 ** 63 <= value < 2.0 ** 64 or \
            is_signed and not -2.0 ** (wide - 1) <= value < 2.0 ** (wide - 1):
        return 1 << (wide - 1) & (1 << bits) - 1
    return int(value) & (1 << bits) - 1


def order(a, b):
    return 0 if a < b else 2 if a > b else 1


def order_equal(a, b, bits):
    """Of integers with one sign; 3: of different ones."""
    return 3 if (a ^ b) >> (bits - 1) else order(a, b)


def order_reals(a, b):
    return 3 if a != a or b != b else order(a, b)


def compare_reals(a, b, how):
    if how in ("true", "false"):
        return int(how == "true")
    unordered = a != a or b != b
    if how in ("ord", "uno"):
        return int(unordered == (how == "uno"))
    if unordered:
        return int(how[0] == "u")
    return int({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b,
                "gt": a > b, "ge": a >= b}[how[1:]])


def with_overflow(word, a, b, bits):
    top = 1 << (bits - 1)
    if word[0] == "s":
        a, b = (a ^ top) - top, (b ^ top) - top
    exact = a + b if word.endswith("add") else \
        a - b if word.endswith("sub") else a * b
    wrapped = exact & (1 << bits) - 1
    seen = (wrapped ^ top) - top if word[0] == "s" else wrapped
    return (wrapped, int(seen != exact))


def is_class(value, wanted):
    """llvm.is.fpclass."""
    if math.isnan(value):
        bit = 2  # quiet
    elif math.isinf(value):
        bit = 0x200 if value > 0 else 4
    elif value == 0:
        bit = 0x40 if math.copysign(1, value) > 0 else 0x20
    elif abs(value) < 2.2250738585072014e-308:
        bit = 0x80 if value > 0 else 0x10
    else:
        bit = 0x100 if value > 0 else 8
    return int(bool(bit & wanted))


def rounded(function):
    return lambda x: x if math.isinf(x) or math.isnan(x) or x == 0 else \
        math.copysign(float(function(x)), x)


floor = rounded(math.floor)
ceil = rounded(math.ceil)
trunc = rounded(math.trunc)


def times_plus(a, b, c):
    return a * b + c


def power(a, b):
    try:
        return math.pow(a, b)
    except OverflowError:
        negative = a < 0 and b % 2 == 1
        return -math.inf if negative else math.inf
    except ValueError:
        return math.inf if a == 0 else INVALID


def guarded(function, bad):
    """With what the C library gives where Python raises an error."""
    def call(x):
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return bad(x)
    return call


def nan(_):
    return INVALID


square_root = guarded(math.sqrt, nan)

REAL_INTRINSICS = {"fabs": "math.fabs", "floor": "floor", "ceil": "ceil",
                   "trunc": "trunc", "fmuladd": "times_plus",
                   "sqrt": "square_root", "copysign": "math.copysign",
                   "pow": "power"}


# --- values in memory -------------------------------------------------------

def array_of(line, n):
    return array("I", [line]) * n


def pack_real(value, kind):
    if kind == "float":
        try:
            return struct.pack("<f", value)
        except OverflowError:
            return struct.pack("<f", math.copysign(math.inf, value))
    if kind == "double":
        return struct.pack("<d", value)
    return struct.pack("<d", value) + b"\0" * 2  # a long double has 10 bytes


def pack_struct(values, t):
    data = bytearray(size_of(t))
    for k, (value, m) in enumerate(zip(values, t[2])):
        at = member_offset(t, k)
        piece = pack_real(value, m[0]) if m[0] in REALS else \
            value.to_bytes(size_of(m), "little")
        data[at:at + len(piece)] = piece
    return bytes(data)


def unpack_struct(data, t):
    values = []
    for k, m in enumerate(t[2]):
        at = member_offset(t, k)
        if m[0] in REALS:
            form = "<f" if m[0] == "float" else "<d"
            values.append(struct.unpack_from(form, data, at)[0])
        else:
            values.append(int.from_bytes(data[at:at + size_of(m)], "little"))
    return tuple(values)


# --- variadic functions -----------------------------------------------------

def va_start(m, at, rest, integers, reals):
    """A va_list of the x86-64 ABI. It is nobody's, and so are the arguments in
    it."""
    saved = m.push(176)
    overflow = bytearray()
    gp, fp = integers * 8, 48 + reals * 16
    given = gp, fp
    for kind, value in rest:
        if kind in ("double", "float"):
            piece = struct.pack("<d", value)
            if fp < 176:
                m.put(saved + fp, piece, 0)
                fp += 16
                continue
        elif kind == "x86_fp80":
            overflow += b"\0" * (-len(overflow) % 16)
            piece = pack_real(value, kind) + b"\0" * 6
        else:
            piece = struct.pack("<Q", value)
            if gp < 48:
                m.put(saved + gp, piece, 0)
                gp += 8
                continue
        overflow += piece
    area = m.push(max(len(overflow), 8))
    m.put(area, overflow, 0)
    m.put(at, struct.pack("<IIQQ", *given, area, saved), 0)


class Arguments:
    """The arguments that a va_list has left, taken one by one."""

    def __init__(self, m, at):
        self.m, self.at = m, at

    def take(self, is_real=False):
        m, at = self.m, self.at
        field, end, step = (at + 4, 176, 16) if is_real else (at, 48, 8)
        offset = m.number(field, 4)
        if offset < end:
            address = m.number(at + 16, 8) + offset
            m.mem[field:field + 4] = struct.pack("<I", offset + step)
        else:
            address = m.number(at + 8, 8)
            m.mem[at + 8:at + 16] = struct.pack("<Q", address + 8)
        data = m.mem[address:address + 8]
        return struct.unpack("<d" if is_real else "<Q", data)[0]


class Given:
    """The same of arguments that stand in a call."""

    def __init__(self, values):
        self.values = list(values)

    def take(self, is_real=False):
        value = self.values.pop(0) if self.values else 0
        return float(value) if is_real else int(value) & (1 << 64) - 1
