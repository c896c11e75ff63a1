"""The machine that runs the program: memory, with the last writer of each byte,
linked modules, calls.

A naive one: every function becomes a Python function (translate.py), memory is
one row of bytes, and beside it stands a row of statements: who wrote the byte.
"""
import mmap
import struct
import sys
import threading
from array import array

from arithmetic import pack_real
from ir_text import INT, REALS, Unknown, member_offset, size_of
from records import Records
from translate import translate

LOW = 0x10000  # no address is lower
CODE = 0x1000  # where functions are: 16 bytes each
STACK = 16 << 20
SIZE = 256 << 20
PYTHON_STACK = 512 << 20


class Ended(Exception):
    """The program ended: its exit status, or minus the signal."""


class Tired(Exception):
    """The program takes more loops and calls than it was given."""


class Jump(Exception):
    """longjmp: (buffer, value)."""


def row(size):
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS |
                     getattr(mmap, "MAP_NORESERVE", 0))


class Machine:
    def __init__(self, modules):
        self.modules = modules
        self.records = Records()
        self.pairs = self.records.pairs
        self.mem = row(SIZE)
        self.writers = memoryview(row(4 * SIZE)).cast("I")
        self.arg_def = self.ret_def = 0
        self.symbols = {}  # (module or None, name) -> address
        self.by_address = {}  # of functions: address -> callable
        self.by_name = {}
        self.blocks = {}  # of the heap: address -> size
        self.library = None  # name -> function(machine, line, arguments)
        self.streams = {}
        self.end = LOW
        self.fuel = 1 << 60  # loops and calls that are left

    def tired(self):
        raise Tired()

    # --- memory -----------------------------------------------------------

    def fault(self, address):
        raise Ended(-11, address)

    def check(self, address, n):
        if address < LOW or address + n > SIZE:
            self.fault(address)

    def define(self, address, n, line):
        self.check(address, n)
        self.writers[address:address + n] = array("I", [line]) * n

    def use(self, address, n, line):
        """All of these bytes are read."""
        self.check(address, n)
        if line:
            for w in set(self.writers[address:address + n]):
                self.pairs.add(w << 24 | line)

    def put(self, address, data, line):
        self.define(address, len(data), line)
        self.mem[address:address + len(data)] = bytes(data)

    def get(self, address, n, line):
        self.use(address, n, line)
        return self.mem[address:address + n]

    def text(self, address, line=0, most=None):
        """A string; its bytes and the end of it are read."""
        self.check(address, 1)
        end = self.mem.find(b"\0", address)
        if most is not None and end - address >= most:
            return self.get(address, most, line)
        return self.get(address, end - address + 1, line)[:-1]

    def copy(self, to, source, n, line, hidden=False):
        """hidden: reading the source is no use."""
        if n:
            data = self.get(source, n, 0 if hidden else line)
            self.put(to, data, line)

    def number(self, address, n):
        self.check(address, n)
        return int.from_bytes(self.mem[address:address + n], "little")

    def put_number(self, address, value, n, line):
        self.put(address, (value & (1 << 8 * n) - 1).to_bytes(n, "little"),
                 line)

    # --- the stack and the heap -------------------------------------------

    def push(self, size, align=16):
        """Memory of the stack, written by nobody."""
        at = -(-self.sp // align) * align
        self.sp = at + size
        self.fuel -= 1
        if self.fuel < 0:
            self.tired()
        if self.sp > self.stack_end:
            self.fault(self.sp)
        self.define(at, size, 0)
        return at

    def allocate(self, size, line=0):
        """A block; of `line` nonzero: filled with zeros by that statement."""
        if size > SIZE // 2 or self.heap + size + 64 > SIZE:
            return 0
        at = self.heap
        self.heap += -(-max(size, 1) // 16) * 16 + 16
        self.blocks[at] = size
        if line:
            self.define(at, size, line)
        return at

    # --- linking ----------------------------------------------------------

    def place(self, size, align):
        at = -(-self.end // align) * align
        self.end = at + max(size, 1)
        return at

    def scope(self, module, thing):
        return module if thing.local else None

    def address(self, module, name):
        for scope in (module, None):
            if (scope, name) in self.symbols:
                return self.symbols[scope, name]
        raise Unknown(f"what is {name}?")

    def link(self):
        functions = []
        for m in self.modules:
            for f in m.functions.values():
                functions.append(f)
                self.add_function(self.scope(m, f), f.name)
            for g in m.globals.values():
                if g.init:
                    self.symbols[self.scope(m, g), g.name] = self.place(
                        size_of(g.type), g.align)
        for m in self.modules:
            for name in m.declared:
                if (None, name) not in self.symbols:
                    self.add_function(None, name)
            for g in m.globals.values():
                if (None, g.name) not in self.symbols and not g.init:
                    self.symbols[None, g.name] = self.place(64, 16)
        for m in self.modules:
            for g in m.globals.values():
                if g.init:
                    self.fill(m, self.address(m, g.name), g.type, g.init)
        self.sp = -(-self.end // 4096) * 4096
        self.heap = self.stack_end = self.sp + STACK
        for f in functions:
            for _, block in f.blocks:
                for i in block:
                    self.records.note(i)
        for f in functions:
            key = self.address(f.module, f.name)
            self.by_address[key] = translate(f, self)

    def add_function(self, scope, name):
        self.symbols[scope, name] = CODE + 16 * len(self.by_name)
        self.by_name[scope, name] = self.symbols[scope, name]
        if scope is None and not any(name in m.functions
                                     for m in self.modules):
            self.by_address[self.symbols[None, name]] = self.model(name)

    def model(self, name):
        """A library function as a Python function of its arguments."""
        def call(*args, line=0, rest=()):
            if name not in self.library:
                raise Unknown(f"library function {name}")
            result = self.library[name](self, line, *args,
                                        *(v for _, v in rest))
            self.ret_def = 0
            return result
        call.is_library = True
        return call

    def fill(self, module, at, t, c):
        """The initial value of a global: no statement writes it."""
        kind = c[0]
        if kind == "zero":
            return
        if kind == "bytes":
            self.mem[at:at + len(c[1])] = c[1]
        elif kind == "items":
            for k, (item_type, item) in enumerate(c[1]):
                offset = member_offset(t, k) if t[0] == "struct" else \
                    k * size_of(t[2])
                self.fill(module, at + offset, item_type, item)
        elif t[0] in REALS:
            data = pack_real(c[1], t[0])
            self.mem[at:at + len(data)] = data
        else:
            n = size_of(t)
            self.mem[at:at + n] = self.constant(module, c).to_bytes(
                n, "little")

    def constant(self, module, c):
        """The value of a constant."""
        kind = c[0]
        if kind == "zero":
            return 0
        if kind in ("number", "real"):
            return c[1]
        if kind == "address":
            return self.address(module, c[1])
        if kind == "element":
            return self.element(module, c)
        if kind == "cast":
            value = self.constant(module, c[2])
            return value & (1 << c[1][1]) - 1 if c[1][0] == INT else value
        if kind in ("add", "sub"):
            a, b = (self.constant(module, x) for x in c[1:])
            return (a + b if kind == "add" else a - b) & (1 << 64) - 1
        raise Unknown(f"constant {c}")

    def element(self, module, c):
        base, indexes = self.constant(module, c[2][0]), c[2][1:]
        t = ("array", 0, c[1])
        for index in indexes:
            k = self.constant(module, index)
            k = k - (1 << 64) if k >> 63 else k
            if t[0] == "struct":
                base += member_offset(t, k)
                t = t[2][k]
            else:
                t = t[2]
                base += k * size_of(t)
        return base & (1 << 64) - 1

    # --- running ----------------------------------------------------------

    def call_back(self, address, *args):
        """A call that the library makes."""
        self.arg_def = 0
        return self.by_address[address](*args)

    def function(self, address, variadic):
        """What a pointer points to."""
        if address not in self.by_address:
            self.fault(address)
        called = self.by_address[address]
        if not variadic or called.is_library:
            return called
        n = called.parameters
        return lambda line, rest: called(*(v for _, v in rest[:n]), line=line,
                                         rest=rest[n:])

    def start(self, argv):
        """Runs the program: its exit status, or minus the signal; None: it was
        Tired. On a stack that is large enough for Python's recursion."""
        ends = []

        def run():
            try:
                self.run(argv)
            except BaseException as e:  # of any kind: raised again below
                ends.append(e)

        sys.setrecursionlimit(1000000)
        threading.stack_size(PYTHON_STACK)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if isinstance(ends[0], Tired):
            return None
        if not isinstance(ends[0], Ended):
            raise ends[0]
        return ends[0].args[0]

    def run(self, argv):
        texts = []
        for a in argv:
            at = self.push(len(a) + 1, 1)
            self.put(at, a + b"\0", 0)
            texts.append(at)
        row_ = self.push(8 * (len(argv) + 1))
        self.put(row_, struct.pack(f"<{len(texts) + 1}Q", *texts, 0), 0)
        self.arg_def = 0
        main = self.by_address[self.address(None, "main")]
        args = [len(argv), row_, row_ + 8 * len(argv)][:main.parameters]
        status = main(*args)
        raise Ended(int(status or 0) & 255)
