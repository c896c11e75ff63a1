"""Makes PNG files small: 256 colours. Standard library only; takes what the
browser writes (8 bits, RGB or RGBA, not interlaced)."""
import collections
import struct
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(kind, line, above, step):
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guess = (0, left, above[i], (left + above[i]) // 2,
                 paeth(left, above[i], corner))[kind]
        line[i] = (line[i] + guess) & 255
    return line


def pixels(data):
    """Width, height, and rows of (red, green, blue)."""
    parts = collections.defaultdict(bytes)
    for kind, body in chunks(data):
        parts[kind] += body
    width, height, _, colour = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    step = 4 if colour == 6 else 3
    raw = zlib.decompress(parts[b"IDAT"])
    above, rows, stride = bytearray(width * step), [], width * step + 1
    for y in range(height):
        line = bytearray(raw[y * stride + 1:(y + 1) * stride])
        above = unfilter(raw[y * stride], line, above, step)
        rows.append(list(zip(above[0::step], above[1::step], above[2::step])))
    return width, height, rows


def palette_of(rows):
    """The commonest colours, and for every colour the nearest of them."""
    counts = collections.Counter(p for row in rows for p in row)
    chosen = [c for c, _ in counts.most_common(256)]
    nearest = {c: i for i, c in enumerate(chosen)}
    for c in counts:
        if c not in nearest:
            nearest[c] = min(range(len(chosen)), key=lambda i: sum(
                (a - b) ** 2 for a, b in zip(chosen[i], c)))
    return chosen, nearest


def chunk(kind, body):
    return (struct.pack(">I", len(body)) + kind + body +
            struct.pack(">I", zlib.crc32(kind + body)))


def shrink(data):
    width, height, rows = pixels(data)
    chosen, nearest = palette_of(rows)
    packed = b"".join(b"\0" + bytes(nearest[p] for p in row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"".join(map(bytes, chosen))) +
            chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b""))
