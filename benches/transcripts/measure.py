"""Runs a program and measures it: CPU time and peak memory, its children included."""

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
    """The measurements of one run."""

    cpu_seconds: float
    wall_seconds: float
    peak_mib: float
    code: int
    output: bytes
    errors: bytes


def run(command: list[str], env: dict[str, str], scratch: Path, stdin: bytes = b"") -> Sample:
    """Runs a command to its end with only `env` in the environment; its output goes through files, not pipes."""
    paths = [scratch / name for name in ("stdin", "stdout", "stderr")]
    paths[0].write_bytes(stdin)
    with open(paths[0], "rb") as source, open(paths[1], "wb") as out, open(paths[2], "wb") as errors:
        began = time.monotonic()
        process = subprocess.Popen(command, env=env, cwd=scratch, stdin=source, stdout=out, stderr=errors)
        watcher = Watcher(process.pid)
        watcher.start()
        # The usage includes all children that were waited for, and grandchildren.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        watcher.stop()
    # The run ended before the first poll. `ru_maxrss` also includes memory from before the program began.
    peak = watcher.peak_kib or usage.ru_maxrss
    output, messages = paths[1].read_bytes(), paths[2].read_bytes()
    cpu = usage.ru_utime + usage.ru_stime
    return Sample(cpu, wall, peak / 1024, process.returncode, output, messages)


class Watcher(threading.Thread):
    """Polls the memory of a process and its descendants until it is stopped."""

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
        # The process has ended meanwhile.
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
