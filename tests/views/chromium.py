"""A headless Chromium driven by the DevTools protocol over a pipe: no driver program, no port, no network."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = """
--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars"""

PIPES = """
import os, sys
for place, number in zip((13, 14, 3, 4), (*map(int, sys.argv[1:3]), 13, 14)):
    os.dup2(number, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium talks over the file descriptors 3 and 4, which must be open when it starts."""


class Chromium:
    """One browser with one page."""

    def __init__(self) -> None:
        assert PROGRAM, "no Chromium here, which CI needs: apt-get install chromium"
        self.profile = tempfile.mkdtemp(prefix="ttt-chromium-")
        theirs_in, self.sending = os.pipe()
        self.receiving, theirs_out = os.pipe()
        own = ["--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", PIPES, str(theirs_in), str(theirs_out), PROGRAM, *FLAGS.split(), *own],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer = b""
        self.calls = 0
        self.events: list[dict[str, Any]] = []
        self.opened: set[str] = set()
        self.session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what happens meanwhile is kept in ``events``."""
        self.calls += 1
        message: dict[str, Any] = {"id": self.calls, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.sending, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.buffer:
                chunk = os.read(self.receiving, 1 << 16)
                assert chunk, "Chromium ended"
                self.buffer += chunk
            text, _, self.buffer = self.buffer.partition(b"\0")
            found = json.loads(text)
            if found.get("id") == self.calls:
                assert "error" not in found, found["error"]
                return found["result"]
            self.events.append(found)

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that a selector finds."""
        found: list[str] = self.ask(
            f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)"
        )
        return found

    def open(self, address: str) -> None:
        """Go to a page and wait until it stands."""
        self.opened.add(address.partition("#")[0])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        page = json.dumps(address.partition("#")[0])
        drawn = "document.querySelector('main')?.hidden === false"
        ready = f"document.readyState === 'complete' && location.href.startsWith({page}) && {drawn}"
        self.wait(lambda: self.ask(ready))

    def wait(self, done: Callable[[], bool]) -> None:
        """Until ``done``, for ten seconds."""
        end = time.monotonic() + 10
        while not done():
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press a key on the keyboard."""
        codes = {"Enter": 13, "Backspace": 8, "Home": 36, "Tab": 9}
        codes |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        common = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse."""
        x, y = self.ask(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); "
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def look(self, width: int, height: int, *, dark: bool = False, phone: bool = False) -> None:
        """Set the size of the window and the colours that the user prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def close(self) -> None:
        """End the browser that was started here."""
        self.session = ""
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.sending)
        os.close(self.receiving)
        shutil.rmtree(self.profile, ignore_errors=True)
