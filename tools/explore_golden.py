"""Failures that a correct application shows as well: they are not the fault's.

A failure is identified by its signature, which names files and lines. Lines that
the fault's patch moves are the same lines.
"""
import difflib
import os
import re

PLACE = re.compile(r"([\w./-]+\.php):(\d+)")


def moved_lines(golden, faulty):
    """Number of each unchanged line: {golden: faulty}."""
    with open(golden, encoding="utf-8") as a, open(faulty, encoding="utf-8") as b:
        same = difflib.SequenceMatcher(None, a.readlines(), b.readlines(), False)
    return {block.a + i + 1: block.b + i + 1
            for block in same.get_matching_blocks() for i in range(block.size)}


class Golden:
    """The correct application, to compare a faulty version with."""

    def __init__(self, root, faulty_root):
        self.root, self.faulty_root = root, faulty_root
        self.moved = {}

    def in_faulty(self, signature):
        """The signature as the faulty version has it; None: the patch has
        changed a line that it names."""
        changed = False

        def move(match):
            nonlocal changed
            line = self.line(match[1], int(match[2]))
            changed |= line is None
            return f"{match[1]}:{line}"

        moved = PLACE.sub(move, signature)
        return None if changed else moved

    def line(self, file, line):
        if file not in self.moved:
            pair = [os.path.join(r, file) for r in (self.root, self.faulty_root)]
            self.moved[file] = moved_lines(*pair) \
                if all(os.path.exists(p) for p in pair) else {line: line}
        return self.moved[file].get(line)

    def shows(self, signatures):
        """Those signatures of the correct application, as the faulty version
        has them."""
        return {self.in_faulty(s) for s in signatures} - {None}
