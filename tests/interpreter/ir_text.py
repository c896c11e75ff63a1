"""Reads LLVM's textual IR: types, globals, functions, places in the source.

Knows what clang 19 writes for C at -O0 on x86-64 and nothing else; what it
does not know is an error, never a guess.
"""
import os
import re
import struct

TOKEN = re.compile(r"""
    c?"(?:[^"])*"
  | [@%]"[^"]*" | [@%][\w.$-]+ | [#!][\w.]+ | !(?=[{"])
  | -?\d+\.\d+(?:e[+-]?\d+)? | 0x[KLMHR]?[0-9A-Fa-f]+ | -?\d+
  | \.\.\. | [A-Za-z_$][\w.$]*
  | [][(){}<>,=*|:]
""", re.X)

INT = "int"
PTR = ("ptr",)
VOID = ("void",)
REALS = {"float": 4, "double": 8, "x86_fp80": 16}


class Unknown(Exception):
    """Something of the IR that this program does not know."""


class Instruction:
    """Operands are trees: ("local", name) or a constant (Module.constant)."""

    def __init__(self, result, op, place):
        self.result, self.op = result, op
        self.place = place  # (file, line, column) or None
        self.type = None  # of the result; of a store or compare: the operand's
        self.operands = []
        self.types = []  # of the operands
        self.how = None  # predicate; indexes; labels; volatile; ...
        self.by_value = []  # call: per argument, the type passed by value
        self.fixed = None  # call: of a variadic function? getelementptr: into
        # a va_list?


class Function:
    def __init__(self, name, module):
        self.name, self.module = name, module
        self.local = False
        self.variadic = False
        self.type = None
        self.params = []  # (type, name, type passed by value or None)
        self.blocks = []  # (label, [Instruction])
        self.declared = {}  # variable of the source -> line that declares it


class Global:
    def __init__(self, name, type_, init, local, align):
        self.name, self.type, self.init = name, type_, init
        self.local, self.align = local, align


class Cursor:
    """The tokens of a line, read from left to right."""

    def __init__(self, tokens, module):
        self.t, self.at, self.module = tokens, 0, module

    def peek(self):
        return self.t[self.at] if self.at < len(self.t) else None

    def next(self):
        self.at += 1
        return self.t[self.at - 1]

    def take(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def want(self, token):
        if not self.take(token):
            raise Unknown(f"{token} expected: {' '.join(self.t)} @{self.at}")

    def skip(self, words):
        while self.peek() in words:
            self.at += 1

    # --- types ------------------------------------------------------------

    def type(self):
        t = self.base_type()
        while self.take("*"):
            t = PTR
        if self.peek() == "(":  # of a function: type (parameters)
            self.parenthesis()
        return t

    def base_type(self):
        t = self.next()
        if re.fullmatch(r"i\d+", t):
            return (INT, int(t[1:]))
        if t == "ptr":
            return PTR
        if t in REALS or t in ("void", "label", "metadata"):
            return (t,)
        if t == "[":
            n = int(self.next())
            self.want("x")
            element = self.type()
            self.want("]")
            return ("array", n, element)
        if t == "<" and self.peek() != "{":
            n = int(self.next())
            self.want("x")
            element = self.type()
            self.want(">")
            return ("vector", n, element)
        if t in ("{", "<"):
            return self.struct(t == "<")
        if t.startswith("%"):
            return self.module.named(t)
        raise Unknown(f"type {t} in {' '.join(self.t)}")

    def struct(self, packed):
        if packed:
            self.want("{")
        members = []
        while not self.take("}"):
            members.append(self.type())
            self.take(",")
        if packed:
            self.want(">")
        return ("struct", packed, tuple(members))

    def parenthesis(self):
        """Skips one; gives its tokens."""
        self.want("(")
        start, depth = self.at, 1
        while depth:
            t = self.next()
            depth += (t == "(") - (t == ")")
        return self.t[start:self.at - 1]

    def attributes(self):
        """Skips them; gives the type that is passed by value, if one is."""
        by_value = None
        while True:
            t = self.peek()
            if t == "align" and self.t[self.at + 1] != "(":
                self.at += 2
            elif t == "byval":
                self.at += 1
                self.want("(")
                by_value = self.type()
                self.want(")")
            elif t in ATTRIBUTES:
                self.at += 1
                if self.peek() == "(":
                    self.parenthesis()
            else:
                return by_value


ATTRIBUTES = {
    "noundef", "zeroext", "signext", "inreg", "sret", "noalias", "nocapture",
    "nonnull", "returned", "dereferenceable", "dereferenceable_or_null",
    "readonly", "writeonly", "readnone", "immarg", "nofree", "align",
    "allocptr", "allocalign", "range", "initializes", "dead_on_unwind",
    "writable"}
LINKAGE = {
    "private", "internal", "external", "common", "weak", "linkonce",
    "linkonce_odr", "weak_odr", "extern_weak", "dso_local", "hidden",
    "protected", "default", "unnamed_addr", "local_unnamed_addr",
    "thread_local", "externally_initialized"}


def size_of(t):
    kind = t[0]
    if kind == INT:
        n = (t[1] + 7) // 8
        return n if n <= 8 else (n + 15) // 16 * 16
    if kind == "ptr":
        return 8
    if kind in REALS:
        return REALS[kind]
    if kind in ("array", "vector"):
        return t[1] * size_of(t[2])
    if kind == "struct":
        end = member_offset(t, len(t[2]))
        return -(-end // align_of(t)) * align_of(t)
    raise Unknown(f"size of {t}")


def align_of(t):
    kind = t[0]
    if kind == "array":
        return align_of(t[2])
    if kind == "struct":
        return 1 if t[1] else max((align_of(m) for m in t[2]), default=1)
    n = size_of(t)
    return 1 << max(n - 1, 0).bit_length() if n < 16 else 16


def member_offset(t, k):
    """Of the k-th member; behind the last one, if there are only k."""
    at = 0
    for i, m in enumerate(t[2]):
        if not t[1]:
            at = -(-at // align_of(m)) * align_of(m)
        if i == k:
            return at
        at += size_of(m)
    return at


class Module:
    def __init__(self, path):
        self.path = path
        self.types, self.named_types = {}, {}
        self.globals, self.functions = {}, {}
        self.declared = set()
        self.nodes = {}
        with open(path, encoding="latin-1") as f:
            self.read(f.read().split("\n"))

    def named(self, name):
        if name not in self.named_types:
            text = self.types[name]
            self.named_types[name] = Cursor(TOKEN.findall(text), self).type()
        return self.named_types[name]

    # --- the file ---------------------------------------------------------

    def read(self, lines):
        bodies = []
        body = None
        for line in lines:
            if body is not None:
                if line == "}":
                    body = None
                else:
                    body.append(line)
            elif line.startswith("define"):
                body = []
                bodies.append((line, body))
            elif line.startswith("!"):
                name, _, text = line.partition(" = ")
                self.nodes[name] = text
            elif line.startswith("%"):
                name, _, text = line.partition(" = type ")
                self.types[name] = text
            elif line.startswith("declare"):
                self.declared.add(re.search(r"@([\w.$]+)", line).group(1))
            elif line.startswith("@"):
                bodies.append((line, None))
        for head, body in bodies:
            if body is None:
                self.read_global(head)
            else:
                self.read_function(head, body)

    def read_global(self, line):
        c = Cursor(TOKEN.findall(line), self)
        name = c.next()
        c.want("=")
        words = set()
        while c.peek() not in ("global", "constant", "alias"):
            words.add(c.peek())
            c.next()
        if c.next() == "alias":
            raise Unknown("alias")
        t = c.type()
        init = None
        if not words & {"external", "extern_weak"}:
            init = self.constant(c, t)
        align = align_of(t)
        if "align" in c.t:
            align = max(align, int(c.t[c.t.index("align", c.at) + 1]))
        self.globals[name[1:]] = Global(
            name[1:], t, init, bool(words & {"private", "internal"}), align)

    def constant(self, c, t):
        """As a tree: (kind, ...)."""
        token = c.next()
        kind = t[0]
        if token in ("zeroinitializer", "null", "none"):
            return ("zero",)
        if token in ("undef", "poison"):
            return ("zero",)
        if token in ("true", "false"):
            return ("number", int(token == "true"))
        if token.startswith('c"'):
            return ("bytes", unescape(token[2:-1]))
        if token.startswith("@"):
            return ("address", token[1:].strip('"'))
        if token in ("[", "{", "<"):
            return self.aggregate(c, token)
        if token in ("getelementptr", "inttoptr", "ptrtoint", "bitcast", "sub",
                     "add", "trunc"):
            return self.constant_expression(c, token)
        if kind == INT:
            return ("number", int(token) & (1 << t[1]) - 1)
        if kind in REALS:
            return ("real", real_number(token))
        raise Unknown(f"constant {token} in {' '.join(c.t)}")

    def aggregate(self, c, token):
        if token == "<" and c.take("{"):
            token = "{"
        items = []
        while c.peek() not in ("]", "}", ">"):
            t = c.type()
            items.append((t, self.constant(c, t)))
            c.take(",")
        c.next()
        c.take(">")
        return ("items", items)

    def constant_expression(self, c, op):
        c.skip({"inbounds", "nuw", "nsw", "nusw"})
        c.want("(")
        if op == "getelementptr":
            base = c.type()
            operands = []
            while c.take(","):
                t = c.type()
                operands.append(self.constant(c, t))
            c.want(")")
            return ("element", base, operands)
        t = c.type()
        inner = self.constant(c, t)
        if op in ("add", "sub"):
            c.want(",")
            other = self.constant(c, c.type())
            c.want(")")
            return (op, inner, other)
        c.want("to")
        to = c.type()
        c.want(")")
        return ("cast", to, inner)

    # --- functions --------------------------------------------------------

    def read_function(self, head, lines):
        c = Cursor(TOKEN.findall(head), self)
        f = Function(None, self)
        c.want("define")
        while c.peek() in LINKAGE:
            f.local |= c.next() in ("internal", "private")
        c.attributes()
        f.type = c.base_type()
        f.name = c.next()[1:].strip('"')
        c.want("(")
        while not c.take(")"):
            if c.take("..."):
                f.variadic = True
                continue
            t = c.type()
            by_value = c.attributes()
            f.params.append((t, c.next(), by_value))
            c.take(",")
        self.functions[f.name] = f
        self.read_body(f, join_switches(lines))

    def read_body(self, f, lines):
        for line in lines:
            variable = re.match(r"    #dbg_declare\(ptr (%[\w.]+), (!\d+),",
                                line)
            if variable:
                f.declared[variable.group(1)] = self.line(variable.group(2))
            if not line or line.startswith("    #dbg"):
                continue
            label = re.match(r'("[^"]*"|[\w.$-]+):', line)
            if label:
                f.blocks.append((label.group(1).strip('"'), []))
                continue
            if not f.blocks:
                f.blocks.append(("0", []))
            f.blocks[-1][1].append(self.instruction(line))

    def instruction(self, line):
        place = None
        dbg = re.search(r", !dbg (!\d+)", line)
        if dbg:
            place = self.place(dbg.group(1))
            line = line[:dbg.start()]
        tokens = TOKEN.findall(line)
        result = None
        if len(tokens) > 1 and tokens[1] == "=":
            result = tokens[0]
            tokens = tokens[2:]
        while tokens[0] in ("tail", "notail", "musttail"):
            tokens = tokens[1:]
        i = Instruction(result, tokens[0], place)
        Reader(tokens[1:], self).read(i)
        return i

    # --- places -----------------------------------------------------------

    def line(self, node):
        """0: it has none."""
        found = re.search(r"line: (\d+)", self.nodes[node])
        return int(found.group(1)) if found else 0

    def place(self, node):
        text = self.nodes[node]
        line = self.line(node)
        column = re.search(r"column: (\d+)", text)
        column = int(column.group(1)) if column else 0
        scope = re.search(r"scope: (!\d+)", text).group(1)
        if not line:
            return None
        return (self.file_of(scope), line, column)

    def file_of(self, scope):
        f = re.search(r"file: (!\d+)", self.nodes[scope]).group(1)
        text = self.nodes[f]
        name = re.search(r'filename: "([^"]*)"', text).group(1)
        directory = re.search(r'directory: "([^"]*)"', text).group(1)
        return os.path.normpath(os.path.join(directory or "/", name))


class Reader(Cursor):
    """Reads what stands behind the name of an instruction."""

    def read(self, i):
        self.skip(FLAGS)
        getattr(self, "read_" + GROUPS.get(i.op, i.op))(i)

    def operand(self, i, t):
        value = self.peek()
        if value.startswith("%"):
            self.next()
            value = ("local", value)
        else:
            value = self.module.constant(self, t)
        i.types.append(t)
        i.operands.append(value)

    def typed(self, i):
        self.operand(i, self.type())

    def read_two(self, i):
        i.type = self.type()
        self.operand(i, i.type)
        self.want(",")
        self.operand(i, i.type)

    def read_compare(self, i):
        i.how = self.next()
        self.read_two(i)

    def read_fneg(self, i):
        i.type = self.type()
        self.operand(i, i.type)

    def read_cast(self, i):
        self.typed(i)
        self.want("to")
        i.type = self.type()

    def read_alloca(self, i):
        i.type = PTR
        i.how = self.type()
        i.operands, i.types = [("number", 1)], [(INT, 64)]
        if self.take(",") and self.peek() != "align":
            i.operands, i.types = [], []
            self.typed(i)

    def read_load(self, i):
        self.skip({"atomic", "volatile"})
        i.type = self.type()
        self.want(",")
        self.typed(i)

    def read_store(self, i):
        i.how = self.peek() in ("atomic", "volatile")
        self.skip({"atomic", "volatile"})
        i.type = self.type()
        self.operand(i, i.type)
        self.want(",")
        self.typed(i)

    def read_getelementptr(self, i):
        i.fixed = self.peek() == "%struct.__va_list_tag"
        i.type, i.how = PTR, self.type()
        while self.take(","):
            self.typed(i)

    def read_br(self, i):
        i.how = []
        if self.peek() != "label":
            self.typed(i)
        while self.take("label") or self.take(","):
            if self.peek().startswith("%"):
                i.how.append(self.next()[1:].strip('"'))

    def read_switch(self, i):
        self.typed(i)
        self.want(",")
        self.want("label")
        i.how = [(None, self.next()[1:].strip('"'))]
        self.want("[")
        while not self.take("]"):
            self.type()
            value = self.module.constant(self, i.types[0])
            self.want(",")
            self.want("label")
            i.how.append((value, self.next()[1:].strip('"')))

    def read_ret(self, i):
        i.type = self.type()
        if i.type != VOID:
            self.operand(i, i.type)

    def read_phi(self, i):
        i.type, i.how = self.type(), []
        while self.take("["):
            self.operand(i, i.type)
            self.want(",")
            i.how.append(self.next()[1:].strip('"'))
            self.want("]")
            self.take(",")

    def read_select(self, i):
        for _ in range(3):
            self.typed(i)
            self.take(",")
        i.type = i.types[1]

    def read_extractvalue(self, i):
        self.typed(i)
        i.how = self.indexes()

    def read_insertvalue(self, i):
        self.typed(i)
        self.want(",")
        self.typed(i)
        i.type, i.how = i.types[0], self.indexes()

    def indexes(self):
        found = []
        while self.take(","):
            found.append(int(self.next()))
        return found

    def read_extractelement(self, i):
        self.typed(i)
        self.want(",")
        self.typed(i)

    def read_insertelement(self, i):
        for _ in range(3):
            self.typed(i)
            self.take(",")
        i.type = i.types[0]

    def read_unreachable(self, i):
        pass

    def read_call(self, i):
        self.attributes()
        i.type = self.base_type()
        variadic = self.peek() == "(" and "..." in self.parenthesis()
        if self.peek() == "asm":
            raise Unknown("asm")
        i.how = self.next()
        self.want("(")
        while not self.take(")"):
            t = self.type()
            i.by_value.append(self.attributes())
            self.operand(i, t)
            self.take(",")
        i.fixed = variadic

TWO = ("add sub mul sdiv udiv srem urem and or xor shl lshr ashr fadd fsub "
       "fmul fdiv frem").split()
CASTS = ("sext zext trunc sitofp uitofp fptosi fptoui fpext fptrunc bitcast "
         "ptrtoint inttoptr").split()
GROUPS = {"icmp": "compare", "fcmp": "compare", **dict.fromkeys(TWO, "two"),
          **dict.fromkeys(CASTS, "cast")}
FLAGS = {"nsw", "nuw", "exact", "inbounds", "nusw", "fast", "nnan", "ninf",
         "nsz", "arcp", "contract", "afn", "reassoc", "samesign", "nneg",
         "disjoint"}


def join_switches(lines):
    """A switch is written on several lines."""
    out = []
    for line in lines:
        if out and "switch" in out[-1] and out[-1].count("[") > \
                out[-1].count("]"):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    return out


def unescape(text):
    return re.sub(rb"\\(\\|[0-9A-Fa-f]{2})",
                  lambda m: b"\\" if m.group(1) == b"\\" else
                  bytes([int(m.group(1), 16)]), text.encode("latin-1"))


def real_number(token):
    if token.startswith("0xK"):
        return extended(int(token[3:], 16))
    if token.startswith("0x"):
        return struct.unpack("<d", struct.pack("<Q", int(token, 16)))[0]
    return float(token)


def extended(bits):
    """The 80 bits of a long double as a Python number."""
    sign = -1.0 if bits >> 79 else 1.0
    exponent, mantissa = bits >> 64 & 0x7fff, bits & (1 << 64) - 1
    if exponent == 0x7fff:
        return sign * float("inf") if not mantissa << 1 & (1 << 64) - 1 \
            else float("nan")
    try:
        return sign * mantissa * 2.0 ** (exponent - 16383 - 63)
    except OverflowError:
        return sign * 0.0 if exponent < 16383 else sign * float("inf")
