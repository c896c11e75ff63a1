"""Is a page good HTML? A small checker for the pages of the subjects.

It is stricter and simpler than culprit's own oracle, and independent of it:
the subjects must not be judged by what they are used to test. Its keys are
those of src/oracle/html/html_check.h where both know a fault.
"""
import re

VOID = set('area base br col embed hr img input link meta source track wbr'
           .split())
RAW = {'script', 'style', 'textarea', 'title'}
OPTIONAL = set('li p td th tr dt dd option thead tbody tfoot colgroup'.split())
ENDS_P = set('address article aside blockquote div dl fieldset footer form h1 '
             'h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul'
             .split())
PARENTS = {
    'li': {'ul', 'ol', 'menu'}, 'td': {'tr'}, 'th': {'tr'},
    'tr': {'table', 'thead', 'tbody', 'tfoot'}, 'dt': {'dl', 'div'},
    'dd': {'dl', 'div'}, 'option': {'select', 'optgroup', 'datalist'},
    'thead': {'table'}, 'tbody': {'table'}, 'tfoot': {'table'},
    'caption': {'table'}, 'legend': {'fieldset'}, 'optgroup': {'select'},
}
CHILDREN = {
    'ul': {'li'}, 'ol': {'li'}, 'dl': {'dt', 'dd', 'div'}, 'tr': {'td', 'th'},
    'table': {'caption', 'colgroup', 'thead', 'tbody', 'tfoot', 'tr'},
    'thead': {'tr'}, 'tbody': {'tr'}, 'tfoot': {'tr'},
    'select': {'option', 'optgroup'}, 'optgroup': {'option'},
}
# What a start tag closes by itself, and how far up one looks for it.
SIBLINGS = {
    'li': ({'li'}, {'ul', 'ol'}), 'dt': ({'dt', 'dd'}, {'dl'}),
    'dd': ({'dt', 'dd'}, {'dl'}), 'td': ({'td', 'th'}, {'tr', 'table'}),
    'th': ({'td', 'th'}, {'tr', 'table'}), 'tr': ({'tr'}, {'table'}),
    'option': ({'option'}, {'select'}),
    'tbody': ({'thead', 'tbody'}, {'table'}),
    'tfoot': ({'thead', 'tbody'}, {'table'}),
}
HEADINGS = {'h1', 'h2', 'h3', 'h4', 'h5', 'h6'}
# An element of the first set must not be inside one of the second.
NESTED = (({'a', 'button', 'input', 'select', 'textarea'}, {'a', 'button'}),
          ({'form'}, {'form'}), (HEADINGS, HEADINGS))
TABLE = {'table', 'thead', 'tbody', 'tfoot', 'tr'}

VALUE = r'"[^"]*"|\'[^\']*\'|[^\s>"\'][^\s>]*'
TOKEN = re.compile(
    r'<!--.*?-->|<!doctype[^>]*>|'
    r'<(?P<end>/?)(?P<name>[a-z][a-z0-9-]*)'
    r'(?P<attributes>(?>[\s/]+|[^\s>=/]+(?:\s*=\s*(?:%s)?)?)*)>' % VALUE,
    re.I | re.S)
ATTRIBUTE = re.compile(r'([^\s>=/]+)(?:\s*=\s*(%s)?)?' % VALUE, re.S)


class Checker:
    def __init__(self, text):
        self.text = text
        self.open = []
        self.ids = set()
        self.faults = []  # (key, element, line)
        self.unclosed = []  # ended by another's end tag; their own may follow
        self.cut = 0  # paragraphs that a block ended

    def fault(self, key, element, at):
        self.faults.append((key, element, self.text.count('\n', 0, at) + 1))

    def check(self):
        at = 0
        while True:
            token = TOKEN.search(self.text, at)
            end = token.start() if token else len(self.text)
            self.characters(self.text[at:end], at)
            if not token:
                break
            at = token.end()
            if token['name']:
                at = self.tag(token)
        self.end_page()
        return self.faults

    def end_page(self):
        left = [e for e in self.open if e[0] not in OPTIONAL]
        if len(left) > 1:
            self.fault('truncated-page', left[-1][0], len(self.text))
        elif left:
            self.fault('unclosed-element', *left[0])

    def characters(self, text, at):
        if '<' in text:
            self.fault('unescaped-lt', '', at + text.index('<'))
        if text.strip() and self.parent() in CHILDREN:
            self.fault(self.foreign(), self.parent(), at)

    def foreign(self):
        """The key for what does not belong into the innermost element."""
        return 'content-in-table' if self.parent() in TABLE \
            else 'bad-list-child'

    def parent(self):
        return self.open[-1][0] if self.open else ''

    def tag(self, token):
        name = token['name'].lower()
        if token['end']:
            self.end_tag(name, token.start())
            return token.end()
        self.attributes(name, token)
        self.start_tag(name, token.start())
        if name not in RAW:
            return token.end()
        end = re.compile('</%s\\s*>' % name, re.I).search(self.text,
                                                           token.end())
        return end.start() if end else len(self.text)

    def attributes(self, name, token):
        seen = set()
        for match in ATTRIBUTE.finditer(token['attributes']):
            attribute, value = match[1].lower(), match[2] or ''
            if '<' in value + attribute:
                self.fault('unclosed-quote', name, token.start())
            elif re.search('["\']', attribute + value.strip('"\'')):
                self.fault('stray-quote', name, token.start())
            if attribute in seen:
                self.fault('duplicate-attribute', name, token.start())
            seen.add(attribute)
            if attribute == 'id':
                if value in self.ids:
                    self.fault('duplicate-id', name, token.start())
                self.ids.add(value)

    def close_implied(self, names, limits):
        for i in range(len(self.open) - 1, -1, -1):
            if self.open[i][0] in limits:
                return
            if self.open[i][0] in names:
                if all(e[0] in OPTIONAL for e in self.open[i:]):
                    del self.open[i:]
                return

    def start_tag(self, name, at):
        names = [e[0] for e in self.open]
        if name in SIBLINGS:
            self.close_implied(*SIBLINGS[name])
        elif name in ENDS_P and 'p' in names:
            before = len(self.open)
            self.close_implied({'p'}, {'table', 'td', 'button', 'body'})
            self.cut += len(self.open) < before
        if any(name in inner and outer.intersection(names)
               for inner, outer in NESTED):
            self.fault('nested-element', name, at)
        parent = self.parent()
        if name in PARENTS and parent not in PARENTS[name]:
            self.fault('misplaced-element', name, at)
        elif parent in CHILDREN and name not in CHILDREN[parent]:
            self.fault(self.foreign(), name, at)
        if name not in VOID:
            self.open.append((name, at))

    def end_tag(self, name, at):
        if name not in [e[0] for e in self.open]:
            self.stray(name, at)
            return
        while True:
            inner, where = self.open.pop()
            if inner == name:
                return
            if inner not in OPTIONAL:
                self.unclosed.append(inner)
                self.fault('unclosed-element', inner, where)

    def stray(self, name, at):
        if name in self.unclosed:
            self.unclosed.remove(name)
            self.fault('misnested-tags', name, at)
        elif name in HEADINGS and self.parent() in HEADINGS:
            self.open.pop()
            self.fault('mismatched-end-tag', name, at)
        elif name == 'p' and self.cut > 0:
            self.cut -= 1
            self.fault('block-in-p', name, at)
        else:
            self.fault('stray-end-tag', name, at)


def check(text, doctype=True):
    """The faults of a page: a list of (key, element, line)."""
    faults = Checker(text).check()
    if doctype and not re.match(r'\s*<!doctype html>', text, re.I):
        faults.insert(0, ('missing-doctype', '', 1))
    return faults
