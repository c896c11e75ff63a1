#!/usr/bin/env python3
"""A page full of text that tries to be markup, as one file and with assets
behind a strict policy. usage: hostile.py PAGE DIRECTORY

PAGE stands alone; DIRECTORY holds index.html and its assets.
"""
import os
import sys

from common import Browser, Server, equal, ready, url_of

PWNED = ("return typeof pwned === 'undefined' && !document.querySelector('img')"
         " && ![...document.querySelectorAll('*')].some(e => [...e.attributes]"
         ".some(a => a.name.startsWith('on')))")
STRICT = ("default-src 'none'; script-src 'self'; style-src 'self'; "
          "img-src 'self'; require-trusted-types-for 'script'")


def look(b):
    """Opens every panel; nothing may come alive."""
    for tab in "123":
        b.press(tab)
        assert b.run(PWNED), "it came alive"
    b.press("1", "n", "p")
    text = b.run("return document.body.textContent")
    for word in ("pwned(1)", "</script><script>pwned(4)</script>", "pwned(5)"):
        assert word in text, word
    assert "\u202e" not in b.run("return document.querySelector('#app').textContent")
    b.run("const s = document.querySelector('.source select'); s.dispatchEvent(new Event('change'));"
          "document.querySelector('.scroll.code').scrollTop = 0")
    b.wait("return document.querySelector(\".line[data-n='3']\")")
    third = b.text(".line[data-n='3'] code")
    assert "\\u202e" in third and "\\u0001" in third, third
    b.click(".why .chip")
    assert b.run(PWNED)


def main():
    with Browser() as b:
        ready(b, url_of(sys.argv[1]))
        look(b)
        equal(b.complaints(), [])
        directory = os.path.abspath(sys.argv[2])
        with Server(directory, {"Content-Security-Policy": STRICT}) as server:
            ready(b, server.url("index.html"))
            look(b)
            background = b.run("return getComputedStyle(document.querySelector('.panel')).backgroundColor")
            assert background != "rgba(0, 0, 0, 0)", "the style sheet was loaded"
            # The browser asks for an icon by itself.
            equal([c for c in b.complaints() if "favicon" not in c], [])


main()
