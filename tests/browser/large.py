#!/usr/bin/env python3
"""A page of 50,000 lines and 5,000 tests. usage: large.py PAGE [--measure]

--measure: prints the milliseconds until it can be worked with (best of three),
and those that scrolling, choosing a line, a test and a method took, as JSON.
"""
import json
import sys

from common import Browser, chosen, equal, ready, url_of

# Runs code, waits until what it did is on the screen, says how long that took.
TIMED = """
const start = performance.now();
{code}
await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
return performance.now() - start;
"""


def timed(b, code):
    return b.call("POST", "/execute/async", {"args": [], "script":
                  "const done = arguments[0]; (async () => {" +
                  TIMED.replace("{code}", code) + "})().then(done, done)"})


def rows(b, css):
    return b.run("return document.querySelectorAll(arguments[0]).length", css)


def measure(b):
    return {
        "scroll": max(timed(b, "document.querySelector('.ranking .scroll').scrollTop = "
                            f"{i * 376000}") for i in range(1, 10)),
        "scroll source": max(timed(b, "document.querySelector('.scroll.code').scrollTop = "
                                   f"{i * 50000}") for i in range(1, 10)),
        "choose a line": max(timed(b, "document.querySelectorAll('.ranking .row')"
                                   f"[{i}].click()") for i in range(3)),
        "choose a test": timed(b, "document.querySelector('.why .chip').click()"),
        "choose a method": timed(
            b, "const s = document.querySelector('select[aria-label=method]');"
            "s.value = [...s.options].find(o => !o.disabled && o.index).value;"
            "s.dispatchEvent(new Event('change'))"),
        "show tests": timed(b, "document.querySelector('[data-tab=tests]').click()"),
        "scroll tests": max(timed(b, "document.querySelector('.matrix .scroll').scrollTop = "
                                  f"{i * 12000}") for i in range(1, 10)),
        "show the map": timed(b, "document.querySelector('[data-tab=map]').click()"),
    }


def check(b):
    """Rows exist only in sight, and the last can be reached."""
    assert rows(b, ".ranking .row") < 60 and rows(b, ".line.row") < 120
    assert rows(b, "*") < 4000, "elements in all"
    equal(b.text(".ranking .count"), "50,000 of 50,000 lines")
    first = chosen(b)
    b.press("n")
    assert chosen(b) != first
    b.run("document.querySelector('.ranking .scroll').scrollTop = 1e9")
    b.wait("return [...document.querySelectorAll('.ranking .row')].some("
           "r => r.textContent.includes('50000'))")
    b.run("const s = document.querySelector('.source select');"
          "s.value = [...s.options].find(o => o.textContent.includes('file000')).value;"
          "s.dispatchEvent(new Event('change'));"
          "document.querySelector('.scroll.code').scrollTop = 1e9")
    b.wait("return document.querySelector(\".line[data-n='25000']\")")
    b.press("2")
    assert rows(b, ".matrix .row") < 80
    b.run("document.querySelector('.matrix .scroll').scrollTop = 1e9")
    b.wait("return [...document.querySelectorAll('.matrix .row b')].some("
           "r => r.textContent === '5000')")


def thread_time(b):
    """Milliseconds of processor time that the page has used since it was
    opened."""
    metrics = b.devtools("Performance.getMetrics")["metrics"]
    return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def load(b, url):
    """Until it can be worked with: on the clock, and of the processor."""
    took = ready(b, url)
    return took, thread_time(b)


def main():
    with Browser() as b:
        b.devtools("Performance.enable", timeDomain="threadTicks")
        times = [load(b, url_of(sys.argv[1])) for _ in range(3)]
        took, busy = min(t[0] for t in times), min(t[1] for t in times)
        if "--measure" in sys.argv:
            print(json.dumps({"ready": took, "busy": busy, **measure(b)}))
            return
        check(b)
        equal(b.complaints(), [])
        print(f"{took:.0f} ms until it can be worked with, {busy:.0f} ms of the "
              "processor")


main()
