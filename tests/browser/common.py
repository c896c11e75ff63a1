"""What the tests in the browser share: a page, opened and ready."""
import functools
import http.server
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from webdriver import Browser, url_of  # noqa: E402,F401

READY = "return document.documentElement.dataset.ready"


def ready(browser, url):
    """Opens the page and waits for its program. Returns the milliseconds from
    the start of loading until it could be worked with."""
    browser.open(url)
    return float(browser.wait(READY, 60))


def chosen(browser):
    return browser.run("const c = document.querySelector('.ranking [aria-selected=true]');"
                       "return c && c.dataset.line")


def equal(got, want):
    assert got == want, f"got {got!r}, expected {want!r}"


class Server:
    """Serves a directory on a port of this machine, with headers."""

    def __init__(self, directory, headers):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def end_headers(self):
                for name, value in headers.items():
                    self.send_header(name, value)
                super().end_headers()

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=directory))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_address[1]}/{path}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
