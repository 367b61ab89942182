"""The host program of one run: runs the steps of a `host.json` against a `claude` on stdin and stdout.

Requests of the agent are answered by the thread that reads stdout, since one may arrive at any time, even before the
response to a request of the host program. All lines are recorded in order.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BASE_ARGS = [
    "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
    "--permission-prompt-tool", "stdio",
]
SECONDS_MAX = 60


class Stuck(Exception):
    """The run did not reach the state that a step waits for."""


@dataclass
class Seen:
    """One line of stdout: its frame, its name, and the request if it is a response."""

    frame: dict[str, Any]
    name: str


@dataclass
class Record:
    """The record of one process."""

    seen: list[Seen] = field(default_factory=list)
    exit: int | None = None
    stdout: bytes = b""
    stderr: str = ""
    problems: list[str] = field(default_factory=list)


def name_of(frame: dict[str, Any], asked: dict[str, str]) -> str:
    """A name for the kind of frame, with the hook event, the block kinds or the answered request."""
    kind, subtype = str(frame.get("type")), frame.get("subtype")
    if kind == "control_request":
        request = frame.get("request", {})
        parts = [kind, str(request.get("subtype"))]
        if "hook_event_name" in (request.get("input") or {}):
            parts.append(request["input"]["hook_event_name"])
        if "method" in (request.get("message") or {}):
            parts.append(request["message"]["method"])
        return ":".join(parts)
    if kind == "control_response":
        response = frame.get("response", {})
        return f"{kind}:{response.get('subtype')}:{asked.get(response.get('request_id'), 'echo')}"
    if kind == "stream_event":
        return f"{kind}:{frame['event'].get('type')}"
    if kind in ("assistant", "user"):
        content = frame.get("message", {}).get("content")
        blocks = "+".join(str(block.get("type")) for block in content) if isinstance(content, list) else "string"
        side = ":sidechain" if frame.get("parent_tool_use_id") else ""
        return f"{kind}:{blocks}{side}"
    return f"{kind}:{subtype}" if subtype else kind


def is_named(name: str, pattern: str) -> bool:
    """`assistant` also matches `assistant:text`."""
    return name == pattern or name.startswith(pattern + ":")


class Host:
    """Runs one process with one list of steps."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: Path, plan: dict[str, Any], user: dict) -> None:
        self.plan = plan
        self.record = Record()
        self.deadline = time.monotonic() + SECONDS_MAX
        self.cursor = 0
        self.asked: dict[str, str] = {}
        self.used: set[int] = set()
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        self.stdout_open = True
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=env, cwd=cwd, start_new_session=True, **user,
        )
        self.readers = [threading.Thread(target=self._read_stdout), threading.Thread(target=self._read_stderr)]
        for reader in self.readers:
            reader.start()

    def run(self) -> Record:
        """Runs the steps, closes stdin and waits for the end."""
        try:
            for step in self.plan.get("steps", []):
                self._step(step)
            self._close()
            self.record.exit = self.child.wait(max(self.deadline - time.monotonic(), 0.1))
        except Stuck as stuck:
            self.record.problems.append(str(stuck))
        except subprocess.TimeoutExpired:
            self.record.problems.append("the process did not end after its stdin did")
        finally:
            self._end()
        return self.record

    def _end(self) -> None:
        """Kills the process and its children; a grandchild may hold our pipes open."""
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        for reader in self.readers:
            reader.join(5)

    # Steps

    def _step(self, step: dict[str, Any]) -> None:
        if "initialize" in step:
            self._control({"subtype": "initialize", "hooks": None} | step["initialize"], step)
        elif "user" in step:
            frame = {
                "type": "user", "message": {"role": "user", "content": step["user"]},
                "parent_tool_use_id": None, "session_id": "default",
            }
            self._write(json.dumps(frame | step.get("more", {})))
        elif "control" in step:
            self._control(step["control"], step)
        elif "wait" in step:
            for _ in range(step.get("count", 1)):
                self._wait(step["wait"])
        elif "line" in step:
            self._write(step["line"])
        elif "sleep_ms" in step:
            time.sleep(step["sleep_ms"] / 1000)
        elif "close" in step:
            self._close()
        else:
            raise ValueError(f"unknown step: {step}")

    def _control(self, request: dict[str, Any], step: dict[str, Any]) -> None:
        request_id = f"req_{len(self.asked) + 1}"
        self.asked[request_id] = request["subtype"]
        self._write(json.dumps({"type": "control_request", "request_id": request_id, "request": request}))
        if step.get("answered", True):
            def answer(seen: Seen) -> bool:
                return (seen.frame.get("type") == "control_response"
                        and seen.frame.get("response", {}).get("request_id") == request_id)
            self._until(answer, f"the answer to {request['subtype']}", 0)

    def _wait(self, pattern: str) -> None:
        self.cursor = self._until(lambda seen: is_named(seen.name, pattern), pattern, self.cursor) + 1

    def _until(self, fits: Any, what: str, start: int) -> int:
        with self.changed:
            at = start
            while True:
                for index in range(at, len(self.record.seen)):
                    if fits(self.record.seen[index]):
                        return index
                at = len(self.record.seen)
                left = self.deadline - time.monotonic()
                if left <= 0:
                    raise Stuck(f"{what} did not come within {SECONDS_MAX} s")
                if not self.stdout_open:
                    raise Stuck(f"stdout ended before {what} came")
                self.changed.wait(left)

    # The process

    def _write(self, line: str) -> None:
        with self.writing:
            try:
                self.child.stdin.write(line.encode() + b"\n")
                self.child.stdin.flush()
            except (BrokenPipeError, ValueError):
                pass  # The process has ended; the checks report what is missing.

    def _close(self) -> None:
        with self.writing:
            try:
                self.child.stdin.close()
            except BrokenPipeError:
                pass

    def _read_stdout(self) -> None:
        for line in self.child.stdout:
            self.record.stdout += line
            try:
                frame = json.loads(line)
            except ValueError:
                continue
            if not isinstance(frame, dict):
                continue
            name = name_of(frame, self.asked)
            with self.changed:
                self.record.seen.append(Seen(frame, name))
                self.changed.notify_all()
            if frame.get("type") == "control_request":
                self._answer(frame, name)
        with self.changed:
            self.stdout_open = False
            self.changed.notify_all()

    def _read_stderr(self) -> None:
        self.record.stderr = self.child.stderr.read().decode(errors="replace")

    # Answers

    def _answer(self, frame: dict[str, Any], name: str) -> None:
        request = frame["request"]
        if request.get("subtype") == "mcp_message":
            answer: Any = {"mcp_response": self._mcp(request)}
        else:
            rule = self._rule(request, name)
            if rule is None:
                self.record.problems.append(f"no answer is defined for {name}")
                answer = {}
            elif rule.get("hold"):
                return
            elif "error" in rule:
                self._respond({"subtype": "error", "request_id": frame["request_id"], "error": rule["error"]})
                return
            else:
                answer = fill_input(rule["with"], request.get("input"))
        self._respond({"subtype": "success", "request_id": frame["request_id"], "response": answer})

    def _respond(self, response: dict[str, Any]) -> None:
        self._write(json.dumps({"type": "control_response", "response": response}))

    def _rule(self, request: dict[str, Any], name: str) -> dict[str, Any] | None:
        """The first matching answer that was not used up."""
        for index, rule in enumerate(self.plan.get("answers", [])):
            asked = is_named(name, "control_request:" + rule["to"])
            if asked and rule.get("tool") in (None, request.get("tool_name")) and index not in self.used:
                if rule.get("once"):
                    self.used.add(index)
                return rule
        return None

    def _mcp(self, request: dict[str, Any]) -> dict[str, Any]:
        """An MCP server inside this process, as the SDKs offer it."""
        message = request["message"]
        server = self.plan.get("mcp", {}).get(request["server_name"], {"tools": []})
        if message["method"] == "initialize":
            result: dict[str, Any] = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": request["server_name"], "version": "1.0.0"},
            }
        elif message["method"] == "tools/list":
            hidden = {"result", "error"}
            result = {"tools": [{k: v for k, v in tool.items() if k not in hidden} for tool in server["tools"]]}
        elif message["method"] == "tools/call":
            tool = next(tool for tool in server["tools"] if tool["name"] == message["params"]["name"])
            if "error" in tool:
                return {"jsonrpc": "2.0", "id": message["id"], "error": tool["error"]}
            result = tool["result"]
        else:
            result = {}
        return {"jsonrpc": "2.0", "id": message.get("id", 0), "result": result}


def fill_input(answer: Any, asked_input: Any) -> Any:
    """Replaces `"$input"` in an answer by the requested input."""
    if answer == "$input":
        return asked_input
    if isinstance(answer, dict):
        filled = {key: fill_input(value, asked_input) for key, value in answer.items()}
        base = filled.pop("$input+", None)
        return (asked_input | base) if base is not None else filled
    return answer
