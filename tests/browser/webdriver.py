"""A browser without a screen, driven over chromedriver's HTTP protocol (W3C
WebDriver). Standard library only.

  with Browser() as b:
      b.open("file:///tmp/report.html")
      b.run("return document.title")
      b.press("n")
      b.screenshot("x.png")
"""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from picture import shrink

WEB_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def options(javascript, size, profile):
    args = ["--headless=new", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--hide-scrollbars",
            "--force-device-scale-factor=1", "--no-first-run",
            "--disable-extensions", "--disable-background-networking",
            f"--window-size={size[0]},{size[1]}", f"--user-data-dir={profile}"]
    prefs = {}
    if not javascript:
        prefs["profile.managed_default_content_settings.javascript"] = 2
    return {"capabilities": {"alwaysMatch": {
        "browserName": "chrome",
        "goog:loggingPrefs": {"browser": "ALL"},
        "goog:chromeOptions": {"args": args, "prefs": prefs,
                               "binary": shutil.which("chromium")}}}}


class Browser:
    def __init__(self, javascript=True, size=(1440, 900)):
        self.profile = tempfile.mkdtemp(prefix="culprit-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        self.base = f"http://127.0.0.1:{self.port()}"
        made = self.call("POST", "/session",
                         options(javascript, size, self.profile))
        self.base += f"/session/{made['sessionId']}"

    def port(self):
        for line in self.driver.stdout:
            match = re.search(r"started successfully on port (\d+)", line)
            if match:
                return match[1]
        raise RuntimeError("chromedriver did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.call("DELETE", "")
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {value['message']}") from None

    # --- what a reader does ---------------------------------------------------

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *args):
        """Runs JavaScript in the page; `return x` gives x."""
        return self.call("POST", "/execute/sync",
                         {"script": script, "args": list(args)})

    def wait(self, script, seconds=20):
        """Until the script returns something true, which is returned."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"still not after {seconds} s: {script}")
            time.sleep(0.02)

    def find(self, css):
        return self.call("POST", "/element",
                         {"using": "css selector", "value": css})[WEB_ELEMENT]

    def text(self, css):
        return self.again(lambda: self.text_of(self.find(css)))

    def texts(self, css):
        return self.again(lambda: [
            self.text_of(e[WEB_ELEMENT]) for e in self.call(
                "POST", "/elements", {"using": "css selector", "value": css})])

    def click(self, css):
        self.again(lambda: self.call(
            "POST", f"/element/{self.find(css)}/click", {}))

    def text_of(self, element):
        return self.call("GET", f"/element/{element}/text")

    @staticmethod
    def again(action):
        """Rows are made anew whenever their list is drawn: what was found may
        be gone the next moment."""
        for left in range(9, -1, -1):
            try:
                return action()
            except RuntimeError as error:
                if not left or "stale element" not in str(error):
                    raise

    def press(self, *keys):
        strokes = []
        for key in keys:
            strokes += [{"type": "keyDown", "value": key},
                        {"type": "keyUp", "value": key}]
        self.call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": strokes}]})

    def resize(self, width, height):
        self.call("POST", "/window/rect", {"width": width, "height": height})

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(shrink(base64.b64decode(self.call("GET", "/screenshot"))))

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute",
                         {"cmd": command, "params": parameters})

    def dark(self, on=True):
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def complaints(self):
        """What the page wrote to the console since the last call."""
        return [entry["message"] for entry in
                self.call("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]


def url_of(path):
    return "file://" + os.path.abspath(path)
