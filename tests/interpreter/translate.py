"""Makes a Python function of a function of the IR.

Integers are Python's, without a sign, reduced to their width; pointers are
integers; a structure is a tuple. Blocks are numbered: `b` is the next one, and
a tree of comparisons leads to it. Each load adds a pair, each store writes the
statement beside the bytes.
"""
import math
import re
import struct
from array import array

import arithmetic
from ir_text import CASTS, INT, PTR, REALS, VOID, Unknown, align_of, \
    member_offset, size_of

MASK64 = (1 << 64) - 1


def translate(function, machine):
    return Translator(function, machine).make()


def mask(t):
    return (1 << t[1]) - 1 if t[0] == INT else MASK64


class Translator:
    def __init__(self, function, machine):
        self.f, self.m = function, machine
        self.names = {}
        self.out = []
        self.frame = 0
        self.sites = machine.records.add_sites(function)
        self.env = {"m": machine, "mem": machine.mem, "W": machine.writers,
                    "pairs": machine.pairs, "seen": machine.records.seen,
                    "pack": struct.pack, "unpack": struct.unpack,
                    "from_bytes": int.from_bytes, "math": math}
        self.env.update(vars(arithmetic))
        self.labels = {label: n for n, (label, _) in
                       enumerate(function.blocks)}
        self.counts = {}
        for _, block in function.blocks:
            for i in block:
                for o in i.operands:
                    if o[0] == "local":
                        self.counts[o[1]] = self.counts.get(o[1], 0) + 1
        self.makers = {i.result: i for _, block in function.blocks
                       for i in block if i.result}
        self.resumes = []  # blocks behind a setjmp

    # --- the whole --------------------------------------------------------

    def make(self):
        params = [self.local(name) for _, name, _ in self.f.params]
        self.args = {name for _, name, _ in self.f.params}
        self.split_setjmp()
        blocks = [self.block(b) for _, b in self.f.blocks]
        lines = [f"def f({', '.join(params + ['line=0', 'rest=()'])}):",
                 "  ad = m.arg_def",
                 f"  fp = m.push({self.frame}, 16)"]
        indent = "  "
        lines.append("  b = 0")
        lines.append("  while True:")
        if self.resumes:
            lines.append("   try:")
            lines.append("    while True:")
            indent = "   "
        self.tree(lines, blocks, 0, len(blocks), indent + "  ")
        if self.resumes:
            lines += ["   except Jump as j:",
                      "    if j.args[0] not in jumps: raise",
                      "    b, m.sp = jumps[j.args[0]]",
                      "    jumped = j.args[1]"]
            lines.insert(3, "  jumps = {}")
        from machine import Ended, Jump
        self.env.update(Ended=Ended, Jump=Jump)
        exec(compile("\n".join(lines), f"<{self.f.name}>", "exec"), self.env)
        made = self.env["f"]
        made.parameters = len(params)
        made.is_library = False
        return made

    def tree(self, lines, blocks, low, high, indent):
        if high - low == 1:
            lines.extend(indent + s for s in blocks[low])
            return
        middle = (low + high) // 2
        lines.append(f"{indent}if b < {middle}:")
        self.tree(lines, blocks, low, middle, indent + " ")
        lines.append(f"{indent}else:")
        self.tree(lines, blocks, middle, high, indent + " ")

    def split_setjmp(self):
        """What stands behind a setjmp becomes a block of its own."""
        at = 0
        while at < len(self.f.blocks):
            label, block = self.f.blocks[at]
            for k, i in enumerate(block):
                if i.op == "call" and i.how in SETJMP:
                    rest = f"{label}.jumped{at}"
                    self.f.blocks[at] = (label, block[:k + 1])
                    self.f.blocks.insert(at + 1, (rest, block[k + 1:]))
                    self.resumes.append((i, rest))
                    break
            at += 1
        if self.resumes:
            self.rename_phis()
        self.labels = {label: n for n, (label, _) in
                       enumerate(self.f.blocks)}

    def rename_phis(self):
        """They name the block that the jump is in now."""
        self.now = {}
        for label, _ in self.f.blocks:
            self.now.setdefault(label.split(".jumped")[0], []).append(label)

    def local(self, name):
        return self.names.setdefault(name, f"v{len(self.names)}")

    def value(self, operand):
        if operand[0] == "local":
            return self.local(operand[1])
        if operand[0] == "real":
            return f"float('{operand[1]!r}')"
        if operand[0] == "items":
            return "(" + "".join(self.value(c) + ","
                                 for _, c in operand[1]) + ")"
        return str(self.m.constant(self.f.module, operand))

    def typed_value(self, i, k):
        value, t = i.operands[k], i.types[k]
        if value[0] == "zero":
            return zero_of(t)
        return self.value(value)

    def block(self, code):
        self.out = []
        for i in code:
            self.line = self.m.records.statement(i)
            before = i.op in ("store", "ret")
            if before:
                self.relations(i)
            self.make_one(i)
            if not before:
                self.relations(i)
        return self.out

    def say(self, text):
        self.out.append(text)

    def result(self, i, text):
        self.say(f"{self.local(i.result)} = {text}")

    def make_one(self, i):
        name = "do_" + i.op
        if hasattr(self, name):
            getattr(self, name)(i)
        elif i.op in BINARY:
            a, b = (self.typed_value(i, k) for k in (0, 1))
            if i.type[0] == "vector":
                raise Unknown("vectors")
            self.result(i, BINARY[i.op](a, b, i.type))
        else:
            raise Unknown(f"instruction {i.op}")

    # --- relations --------------------------------------------------------

    def relations(self, i):
        for s in self.sites.get(id(getattr(i, "call", i)), ()):
            value = self.value(s.value) if s.value[0] != "zero" \
                else zero_of(i.type)
            t = i.type
            if s.shape in ("order", "equality", "reals", "same"):
                other = self.typed_value(i, 1)
                if s.shape == "reals":
                    which = f"order_reals({value}, {other})"
                elif s.shape == "same":
                    which = f"int({value} != {other})"
                elif s.shape == "equality":
                    which = f"order_equal({value}, {other}, {t[1]})"
                elif s.unsigned or t == PTR:
                    which = f"order({value}, {other})"
                else:
                    which = f"order({signed(value, t)}, {signed(other, t)})"
            elif s.shape == "null":
                which = f"int({value} != 0)"
            elif s.shape == "sign":
                # A truth value is 0 or 1.
                seen = value if t[1] == 1 else signed(value, t)
                which = f"order({seen}, 0)"
            elif s.shape == "real sign":
                which = f"order_reals({value}, 0.0)"
            else:
                n = size_of(t)
                at = self.typed_value(i, 1)
                which = f"int({value} != from_bytes(mem[{at}:{at} + {n}], " \
                    "'little'))"
                if not s.always:
                    self.say(f"if 65536 <= {at} < len(W) and W[{at}]:")
                    which = f" {which}"
                    self.say(f" seen.add({s.number << 4} | {which})")
                    continue
            self.say(f"seen.add({s.number << 4} | {which})")

    # --- memory -----------------------------------------------------------

    def do_alloca(self, i):
        count = i.operands[0]
        if count[0] != "number":
            size = f"{size_of(i.how)} * {self.value(count)}"
            self.result(i, f"m.push({size}, 16)")
            return
        align = max(align_of(i.how), 8)
        self.frame = -(-self.frame // align) * align
        self.result(i, f"fp + {self.frame}")
        self.frame += max(size_of(i.how), 1) * count[1]

    def address(self, operand, n):
        """Into `a`, checked."""
        self.say(f"a = {self.value(operand)}")
        self.say(f"if not 65536 <= a <= {(256 << 20) - n}: m.fault(a)")

    def do_load(self, i):
        n = stored_size(i.type)
        self.address(i.operands[0], n)
        name = self.local(i.result)
        if self.line and not self.is_hidden(i.operands[0]):
            self.say(f"pairs.add(W[a] << 24 | {self.line})")
        self.say(f"d{name} = W[a]")
        self.result(i, read_text(i.type))

    def do_store(self, i):
        n = stored_size(i.type)
        value = self.typed_value(i, 0)
        self.address(i.operands[1], n)
        self.write(i.type, value)
        name = self.stored_name(i.operands[1])
        if not i.place and self.is_argument(i.operands[0]):
            self.env["named"] = self.m.records.definition
            parameter = f"{self.f.name}({name})"
            self.say(f"W[a:a + {n}] = array_of(named(ad, {parameter!r}), {n})")
        else:
            line = self.m.records.definition(self.line, name)
            self.say(f"W[a:a + {n}] = {self.writers(line, n)}")

    def stored_name(self, address):
        """What clang calls the place: variable, field, arrayidx, ..."""
        if self.is_hidden(address):
            return f"{self.f.name}()"
        if address[0] == "element":
            return "element"
        maker, _ = self.origin(address, ())
        if maker and maker.how == "@llvm.threadlocal.address.p0":
            return str(maker.operands[0][1])
        name = str(address[1]).lstrip("%@").strip('"')
        return re.sub(r"(\.addr)?\d*$", "", name.split(".addr")[0]) or "pointer"

    def origin(self, operand, through):
        """What made the value, behind instructions of these kinds."""
        while operand[0] == "local":
            i = self.makers.get(operand[1])
            if not i or i.op not in through:
                return i, operand
            operand = i.operands[0]
        return None, operand

    def is_argument(self, operand):
        """One of the function's, or made from one."""
        _, operand = self.origin(operand, CASTS)
        return operand[0] == "local" and operand[1] in self.args

    def is_hidden(self, address):
        """Does it lead to what the compiler put aside, not to a variable? So
        it is with the list of variadic arguments."""
        i, _ = self.origin(address, ())
        if i and i.op == "getelementptr" and i.fixed:
            return True
        i, _ = self.origin(address, ("getelementptr",))
        return bool(i) and i.op == "alloca" and \
            i.result not in self.f.declared

    def writers(self, line, n):
        name = f"w{n}_{line}"
        self.env[name] = array("I", [line]) * n
        return name

    def write(self, t, value):
        kind = t[0]
        if kind in REALS:
            self.env["pack_real"] = arithmetic.pack_real
            self.say(f"s = pack_real({value}, '{kind}')")
            self.say("mem[a:a + len(s)] = s")
        elif kind == "struct":
            self.say(f"mem[a:a + {size_of(t)}] = pack_struct({value}, {t!r})")
        elif size_of(t) == 1:
            self.say(f"mem[a] = {value}")
        else:
            n = size_of(t)
            self.say(f"mem[a:a + {n}] = ({value}).to_bytes({n}, 'little')")

    def do_getelementptr(self, i):
        text, constant = self.value(i.operands[0]), 0
        t = ("array", 0, i.how)
        for k in range(1, len(i.operands)):
            operand = i.operands[k]
            if t[0] == "struct":
                index = self.m.constant(self.f.module, operand)
                constant += member_offset(t, index)
                t = t[2][index]
                continue
            t = t[2]
            if operand[0] == "local":
                text += f" + {signed(self.value(operand), i.types[k])} * " \
                    f"{size_of(t)}"
            else:
                index = self.m.constant(self.f.module, operand)
                bits = i.types[k][1]
                index -= (index >> (bits - 1)) << bits
                constant += index * size_of(t)
        self.result(i, f"({text} + {constant}) & {MASK64}")

    # --- values -----------------------------------------------------------

    def do_icmp(self, i):
        a, b = (self.typed_value(i, k) for k in (0, 1))
        if i.how[0] == "s":
            a, b = signed(a, i.type), signed(b, i.type)
        self.result(i, f"int({a} {PREDICATES[i.how.lstrip('su')]} {b})")

    def do_fcmp(self, i):
        a, b = (self.typed_value(i, k) for k in (0, 1))
        self.result(i, f"compare_reals({a}, {b}, '{i.how}')")

    def do_fneg(self, i):
        self.result(i, f"-({self.typed_value(i, 0)})")

    def do_sext(self, i):
        self.result(i, f"{signed(self.typed_value(i, 0), i.types[0])} & "
                    f"{mask(i.type)}")

    def plain(self, i):
        self.result(i, self.typed_value(i, 0))

    do_zext = do_inttoptr = plain

    def do_trunc(self, i):
        self.result(i, f"({self.typed_value(i, 0)}) & {mask(i.type)}")

    do_ptrtoint = do_trunc

    def do_sitofp(self, i):
        self.real(i, f"float({signed(self.typed_value(i, 0), i.types[0])})")

    def do_uitofp(self, i):
        self.real(i, f"float({self.typed_value(i, 0)})")

    def do_fptosi(self, i):
        self.result(i, f"to_integer({self.typed_value(i, 0)}, {i.type[1]}, 1)")

    def do_fptoui(self, i):
        self.result(i, f"to_integer({self.typed_value(i, 0)}, {i.type[1]}, 0)")

    def do_fpext(self, i):
        self.plain(i)

    def do_fptrunc(self, i):
        self.real(i, self.typed_value(i, 0))

    def real(self, i, text):
        self.result(i, f"to_float({text})" if i.type[0] == "float" else text)

    def do_bitcast(self, i):
        if i.type[0] != i.types[0][0]:
            raise Unknown("bitcast")
        self.plain(i)

    def do_select(self, i):
        c, a, b = (self.typed_value(i, k) for k in range(3))
        self.result(i, f"{a} if {c} else {b}")

    def do_extractvalue(self, i):
        self.result(i, self.typed_value(i, 0) +
                    "".join(f"[{k}]" for k in i.how))

    def do_insertvalue(self, i):
        if len(i.how) != 1:
            raise Unknown("insertvalue")
        k = i.how[0]
        self.say(f"s = list({self.typed_value(i, 0)})")
        self.say(f"s[{k}] = {self.typed_value(i, 1)}")
        self.result(i, "tuple(s)")

    # --- control ----------------------------------------------------------

    def do_phi(self, i):
        pass  # the jumps assign it

    def jump(self, source, label, indent=""):
        names, values = [], []
        for i in self.f.blocks[self.labels[label]][1]:
            if i.op != "phi":
                break
            origin = [self.now[x][-1] if self.resumes else x for x in i.how]
            k = origin.index(source)
            names.append(self.local(i.result))
            values.append(self.typed_value(i, k))
        if names:
            self.say(f"{indent}{', '.join(names)} = {', '.join(values)}")
        if self.labels[label] <= self.labels[source]:
            self.say(f"{indent}m.fuel -= 1")
            self.say(f"{indent}if m.fuel < 0: m.tired()")
        self.say(f"{indent}b = {self.labels[label]}")
        self.say(f"{indent}continue")

    def here(self, i):
        return next(label for label, code in self.f.blocks if code and
                    code[-1] is i)

    def do_br(self, i):
        source = self.here(i)
        if i.operands:
            self.say(f"if {self.value(i.operands[0])}:")
            self.jump(source, i.how[0], " ")
        self.jump(source, i.how[-1])

    def do_switch(self, i):
        source, value = self.here(i), self.value(i.operands[0])
        for case, label in i.how[1:]:
            self.say(f"if {value} == {self.value(case)}:")
            self.jump(source, label, " ")
        self.jump(source, i.how[0][1])

    def do_unreachable(self, _):
        self.say("m.fault(0)")

    def do_ret(self, i):
        # The value is defined where the source says return: where what several
        # returns stored is loaded, by the one that stored it.
        definition = str(self.m.records.definition(self.line,
                                                   f"{self.f.name}()"))
        if i.operands:
            maker, _ = self.origin(i.operands[0], CASTS)
            if maker and maker.op == "load" and \
                    self.is_hidden(maker.operands[0]):
                definition = f"d{self.local(maker.result)}"
        self.say(f"m.ret_def = {definition}")
        self.say("m.sp = fp")
        self.say("return" if i.type == VOID else
                 f"return {self.typed_value(i, 0)}")

    # --- calls ------------------------------------------------------------

    def do_call(self, i):
        name = i.how[1:].strip('"')
        if i.how in SETJMP:
            self.set_jump(i)
            return
        if i.how.startswith("@llvm."):
            self.intrinsic(i, name)
            return
        values = [self.by_value(i, k) for k in range(len(i.operands))]
        callee = self.callee(i, name, values)
        extra = ""
        if i.fixed:
            n = self.fixed
            extra = ", rest=[" + ", ".join(
                f"({t[0]!r}, {v})" for t, v in
                zip(i.types[n:], values[n:])) + "]"
            values = values[:n]
        self.say(f"m.arg_def = {self.line}")
        self.say("m.ret_def = 0")
        call = f"{callee}({', '.join(values + [f'line={self.line}'])}{extra})"
        if not i.result:
            self.say(call)
            return
        self.result(i, call)
        if self.line and self.counts.get(i.result):
            self.say(f"pairs.add(m.ret_def << 24 | {self.line})")

    def callee(self, i, name, values):
        self.env["functions"] = self.m.by_address
        if i.how[0] == "%":
            self.fixed = 0  # Machine.function finds out
            return f"m.function({self.local(i.how)}, {bool(i.fixed)})"
        if i.fixed:
            self.fixed = self.named_arguments(name)
        return f"functions[{self.m.address(self.f.module, name)}]"

    def named_arguments(self, name):
        for module in [self.f.module] + self.m.modules:
            if name in module.functions:
                return len(module.functions[name].params)
        return 0  # of the library: it knows which they are

    def by_value(self, i, k):
        if not i.by_value[k]:
            return self.typed_value(i, k)
        t = i.by_value[k]
        self.say(f"q{k} = m.push({size_of(t)}, 16)")
        self.say(f"m.copy(q{k}, {self.typed_value(i, k)}, {size_of(t)}, "
                 f"{self.line})")
        return f"q{k}"

    def set_jump(self, i):
        label = next(rest for j, rest in self.resumes if j is i)
        self.say(f"jumps[{self.typed_value(i, 0)}] = "
                 f"({self.labels[label]}, m.sp)")
        self.say("jumped = 0")
        self.say(f"b = {self.labels[label]}")
        self.say("continue")
        rest = self.f.blocks[self.labels[label]][1]
        rest.insert(0, SetJumpValue(i))

    def do_jumped(self, i):
        self.result(i, "jumped")

    # --- intrinsics -------------------------------------------------------

    def intrinsic(self, i, name):
        values = [self.typed_value(i, k) for k in range(len(i.operands))]
        word = name.split(".")[1]
        if word in ("memcpy", "memmove"):
            hidden = self.is_hidden(i.operands[1])
            self.say(f"m.copy({values[0]}, {values[1]}, {values[2]}, "
                     f"{self.line}, {hidden})")
        elif word == "memset":
            self.say(f"m.put({values[0]}, bytes([{values[1]}]) * {values[2]}, "
                     f"{self.line})")
        elif word == "va_start":
            self.say(f"va_start(m, {values[0]}, rest, {self.registers()})")
        elif word == "va_copy":
            self.say(f"m.copy({values[0]}, {values[1]}, 24, 0)")
        elif word == "threadlocal":
            self.result(i, values[0])
        elif word in ("va_end", "donothing"):
            pass
        elif word == "stacksave":
            self.result(i, "m.sp")
        elif word == "stackrestore":
            self.say(f"m.sp = {values[0]}")
        elif word == "trap":
            self.say("raise Ended(-4)")
        elif word == "expect":
            self.result(i, values[0])
        elif word in ("sadd", "ssub", "smul", "uadd", "usub", "umul"):
            bits = i.types[0][1]
            self.result(i, f"with_overflow('{word}', {values[0]}, "
                        f"{values[1]}, {bits})")
        elif word == "abs":
            bits = i.type[1]
            self.result(i, f"abs({signed(values[0], i.type)}) & "
                        f"{(1 << bits) - 1}")
        elif word in arithmetic.REAL_INTRINSICS:
            text = f"{arithmetic.REAL_INTRINSICS[word]}({', '.join(values)})"
            self.real(i, text)
        elif word == "is":
            self.result(i, f"is_class({values[0]}, {values[1]})")
        else:
            raise Unknown(f"intrinsic {name}")

    def registers(self):
        """How many the named parameters take: (integers, reals)."""
        reals = sum(t[0] in ("float", "double") for t, _, _ in self.f.params)
        return f"{len(self.f.params) - reals}, {reals}"


class SetJumpValue:
    """Stands where setjmp returns to, a second time too."""

    def __init__(self, call):
        self.op, self.result, self.type = "jumped", call.result, call.type
        self.place, self.operands, self.types = call.place, [], []
        self.how, self.call = None, call


SETJMP = ("@setjmp", "@_setjmp", "@__sigsetjmp")
PREDICATES = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">",
              "ge": ">="}


def signed(text, t):
    if t[0] != INT:
        return text
    if text.isdigit():
        value = int(text)
        return f"({value - ((value >> (t[1] - 1)) << t[1])})"
    sign = 1 << (t[1] - 1)
    return f"(({text} ^ {sign}) - {sign})"


def integers(operator):
    return lambda a, b, t: f"({a} {operator} {b}) & {mask(t)}"


def reals(text):
    return lambda a, b, t: f"to_float({text.format(a=a, b=b)})" \
        if t[0] == "float" else text.format(a=a, b=b)


BINARY = {
    "add": integers("+"), "sub": integers("-"), "mul": integers("*"),
    "and": integers("&"), "or": integers("|"), "xor": integers("^"),
    "shl": lambda a, b, t: f"({a} << ({b} & 127)) & {mask(t)}",
    "lshr": lambda a, b, t: f"{a} >> ({b} & 127)",
    "ashr": lambda a, b, t: f"({signed(a, t)} >> ({b} & 127)) & {mask(t)}",
    "udiv": lambda a, b, t: f"divide({a}, {b})",
    "urem": lambda a, b, t: f"rest_of({a}, {b})",
    "sdiv": lambda a, b, t:
        f"divide({signed(a, t)}, {signed(b, t)}, {t[1]}) & {mask(t)}",
    "srem": lambda a, b, t:
        f"rest_of({signed(a, t)}, {signed(b, t)}, {t[1]}) & {mask(t)}",
    "fadd": reals("{a} + {b}"), "fsub": reals("{a} - {b}"),
    "fmul": reals("multiply({a}, {b})"), "fdiv": reals("quotient({a}, {b})"),
    "frem": reals("remainder({a}, {b})"),
}


def zero_of(t):
    if t[0] in REALS:
        return "0.0"
    if t[0] == "struct":
        return "(" + "".join(zero_of(m) + "," for m in t[2]) + ")"
    if t[0] in ("vector", "array"):
        return "(" + (zero_of(t[2]) + ",") * t[1] + ")"
    return "0"


def stored_size(t):
    return 10 if t[0] == "x86_fp80" else size_of(t)


def read_text(t):
    kind = t[0]
    if kind == "double":
        return "unpack('<d', mem[a:a + 8])[0]"
    if kind == "float":
        return "unpack('<f', mem[a:a + 4])[0]"
    if kind == "x86_fp80":
        return "unpack('<d', mem[a:a + 8])[0]"
    if kind == "struct":
        return f"unpack_struct(mem[a:a + {size_of(t)}], {t!r})"
    if size_of(t) == 1:
        return "mem[a]"
    return f"from_bytes(mem[a:a + {size_of(t)}], 'little')"
