#!/usr/bin/env python3
"""The page without JavaScript. usage: noscript.py PAGE [PICTURES]"""
import os
import sys

from common import Browser, equal, url_of


def visible(b, css):
    """Text of what a reader sees; scripts are off, so the driver is asked."""
    return b.texts(css)


def main():
    with Browser(javascript=False, size=(1100, 900)) as b:
        b.open(url_of(sys.argv[1]))
        equal(b.text("h1"), "27 of 208 tests fail 1 failure")
        assert b.texts("#app") == [""], "the program did not run"
        suspects = visible(b, ".suspect")
        equal(len(suspects), 20)
        for word in ("scheduler.c:149", "expire_running", "job->level = LOW;",
                     "27/27 failing, 15/181 passing", "26.918"):
            assert word in suspects[0], (word, suspects[0])
        assert "How sure: strong" in b.text(".sure")
        equal(visible(b, ".sources pre"), [""])  # closed
        b.click(".sources summary")
        source = b.text(".sources pre")
        assert "static void expire_running(Scheduler *s)" in source
        assert "149 ● 1" in source.replace("\n", " "), "rank and glyph beside it"
        b.click(".nearest summary")
        assert "of the lines in common" in b.text(".nearest")
        if len(sys.argv) > 2:
            b.open(url_of(sys.argv[1]))
            b.screenshot(os.path.join(sys.argv[2], "report-noscript.png"))


main()
