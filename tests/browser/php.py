#!/usr/bin/env python3
"""The page of a PHP application: the failing page beside the source.
usage: php.py PAGE [PICTURES]

PAGE: a report on subjects/php/topics, faults f01 and f02.
"""
import os
import sys

from common import Browser, chosen, equal, ready, url_of


def check_page(b):
    b.press("4")
    frame = b.run("const f = document.querySelector('iframe');"
                  "return [f.getAttribute('sandbox'), f.srcdoc]")
    equal(frame[0], "")  # no scripts, nothing allowed
    assert "<H2>Administrative Details" in frame[1], frame
    assert "⚑ opened here: view.php:18" in frame[1]
    assert frame[1].index("view.php:18") < frame[1].index("<H2>"), "before it"
    equal(b.texts(".piece.blamed"), ["<H2>Administrative Details", "</BODY>"])
    # Beside it: the source. A piece leads to the line that wrote it.
    b.click(".piece.blamed")
    equal(chosen(b), "app/view.php:18")
    equal(b.text(".view.source .line[aria-current] .n"), "18")
    equal(b.texts(".piece.mine"), ["<H2>Administrative Details"])


def check_frame(b):
    """As the browser renders it: the flag is there, and no script ran."""
    b.call("POST", "/frame", {"id": 0})
    marks = b.texts("mark")
    equal(marks[0], "⚑ opened here: view.php:18")
    assert "Administrative View of topic A" in b.text("body")
    b.call("POST", "/frame", {"id": None})


def check_failures(b):
    options = b.run("return [...document.querySelectorAll('select[aria-label=failure] option')]"
                    ".map(o => o.textContent)")
    equal(len(options), 2)
    b.press("f")
    assert "login.php" in b.run("return document.querySelector('select[aria-label=failure]')"
                                ".selectedOptions[0].textContent")
    equal(b.text(".why .place, .ranking [aria-selected=true] .place"), "login.php:10")
    b.press("F")


def check_places(b):
    """The failures by place, equals by name; a click chooses one."""
    message = ("return document.querySelector('select[aria-label=failure]')"
               ".selectedOptions[0].textContent")
    equal(b.text(".places summary"), "2 failures at 2 places")
    b.click(".places summary")
    equal(b.texts(".places td b"), ["login.php:3", "view.php:18"])
    groups = b.run("return [...document.querySelectorAll('select[aria-label=failure] optgroup')]"
                   ".map(o => o.label)")
    equal(len(groups), 2)
    assert groups[1].startswith("view.php:18: "), groups
    b.click(".places tr:nth-child(1) button")
    assert "login.php" in b.run(message), b.run(message)
    b.click(".places tr:nth-child(2) button")
    assert "view.php" in b.run(message), b.run(message)
    equal(b.text(".places button[aria-current=true]")[:1], "2")
    b.click(".places summary")


def check_map(b):
    """Directories hold their files, and none lies over another."""
    b.press("3")
    boxes = b.wait(
        "return [...document.querySelectorAll('.map .tile, .map .folder')].map(t => "
        "[t.className.split(' ')[0], t.dataset.path || t.title, t.offsetLeft, t.offsetTop,"
        " t.offsetWidth, t.offsetHeight])")
    tiles = {path: box for kind, path, *box in boxes if kind == "tile"}
    equal(sorted(tiles), ["app/includes/constants.php", "app/index.php",
                          "app/login.php", "app/view.php"])
    folder, = [box for kind, path, *box in boxes
               if kind == "folder" and path == "includes"]
    x, y, w, h = tiles["app/includes/constants.php"]
    assert folder[0] <= x and x + w <= folder[0] + folder[2] + 2
    assert folder[1] <= y and y + h <= folder[1] + folder[3] + 2
    for one in tiles.values():
        for other in tiles.values():
            apart = (one[0] + one[2] <= other[0] or other[0] + other[2] <= one[0] or
                     one[1] + one[3] <= other[1] or other[1] + other[3] <= one[1])
            assert one is other or apart, (one, other)


def main():
    with Browser(size=(1440, 960)) as b:
        ready(b, url_of(sys.argv[1]))
        message = "return document.querySelector('select[aria-label=failure]').selectedOptions[0].textContent"
        if "h2" not in b.run(message):
            b.press("f")
        check_page(b)
        check_frame(b)
        check_failures(b)
        check_places(b)
        check_map(b)
        b.press("1", "n")
        b.run("const s = document.querySelector('.source select')"
              "; s.value = [...s.options].find(o => o.textContent === 'app/view.php').value;"
              "s.dispatchEvent(new Event('change')); document.querySelector("
              "\".line[data-n='18']\").click()")
        assert "opened here" in b.text(".why .fragment")
        equal(b.complaints(), [])
        if len(sys.argv) > 2:
            b.run("document.querySelector('.facts div:last-child dd').textContent = '/home/me/topics'")
            b.press("4")
            b.run("document.activeElement.blur()")
            b.screenshot(os.path.join(sys.argv[2], "report-php.png"))


main()
