"""<stdio.h> of the C library: streams, printf, scanf. See library.py."""
import math
import os
import re
import struct
import sys

from arithmetic import Arguments, Given
from library import MASK64, integer_prefix, model, real_prefix, set_errno, \
    signed, span, u32

# --- streams ----------------------------------------------------------------

class Stream:
    def __init__(self, data=b"", out=None):
        self.data, self.at, self.out = data, 0, out
        self.ended = False

    def take(self, n):
        piece = self.data[self.at:self.at + n]
        self.at += len(piece)
        self.ended |= len(piece) < n
        return piece

    def write(self, data):
        if self.out is not None:
            self.out.append(data)


def open_streams(m, stdin):
    m.token = 0
    m.errno = m.allocate(4)
    m.output, m.errors = [], []
    for name, stream in (("stdin", Stream(stdin)),
                         ("stdout", Stream(out=m.output)),
                         ("stderr", Stream(out=m.errors))):
        handle = m.allocate(16)
        m.streams[handle] = stream
        m.streams[name] = stream
        if (None, name) in m.symbols:
            m.put_number(m.symbols[None, name], handle, 8, 0)


@model("fopen")
def fopen(m, line, name, mode):
    path, how = m.text(name, line), m.text(mode, line)
    if how[:1] != b"r" or os.path.isdir(path):
        raise NotImplementedError("fopen for writing")
    try:
        with open(path, "rb") as f:
            stream = Stream(f.read())
    except OSError as e:
        set_errno(m, e.errno)
        return 0
    handle = m.allocate(16)
    m.streams[handle] = stream
    return handle


@model("fclose", "fflush")
def fclose(m, line, stream):
    return 0


@model("feof")
def feof(m, line, stream):
    return int(m.streams[stream].ended)


@model("ferror")
def ferror(m, line, stream):
    return 0


@model("getc", "fgetc")
def getc(m, line, stream):
    piece = m.streams[stream].take(1)
    return piece[0] if piece else 0xffffffff


@model("getchar")
def getchar(m, line):
    return getc(m, line, "stdin")


@model("ungetc")
def ungetc(m, line, c, stream):
    s = m.streams[stream]
    if c == 0xffffffff:
        return c
    s.at -= 1
    s.data = s.data[:s.at] + bytes([c & 255]) + s.data[s.at + 1:]
    s.ended = False
    return c


@model("fgets")
def fgets(m, line, to, n, stream):
    s = m.streams[stream]
    end = s.data.find(b"\n", s.at)
    end = len(s.data) if end < 0 else end + 1
    piece = s.take(min(end - s.at, n - 1))
    if not piece:
        s.ended = True
        return 0
    s.ended |= len(piece) < n - 1 and piece[-1:] != b"\n"
    m.put(to, piece + b"\0", line)
    return to


@model("fread")
def fread(m, line, to, size, n, stream):
    piece = m.streams[stream].take(size * n)
    count = len(piece) // size if size else 0
    m.put(to, piece, line)
    return count


@model("fwrite")
def fwrite(m, line, s, size, n, stream):
    m.streams[stream].write(m.get(s, size * n, line) if size * n else b"")
    return n


@model("fputs")
def fputs(m, line, s, stream):
    m.streams[stream].write(m.text(s, line))
    return 1


@model("puts")
def puts(m, line, s):
    m.output.append(m.text(s, line) + b"\n")
    return 1


@model("putc", "fputc")
def putc(m, line, c, stream):
    m.streams[stream].write(bytes([c & 255]))
    return c & 255


@model("putchar")
def putchar(m, line, c):
    return putc(m, line, c, "stdout")


@model("perror")
def perror(m, line, s):
    m.errors.append(m.text(s, line))


# --- printf -----------------------------------------------------------------

SPEC = re.compile(rb"%([-+ #0']*)(\*|\d+)?(?:\.(\*|-?\d*))?"
                  rb"(hh|h|ll|l|q|j|z|t|L)?([a-zA-Z%])")
WIDTHS = {b"hh": 8, b"h": 16, b"l": 64, b"ll": 64, b"q": 64, b"j": 64,
          b"z": 64, b"t": 64}


def formatted(m, line, text, values):
    out, at = b"", 0
    for spec in SPEC.finditer(text):
        out += text[at:spec.start()]
        at = spec.end()
        out += one(m, line, spec, values, out)
    return out + text[at:]


def one(m, line, spec, values, before):
    flags, width, precision, length, kind = spec.groups()
    flags = flags.decode()
    if kind == b"%":
        return b"%"
    if width == b"*":
        width = signed(values.take(), 32)
        flags += "-" if width < 0 else ""
        width = abs(width)
    else:
        width = int(width or 0)
    if precision == b"*":
        precision = signed(values.take(), 32)
        precision = None if precision < 0 else precision
    elif precision is not None:
        precision = int(precision or 0)
    letter = kind.decode()
    if letter in "fFeEgGaA":
        body = real_text(values.take(True), letter, flags, precision)
        zero = "0" in flags and body[-1:] not in (b"f", b"n", b"F", b"N")
        return pad(body, width, flags, zero)
    value = values.take()
    if letter == "c":
        return pad(bytes([value & 255]), width, flags, False)
    if letter == "s":
        return pad(m.text(value, line, precision) if value else b"(null)",
                   width, flags, False)
    if letter == "p":
        return pad(b"%#x" % value if value else b"(nil)", width, flags, False)
    if letter == "n":
        m.put_number(value, len(before), WIDTHS.get(length, 32) // 8, line)
        return b""
    body = integer_text(value, letter, flags, precision,
                        WIDTHS.get(length, 32))
    return pad(body, width, flags, "0" in flags and precision is None)


def integer_text(value, letter, flags, precision, bits):
    if letter in "di":
        value = signed(value, bits)
        digits = str(abs(value))
        sign = "-" if value < 0 else "+" if "+" in flags else \
            " " if " " in flags else ""
    else:
        value &= (1 << bits) - 1
        digits = format(value, {"u": "d"}.get(letter, letter))
        sign = {"x": "0x", "X": "0X"}.get(letter, "") \
            if "#" in flags and value else ""
    if precision is not None:
        digits = digits.rjust(precision, "0") if precision or value else ""
    if letter == "o" and "#" in flags and digits[:1] != "0":
        digits = "0" + digits
    return (sign + digits).encode()


def real_text(value, letter, flags, precision):
    if math.isinf(value) or math.isnan(value):
        text = "inf" if math.isinf(value) else "nan"
        if math.copysign(1, value) < 0:
            text = "-" + text
        elif "+" in flags:
            text = "+" + text
        return (text.upper() if letter.isupper() else text).encode()
    if letter in "aA":
        raise NotImplementedError("%a")
    kept = "".join(f for f in flags if f in "+ #")
    precision = "" if precision is None else f".{precision}"
    return (f"%{kept}{precision}{letter}" % value).encode()


def pad(body, width, flags, zero):
    if "-" in flags:
        return body.ljust(width)
    if not zero or len(body) >= width:
        return body.rjust(width)
    head = re.match(rb"[-+ ]?(?:0[xX])?", body).group()
    return head + body[len(head):].rjust(width - len(head), b"0")


def emit(m, line, stream, text, values):
    data = formatted(m, line, text, values)
    m.streams[stream].write(data)
    return u32(len(data))


@model("printf")
def printf(m, line, form, *values):
    return emit(m, line, "stdout", m.text(form, line), Given(values))


@model("fprintf")
def fprintf(m, line, stream, form, *values):
    return emit(m, line, stream, m.text(form, line), Given(values))


@model("vprintf")
def vprintf(m, line, form, values):
    return emit(m, 0, "stdout", m.text(form, line), Arguments(m, values))


@model("vfprintf")
def vfprintf(m, line, stream, form, values):
    return emit(m, 0, stream, m.text(form, line), Arguments(m, values))


def into(m, line, to, size, data):
    if size:
        m.put(to, data[:size - 1] + b"\0", line)
    return u32(len(data))


@model("snprintf")
def snprintf(m, line, to, size, form, *values):
    return into(m, line, to, size,
                formatted(m, line, m.text(form, line), Given(values)))


@model("vsnprintf")
def vsnprintf(m, line, to, size, form, values):
    return into(m, line, to, size, formatted(
        m, 0, m.text(form, line), Arguments(m, values)))


@model("sprintf")
def sprintf(m, line, to, form, *values):
    return snprintf(m, line, to, MASK64, form, *values)


# --- scanf ------------------------------------------------------------------

SCAN = re.compile(rb"%(\*)?(\d+)?(hh|h|ll|l|j|z|t|L)?"
                  rb"(\[\^?\]?[^]]*\]|[a-zA-Z%])")
BLANKS = b" \t\n\v\f\r"


@model("sscanf", "__isoc99_sscanf", "__isoc23_sscanf")
def sscanf(m, line, s, form, *places):
    text, form = m.text(s, line), m.text(form, line)
    at = k = done = 0
    places = list(places)
    while k < len(form):
        if form[k] in BLANKS:
            at += span(text[at:], BLANKS, True)
            k += 1
            continue
        spec = SCAN.match(form, k) if form[k:k + 1] == b"%" else None
        if not spec:
            if text[at:at + 1] != form[k:k + 1]:
                break
            at, k = at + 1, k + 1
            continue
        k = spec.end()
        quiet, width, length, kind = spec.groups()
        if kind == b"n":
            m.put_number(places.pop(0), at, WIDTHS.get(length, 32) // 8, line)
            continue
        if kind not in (b"c",) and kind[:1] != b"[":
            at += span(text[at:], BLANKS, True)
        if at >= len(text):
            return done if done else 0xffffffff
        n, data = scan_one(text[at:], kind, length, int(width or 0))
        if not n:
            break
        at += n
        if not quiet:
            m.put(places.pop(0), data, line)
            done += 1
    return done


def scan_one(text, kind, length, width):
    """(bytes taken, what is written); 0: it does not match."""
    if width:
        text = text[:width]
    if kind == b"c":
        return (width or 1, text[:width or 1])
    if kind == b"s":
        n = span(text, BLANKS, False)
        return n, text[:n] + b"\0"
    if kind[:1] == b"[":
        found = re.match(kind + b"+", text)
        return (found.end(), found.group() + b"\0") if found else (0, b"")
    if kind in (b"f", b"g", b"e"):
        value, n = real_prefix(text)
        return n, struct.pack("<d" if length == b"l" else "<f", value)
    base = {b"d": 10, b"u": 10, b"i": 0, b"x": 16, b"o": 8}[kind]
    value, n = integer_prefix(text, base)
    bits = WIDTHS.get(length, 32)
    return n, (value & (1 << bits) - 1).to_bytes(bits // 8, "little")


def flush(m):
    sys.stdout.buffer.write(b"".join(m.output))
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(b"".join(m.errors))
    sys.stderr.buffer.flush()
