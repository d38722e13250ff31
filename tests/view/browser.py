"""A headless Chromium, driven over its DevTools pipe with the standard library alone."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """A Chromium or Chrome on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser. DevTools messages are JSON, ended by a NUL, on descriptors 3 (in) and 4 (out)."""

    def __init__(self, command: str, profile: Path) -> None:
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        os.set_inheritable(to_child, True)
        os.set_inheritable(from_child, True)
        arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1400,900",
            "--no-first-run", "--force-color-profile=srgb", f"--user-data-dir={profile}", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(to_child), str(from_child), command, *arguments],
            pass_fds=(to_child, from_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.faults: list[str] = []
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        self._session = None
        self.send("Browser.close")
        self._process.wait(timeout=20)
        os.close(self._in)
        os.close(self._out)

    def send(self, method: str, **parameters: Any) -> Any:
        """Call a DevTools method; its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("method") == "Runtime.exceptionThrown":
                self.faults.append(str(answer["params"]["exceptionDetails"]))
            elif answer.get("method") == "Log.entryAdded":
                self.faults.append(str(answer["params"]["entry"]["text"]))
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 16)
            if not part:
                raise RuntimeError("the browser is gone")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def open(self, url: str, *, timeout: float = 30.0) -> float:
        """Load a page and wait until it says that it is ready and has drawn; the seconds it took."""
        self.faults.clear()
        started = time.monotonic()
        # A change of the fragment alone would not load anything.
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=url)
        while time.monotonic() - started < timeout:
            if self.evaluate("document.documentElement?.dataset.ready === 'true'"):
                self.frame()
                return time.monotonic() - started
            time.sleep(0.02)
        raise TimeoutError(f"{url} is not ready after {timeout} s")

    def frame(self) -> None:
        """Wait until what was asked to be drawn is drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def click(self, x: float, y: float) -> None:
        """A click of the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.frame()

    def type(self, text: str) -> None:
        """Text into what has the focus."""
        self.send("Input.insertText", text=text)

    def press(self, key: str) -> None:
        """One key, by its name."""
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "/": 191, "f": 70}
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=codes[key])
        self.frame()

    def text(self, selector: str) -> str:
        """The text an element shows."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def pixels(self, colour: str) -> int:
        """How many pixels of the canvas have (nearly) the colour ``#rrggbb``."""
        wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        script = """(() => {
          const c = document.getElementById("canvas");
          const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
          let n = 0;
          for (let i = 0; i < d.length; i += 4)
            if (d[i + 3] > 200 && Math.abs(d[i] - R) + Math.abs(d[i + 1] - G) + Math.abs(d[i + 2] - B) < 24) n++;
          return n;
        })()"""
        for letter, value in zip("RGB", wanted, strict=True):
            script = script.replace(f"- {letter})", f"- {value})")
        return int(self.evaluate(script))
