#!/usr/bin/env python3
"""What `culprit try` found, in the page. usage: tried.py PAGE [PICTURES]

PAGE: of the session and note that tests/e2e/tried makes.
"""
import os
import sys

from common import Browser, equal, ready, url_of


def choose(b, line):
    b.click(f".line[data-n='{line}']")
    return b.text(".why")


def check_changes(b):
    text = choose(b, 4)
    for word in ("CHANGES TRIED", "Hints: whether a change is right, the tests cannot tell.",
                 "2 changes pass all tests; they are alternatives.",
                 "`<` to `<=`: 4 of 4 failing tests pass, 3 of 3 passing tests still do",
                 "condition always true: 1 of 4 failing tests passes",
                 '`./prog -n 3 4 < in` (standard input "5\\n") prints "7"'):
        assert word in text, (word, text)
    assert text.index("CHANGES TRIED") < text.index("EVIDENCE"), text
    equal(b.texts(".why .diff .del"), ["-  for (int i = 0; i < n; i++) // LOOP"])
    equal(b.texts(".why .diff .add"), ["+  for (int i = 0; i <= n; i++) // LOOP"])
    wide = b.run("const d = document.querySelector('.why .diff');"
                 "return d.scrollWidth - d.clientWidth")
    assert wide <= 1, f"the diff is cut off by {wide} pixels"
    text = choose(b, 5)
    assert "No small change here repairs a failing test (12 tried)." in text, text
    assert "No change was tried here." in choose(b, 6)


def check_static(b):
    suspects = b.texts(".suspect")
    assert "hints, not fixes" in suspects[0], suspects[0]
    equal(b.texts(".suspect .diff .add"),
          ["+  for (int i = 0; i <= n; i++) // LOOP", "+  return sum(n) > want; // RETURN"])
    notices = " ".join(b.texts(".notice"))
    assert '`./prog -n 3 4 < in` (standard input "5\\n") prints "7"' in notices, notices


def main():
    with Browser() as b:
        ready(b, url_of(sys.argv[1]))
        check_changes(b)
        if len(sys.argv) > 2:
            choose(b, 4)
            b.screenshot(os.path.join(sys.argv[2], "report-try.png"))
        equal(b.complaints(), [])
    with Browser(javascript=False, size=(1100, 900)) as b:
        b.open(url_of(sys.argv[1]))
        check_static(b)


main()
