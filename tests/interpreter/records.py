"""What is recorded of a run: definition-use pairs and relations.

A definition or use is a statement: a source line with code. Number 0 is none.
Relations are of sites, which are found here in the IR by what the manual says
of them (src/close/relations.h), each with the outcomes that it was seen with.
"""
import re

from ir_text import INT, REALS

JUMPS = re.compile(r"(break|continue|goto|return)\b")
COMPARE = ("icmp", "fcmp")

OUTCOMES = {
    "order": ("less", "equal", "greater"),
    "equality": ("less", "equal", "greater", "different"),
    "reals": ("less", "equal", "greater", "unordered"),
    "same": ("equal", "different"),
    "null": ("null", "non-null"),
    "sign": ("negative", "zero", "positive"),
    "real sign": ("negative", "zero", "positive", "unordered"),
    "change": ("same", "changed"),
}
SINGLE = ("null", "sign", "real sign")


class Site:
    def __init__(self, kind, shape, value, unsigned=False):
        self.kind, self.shape, self.unsigned = kind, shape, unsigned
        self.value = value  # the operand it is about
        self.number = None
        self.always = False  # "change": a value is always there


class Records:
    def __init__(self):
        self.texts = {}
        self.statements = {}  # (file, line) -> number, from 1
        self.names = [None]
        self.definitions = {}  # (statement, what is defined) -> number
        self.defined = {}  # number -> what is defined
        self.pairs = set()  # definition << 24 | use
        self.sites = []  # (file, line, function, number on the line, Site)
        self.seen = set()  # site << 4 | outcome

    # --- statements -------------------------------------------------------

    def text(self, place):
        file, line, column = place
        if file not in self.texts:
            try:
                with open(file, encoding="latin-1") as f:
                    self.texts[file] = f.read().split("\n")
            except OSError:
                self.texts[file] = []
        lines = self.texts[file]
        return lines[line - 1][max(column - 1, 0):] if line <= len(lines) \
            else ""

    def note(self, i):
        """Its line is a statement if the instruction does something."""
        if i.op in ("alloca", "phi", "unreachable") or not i.place:
            return
        text = self.text(i.place)
        if text.startswith("}"):
            return
        if i.op == "br" and not i.operands and not JUMPS.match(text):
            return
        key = i.place[:2]
        if key not in self.statements:
            self.statements[key] = len(self.names)
            self.names.append("%s:%d" % key)

    def statement(self, i):
        return self.statements.get(i.place[:2], 0) if i.place else 0

    def definition(self, statement, what):
        """The number of a statement as one that defines this."""
        if not statement:
            return 0
        key = (statement, what)
        if key not in self.definitions:
            self.definitions[key] = len(self.names)
            self.defined[len(self.names)] = what
            self.names.append(self.names[statement])
        return self.definitions[key]

    def pair_names(self):
        """{pair, as the program prints it: what was defined, "" if it is not
        known}"""
        out = {}
        for p in self.pairs:
            if p >> 24 and p & 0xffffff:
                text = "pair %s %s" % (self.names[p >> 24],
                                       self.names[p & 0xffffff])
                out.setdefault(text, set()).add(self.defined.get(p >> 24, ""))
        return out

    # --- relations --------------------------------------------------------

    def add_sites(self, function):
        """The sites of each instruction of a function: {id: [Site]}."""
        code = [i for _, block in function.blocks for i in block]
        finder = Finder(code, self, function.declared)
        found, numbers = {}, {}
        for i in code:
            if not self.statement(i):
                continue
            for site in finder.sites(i):
                place = i.place[:2]
                numbers[place] = numbers.get(place, 0) + 1
                site.number = len(self.sites)
                self.sites.append(
                    (*place, function.name, numbers[place], site))
                found.setdefault(id(i), []).append(site)
        return found

    def lines(self):
        """As the program prints them."""
        out = []
        for p in self.pairs:
            if p >> 24 and p & 0xffffff:
                out.append("pair %s %s" % (self.names[p >> 24],
                                           self.names[p & 0xffffff]))
        out = sorted(set(out))
        for s in self.seen:
            file, line, function, number, site = self.sites[s >> 4]
            out.append(f"relation {file}:{line} {function} {number} "
                       f"{site.kind} {OUTCOMES[site.shape][s & 15]}")
        return sorted(out)


def value_shape(t):
    if t[0] == "ptr":
        return "null"
    if t[0] == INT and t[1] <= 64:
        return "sign"
    return "real sign" if t[0] in REALS else None


def is_zero(operand):
    return operand[0] == "zero" or operand == ("number", 0) or \
        operand[0] == "real" and str(operand[1]) == "0.0"


class Finder:
    """The sites of one function."""

    def __init__(self, code, records, declared):
        self.records, self.declared = records, declared
        self.makers = {i.result: i for i in code if i.result}
        self.used = {o[1] for i in code for o in i.operands if o[0] == "local"}
        self.used |= {i.how for i in code if i.op == "call"}

    def sites(self, i):
        if i.op in COMPARE:
            return self.compare_sites(i)
        if i.op == "store":
            return self.store_sites(i)
        shape = value_shape(i.type) if i.op in ("ret", "call") else None
        if not shape:
            return []
        if i.op == "ret":
            known = self.is_known(i.operands[0])
            return [] if known else [Site("return", shape, i.operands[0])]
        return [Site("call", shape, ("local", i.result))] \
            if self.has_class(i) else []

    def maker(self, operand):
        return self.makers.get(operand[1]) if operand[0] == "local" else None

    def has_class(self, i):
        """Is the class of the call's result recorded at the call?"""
        return i.op == "call" and i.result in self.used and \
            not i.how.startswith("@llvm.")

    def is_known(self, operand):
        """A constant, a comparison, a call: its class is known elsewhere."""
        if operand[0] != "local":
            return True
        i = self.maker(operand)
        if i and i.op == "zext":
            inner = self.maker(i.operands[0])
            return bool(inner) and inner.op in COMPARE
        return bool(i) and (i.op in COMPARE or self.has_class(i))

    def compare_sites(self, i):
        left, right = i.operands
        zero, equality = is_zero(right), i.how in ("eq", "ne")
        unsigned = i.op == "icmp" and i.how[0] == "u"
        if i.op == "fcmp":
            shape = "real sign" if zero else "reals"
            shape = shape if i.type[0] in REALS else None
        elif i.type[0] == "ptr":
            shape = "order" if not equality else "null" if zero else "same"
        elif i.type[0] != INT:
            shape = None
        elif zero and not unsigned:
            shape = "sign"
        else:
            shape = "equality" if equality else "order"
        maker = self.maker(left)
        if shape in SINGLE and maker and self.has_class(maker):
            return []
        return [Site("compare", shape, left, unsigned)] if shape else []

    def store_sites(self, i):
        value, to = i.operands
        shape = value_shape(i.type)
        if i.how or not shape:
            return []
        sites = []
        if not self.is_known(value):
            slot = to == ("local", "%retval") and \
                self.records.text(i.place).startswith("return")
            sites.append(Site("return" if slot else "store", shape, value))
        if shape == "sign" and self.may_change(i):
            site = Site("store", "change", value)
            site.always = self.object(to)[0] == "address"
            sites.append(site)
        return sites

    def may_change(self, i):
        """Not where a variable is declared, nor of what is no variable, nor if
        the value is another one whatever it was."""
        value, to = i.operands
        maker = self.maker(value)
        if maker and self.is_step(maker):
            old = self.maker(maker.operands[0])
            if old and old.op == "load" and old.operands[0] == to:
                return False
        place = self.object(to)
        made = self.maker(place)
        if not made or made.op != "alloca":
            return True
        return self.declared.get(place[1], 0) not in (0, i.place[1])

    @staticmethod
    def is_step(i):
        """Something plus or minus a number that is not zero."""
        return i.op in ("add", "sub") and \
            i.operands[1][0] == "number" and i.operands[1][1] != 0

    def object(self, address):
        """What the address is a part of: a global variable is an "address"."""
        while True:
            i = self.maker(address)
            if i and i.op == "getelementptr":
                address = i.operands[0]
            elif address[0] == "element":
                address = address[2][0]
            else:
                return address
