#!/usr/bin/env python3
"""Every panel of the page, in a real browser. usage: panels.py PAGE [PICTURES]

PAGE: a report on subjects/scheduler, fault 1. With a directory PICTURES, the
screenshots of docs/img are made there.
"""
import os
import sys

from common import Browser, chosen, equal, ready, url_of


def check_head(b):
    equal(b.text("h1"), "27 of 208 tests fail 1 failure")
    facts = b.text(".facts")
    for word in ("27 failed, 181 passed", "1 source file", "115 of 116", "culprit run"):
        assert word in facts, facts
    assert "How sure: strong" in b.text(".bar .sure summary")
    b.click(".bar .sure summary")
    reasons = b.texts(".bar .sure li")
    equal(len(reasons), 4)
    assert "27 failing and 181 passing" in reasons[0], reasons
    b.click(".bar .sure summary")
    assert "shows it:" in b.text(".bar .rerun")
    assert not b.run("return document.getElementById('static')")


def check_ranking(b):
    rows = b.texts(".ranking .row")
    assert len(rows) < 40, "rows are made on demand"
    first = rows[0]
    for word in ("1", "●", "scheduler.c:149", "expire_running",
                 "job->level = LOW;", "27/27 ✗ 15/181 ✓"):
        assert word in first, first
    assert "5–6" in rows[4] and "5–6" in rows[5], "ties are shown"
    assert chosen(b).endswith("scheduler.c:149")
    b.run("const f = document.querySelector('.ranking input'); f.value = 'finish_job';"
          "f.dispatchEvent(new Event('input'))")
    rows = b.texts(".ranking .row")
    assert rows and all("finish_job" in r for r in rows), rows
    b.run("const f = document.querySelector('.ranking input'); f.value = '';"
          "f.dispatchEvent(new Event('input'))")


def colour(b, line):
    return b.run("const l = document.querySelector(`.line[data-n='${arguments[0]}']`);"
                 "return [l.className, getComputedStyle(l).backgroundColor,"
                 "l.querySelector('.mark').textContent]", line)


def check_source(b):
    name, first, mark = colour(b, 149)
    assert "h10 b4" in name and mark == "● 1", (name, mark)
    other, second, mark = colour(b, 144)
    assert "h0" in other and "b1" in other and mark.startswith("○"), (other, mark)
    assert first != second, "colours differ"
    equal(colour(b, 150)[2], "")
    # Hue and brightness go apart: same hue, less evidence, another colour.
    equal(b.text(".line[aria-current] .n"), "149")
    b.click(".line[data-n='146']")
    assert chosen(b).endswith(":146")
    b.run("document.querySelector('.code-frame canvas').dispatchEvent("
          "new MouseEvent('click', {bubbles: true}))")
    b.wait("return document.querySelector('.line').dataset.n === '1'")


def check_why(b):
    text = b.text(".why")
    for word in ("EVIDENCE", "27 of 27 failing", "CONDITIONS, VALUES AND WHERE THEY GO",
                 "is true", "TESTS THAT EXECUTE IT",
                 "27 failing tests, 53 passing", "RANK BY EACH METHOD", "ochiai",
                 "NEAREST PASSING TEST", "of the lines in common"):
        assert word in text, (word, text)


def check_tests(b):
    before = colour(b, 149)
    b.click(".why .chip.fail")
    name = b.text(".why .chip.fail[aria-pressed=true]")
    assert name.startswith("✗"), name
    assert "executes (fail)" in b.text(".test-bar")
    assert "took" in colour(b, 149)[0]
    assert "h10" in colour(b, 149)[0], "a failing test is orange"
    b.press("\ue00c")  # Escape
    equal(colour(b, 149), before)
    b.click(".why .chip.pass")
    assert "h0" in colour(b, 149)[0], "a passing one blue"
    b.press("\ue00c")


def check_methods(b):
    names = b.run("return [...document.querySelectorAll('select[aria-label=method] option')]"
                  ".map(o => [o.textContent, o.disabled])")
    assert ["cascade", False] in names and ["ochiai", False] in names, names
    assert any(disabled for _, disabled in names), "those that need more are told"
    b.run("const s = document.querySelector('select[aria-label=method]');"
          "s.value = [...s.options].find(o => o.textContent === 'tarantula').value;"
          "s.dispatchEvent(new Event('change'))")
    equal(b.run("return document.querySelector('.ranking .score').textContent"), "0.923")
    b.press("M", "M")


def check_matrix(b, keys="2"):
    b.press(keys)
    rows = b.texts(".matrix .row")
    assert 5 < len(rows) < 60, len(rows)
    assert rows[0].startswith("✗") and "■" in rows[0], rows[0]
    b.run("const f = document.querySelector('.matrix input'); f.value = 'sink-high-to-end';"
          "f.dispatchEvent(new Event('input'))")
    rows = b.texts(".matrix .row")
    assert rows and all("sink-high-to-end" in r for r in rows), rows
    b.click(".matrix .row")
    assert "Coloured" in b.text(".test-bar")
    b.press("\ue00c")
    b.click(".matrix-head .cell:nth-child(2)")
    assert not chosen(b).endswith(":149")


def check_map(b):
    b.press("3")
    tiles = b.wait("return [...document.querySelectorAll('.map .tile')]"
                   ".map(t => [t.dataset.path, t.className, t.textContent])")
    equal(len(tiles), 1)
    assert tiles[0][0].endswith("scheduler.c") and "h10" in tiles[0][1], tiles
    b.click(".map .tile")
    assert chosen(b).endswith(":149")
    assert b.run("return !document.querySelector('.view.source').hidden")


def check_keys(b):
    for keys, line in (("n", "148"), ("n", "147"), ("p", "148"), ("p", "149"),
                       ("p", "149")):
        b.press(keys)
        assert chosen(b).endswith(":" + line), (keys, chosen(b), line)
    b.press("?")
    assert "next, previous suspect" in b.text("dialog")
    b.press("\ue00c")
    b.press("n", "n", "n", "n", "n", "n", "n", "n", "n", "n", "n", "n")
    top, bottom = b.run("const c = document.querySelector('.ranking [aria-selected=true]')"
                        ".getBoundingClientRect(); return [c.top, c.bottom]")
    height = b.run("return innerHeight")
    assert 0 < top < bottom <= height, "the chosen row is in sight"
    for _ in range(12):
        b.press("p")


def check_theme(b):
    light = b.run("return getComputedStyle(document.body).backgroundColor")
    b.click("#theme")
    dark = b.run("return getComputedStyle(document.body).backgroundColor")
    assert light != dark
    b.click("#theme")
    equal(b.run("return getComputedStyle(document.body).backgroundColor"), light)
    b.dark()
    equal(b.run("delete document.documentElement.dataset.theme;"
                "return getComputedStyle(document.body).backgroundColor"), dark)
    b.dark(False)


def pictures(b, folder):
    """For the documentation: without the directory of the machine they were
    made on."""
    b.run("document.activeElement.blur();"
          "document.querySelector('.facts div:last-child dd').textContent = '/home/me/scheduler';"
          "const f = document.querySelector('.matrix input'); f.value = '';"
          "f.dispatchEvent(new Event('input'))")
    b.press("1")
    b.screenshot(os.path.join(folder, "report.png"))
    b.dark()
    b.press("2")
    b.run("document.querySelector('.matrix .scroll').scrollTop = 24 * 20")
    b.wait("return document.querySelectorAll('.matrix .row.pass').length")
    b.click(".matrix .row.pass")
    b.screenshot(os.path.join(folder, "report-tests-dark.png"))
    b.press("\ue00c", "1")
    b.dark(False)


def main():
    with Browser(size=(1440, 960)) as b:
        ready(b, url_of(sys.argv[1]))
        check_head(b)
        check_ranking(b)
        check_source(b)
        check_why(b)
        b.press("p", "p", "p", "p", "p")
        check_tests(b)
        check_methods(b)
        b.press("1")
        check_map(b)
        check_keys(b)
        check_matrix(b)
        check_map(b)
        check_theme(b)
        equal(b.complaints(), [])
        if len(sys.argv) > 2:
            pictures(b, sys.argv[2])


main()
