"""`tidings serve` as a child process, stopped by a signal or killed."""

from __future__ import annotations

import json
import subprocess
import threading
from functools import cached_property
from pathlib import Path

from .cli import Place
from .web import Web

START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 20
PASSED = [f"--pass-env={name}" for name in ("ANTHROPIC_*", "CLAUDE_CODE_*", "DISABLE_AUTOUPDATER")]


class Server:
    """`tidings serve` until it is stopped or killed. The next one in the same folder has the same data.

    Its agents end with it unless `lease_seconds` sets how long they wait for the next server.
    """

    def __init__(
        self, place: Place, base_url: str, lease_seconds: int = 0, claude: Path | None = None, *flags: str,
    ) -> None:
        data = place.root / "data"
        self._log = open(place.root / "serve.stderr", "a+b")
        self._child = subprocess.Popen(
            [
                str(place.programs.tidings), "serve", "--json", "--listen", "127.0.0.1:0", "--data", str(data),
                "--claude-path", str(claude or place.programs.claude), "--agent-lease", str(lease_seconds), *PASSED, *flags,
            ],
            env=place.env(base_url), cwd=place.root, stdout=subprocess.PIPE, stderr=self._log,
            stdin=subprocess.DEVNULL, **place.programs.as_user(),
        )
        self._place, self._data = place, data

    @cached_property
    def web(self) -> Web:
        """Requests to the server, once it has printed its address."""
        late = threading.Timer(START_SECONDS_MAX, self._child.kill)
        late.start()
        first = self._child.stdout.readline()
        late.cancel()
        try:
            address = json.loads(first)["address"]
        except (ValueError, KeyError):
            raise RuntimeError(f"tidings serve did not start: {first!r} {self.said()}") from None
        return Web(address, self.credential())

    def credential(self) -> str:
        """A credential with all scopes: the admin token of the data folder is for the socket only.

        Servers on the same data have the same one, so that a client which repeats a command is the same client.
        """
        stored = self._place.root / "credential"
        if not stored.exists():
            stored.write_text(self._new_credential())
        return stored.read_text()

    def _new_credential(self) -> str:
        done = subprocess.run(
            [
                str(self._place.programs.tidings), "token", "create", "--name", "admin", "--scope", "admin", "--json",
                "--data", str(self._data),
            ],
            env=self._place.env(), cwd=self._place.root, capture_output=True, text=True, timeout=START_SECONDS_MAX,
            stdin=subprocess.DEVNULL, **self._place.programs.as_user(),
        )
        if done.returncode:
            raise RuntimeError(f"tidings token create: {done.stderr} {self.said()}")
        return json.loads(done.stdout)["token"]

    def close(self) -> list[str]:
        """Stops it with SIGTERM; returns the problems of its shutdown."""
        self._child.terminate()
        try:
            code = self._child.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._child.kill()
            return [f"it did not stop after SIGTERM: {self.said()}"]
        return [] if code == 0 else [f"it ended with {code}: {self.said()}"]

    def refusal(self) -> str:
        """Waits for a server that cannot start; returns its error message."""
        if self._child.wait(START_SECONDS_MAX) == 0:
            raise RuntimeError("it exited with code 0")
        return self._child.stdout.read().decode()

    def signal(self, number: int) -> None:
        """Sends a signal."""
        self._child.send_signal(number)

    def kill(self) -> None:
        """kill -9."""
        self._child.kill()
        self._child.wait()

    def said(self) -> str:
        """Stderr of this server and of earlier ones on the same data."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child.poll() is None:
            self.kill()
        self._child.stdout.close()
        self._log.close()
