"""Runs a program and says what it took: CPU time of it and its children, and the memory that they held at most."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.01


@dataclass
class Sample:
    """One run."""

    cpu_seconds: float
    wall_seconds: float
    peak_mib: float
    code: int
    output: bytes
    errors: bytes


def run(command: list[str], env: dict[str, str], scratch: Path, stdin: bytes = b"") -> Sample:
    """Runs to the end with nothing but `env` in the environment; what it prints goes through files, not pipes."""
    paths = [scratch / name for name in ("stdin", "stdout", "stderr")]
    paths[0].write_bytes(stdin)
    with open(paths[0], "rb") as source, open(paths[1], "wb") as out, open(paths[2], "wb") as errors:
        began = time.monotonic()
        process = subprocess.Popen(command, env=env, cwd=scratch, stdin=source, stdout=out, stderr=errors)
        watcher = Watcher(process.pid)
        watcher.start()
        # Of all children that were waited for, grandchildren included.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        watcher.stop()
    # A run that was over before anybody looked. This one counts what was there before the program began, too.
    peak = watcher.peak_kib or usage.ru_maxrss
    output, messages = paths[1].read_bytes(), paths[2].read_bytes()
    cpu = usage.ru_utime + usage.ru_stime
    return Sample(cpu, wall, peak / 1024, process.returncode, output, messages)


class Watcher(threading.Thread):
    """Looks at the memory of a process and its descendants until it is told to stop."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.peak_kib = pid, 0
        self.ended = threading.Event()

    def run(self) -> None:
        own = exe(os.getpid())
        while not self.ended.wait(POLL_SECONDS):
            # Between fork and exec a child is still a copy of this program.
            if exe(self.pid) != own:
                # The high-water mark of the program itself misses no peak; the sum covers its children.
                tree = sum(memory(pid, "VmRSS:") for pid in descendants(self.pid))
                self.peak_kib = max(self.peak_kib, tree, memory(self.pid, "VmHWM:"))

    def stop(self) -> None:
        self.ended.set()
        self.join()


def exe(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def memory(pid: int, key: str) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1])
    except (OSError, ValueError):
        # It has ended meanwhile.
        pass
    return 0


def descendants(pid: int) -> list[int]:
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting.extend(int(child) for child in (task / "children").read_text().split())
        except (OSError, ValueError):
            pass
    return found
