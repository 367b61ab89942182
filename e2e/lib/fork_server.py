"""Starts Python programs that use the official SDK, without importing it each time: that takes longer than most of them run.

    fork_server.py serve SOCKET              imports the SDK, prints a line, and forks for each connection
    fork_server.py run SOCKET PROGRAM ARGS   runs a program there, in this process's folder and with its environment and streams

The forked process has a session of its own. It is killed with all its children when the process that asked for it ends.
"""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

STREAMS = 3


def serve(path: str) -> None:
    import claude_agent_sdk  # noqa: F401  The reason for this program.

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    # This process does not wait for the forked ones.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _play(connection)
        connection.close()


def _play(connection: socket.socket) -> None:
    """The forked process. Never returns."""
    import runpy
    import threading
    import traceback

    os.setsid()
    text, streams, _, _ = socket.recv_fds(connection, 1 << 20, STREAMS)
    asked = json.loads(text)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    program, *args = asked["command"]
    sys.argv = [program, *args]

    def end_with_the_other() -> None:
        # Nothing is sent: it returns when the other side has ended.
        if not connection.recv(1):
            os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_the_other, daemon=True).start()
    code = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(bytes([code & 0xFF]))
    while True:
        signal.pause()


def run(path: str, command: list[str]) -> int:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    asked = json.dumps({"cwd": os.getcwd(), "env": dict(os.environ), "command": command})
    streams = array.array("i", range(STREAMS))
    connection.sendmsg([asked.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    code = connection.recv(1)
    return code[0] if code else 1


class ForkServer:
    """The server while a run needs it. `command` is the beginning of the command of a program."""

    def __init__(self, python: Path, folder: Path) -> None:
        path = str(folder / "python.sock")
        self.server = [str(python), "-B", __file__, "serve", path]
        self.command = [sys.executable, "-I", "-S", __file__, "run", path]

    def __enter__(self) -> ForkServer:
        self.child = subprocess.Popen(
            self.server, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=os.environ | {"LANG": "C.UTF-8"}, start_new_session=True)
        assert self.child.stdout is not None
        if not self.child.stdout.readline():
            raise RuntimeError("the Python SDK does not load")
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.wait()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(run(sys.argv[2], sys.argv[3:]))
