#!/usr/bin/env python3
"""What other commands found, in the page; and pages with nothing to show.
usage: notes.py PAGE EMPTY

PAGE: with a nearest passing run (culprit near) and a core (culprit spec).
EMPTY: of a session in which nothing failed.
"""
import sys

from common import Browser, chosen, equal, ready, url_of


def check_near(b):
    text = b.text(".why")
    for word in ("NEAREST PASSING RUN", "It passes with ./f 1",
                 "1 branch went the other way", "f.c:4 `x > 0` was false, would have to be true"):
        assert word in text, (word, text)
    b.run("[...document.querySelectorAll('.why .link')].find("
          "l => l.textContent === 'f.c:4').click()")
    equal(chosen(b), "f.c:4")


def check_core(b):
    text = b.text(".why")
    assert "BROKEN CONTRACT" in text and "◆ In the core" in text, text
    assert "cannot hold together with size_ok" in text, text
    assert "◆" in b.text(".line[data-n='4'] .mark")
    assert "◆" not in b.text(".line[data-n='3'] .mark")
    b.click(".line[data-n='3']")
    assert "Not in the core" in b.text(".why")


def check_empty(b):
    alert = b.text("[role=alert]")
    assert "Nothing failed in this session" in alert, alert
    size = b.run("return parseFloat(getComputedStyle("
                 "document.querySelector('[role=alert]')).fontSize)")
    assert size >= 16, "loud"
    assert b.run("return document.getElementById('app').hidden")


def main():
    with Browser() as b:
        ready(b, url_of(sys.argv[1]))
        check_near(b)
        check_core(b)
        ready(b, url_of(sys.argv[2]))
        check_empty(b)
        equal(b.complaints(), [])


main()
