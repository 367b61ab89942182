"""`tidings rehearse api` as a child process: the Messages API that the real CLI talks to."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

from .cli import Programs

START_SECONDS_MAX = 15
STOP_SECONDS_MAX = 10


class Api:
    """Serves one script at `url` until it is closed."""

    def __init__(self, programs: Programs, script: Path, log: Path, *flags: str) -> None:
        self.log = log
        self._stderr = open(log.with_suffix(".stderr"), "w+b")
        self._child = subprocess.Popen(
            [
                str(programs.tidings), "rehearse", "api",
                "--script", str(script), "--listen", "127.0.0.1:0", "--log", str(log), "--until-eof", *flags,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        late = threading.Timer(START_SECONDS_MAX, self._child.kill)
        late.start()
        first = self._child.stdout.readline()
        late.cancel()
        try:
            self.url: str = json.loads(first)["listening"]
        except (ValueError, KeyError):
            self._child.kill()
            raise RuntimeError(f"rehearse api did not start: {first!r} {self.stderr()}") from None

    def stderr(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace").strip()

    def close(self) -> str | None:
        """Ends the server; returns its report if expectations failed."""
        self._child.stdin.close()
        try:
            code = self._child.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
            return "rehearse api did not end when its stdin did"
        finally:
            self._child.stdout.close()
        said = self.stderr()
        self._stderr.close()
        return f"rehearse api ended with {code}: {said}" if code else None

    def __enter__(self) -> Api:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
