#!/usr/bin/env python3
"""A `claude` that answers each prompt with deltas that carry the time at which they were written."""

from __future__ import annotations

import json
import sys
import time
import uuid

DELTAS = 400
PAUSE_SECONDS = 0.002
SESSION = next((arg.partition("=")[2] for arg in sys.argv if arg.startswith("--session-id=")), "") or str(uuid.uuid4())
if "--session-id" in sys.argv:
    SESSION = sys.argv[sys.argv.index("--session-id") + 1]


def send(frame: dict) -> None:
    sys.stdout.write(json.dumps({"session_id": SESSION, "uuid": str(uuid.uuid4())} | frame) + "\n")
    sys.stdout.flush()


def stream(event: dict) -> None:
    send({"type": "stream_event", "event": event, "parent_tool_use_id": None})


def answer(prompt: dict) -> None:
    init = {"cwd": ".", "tools": [], "mcp_servers": [], "model": "m", "permissionMode": "default", "slash_commands": []}
    more = {"apiKeySource": "none", "claude_code_version": "2.1.327", "output_style": "default", "agents": [], "skills": []}
    lifecycle = {"type": "command_lifecycle", "command_uuid": prompt.get("uuid")}
    if prompt.get("uuid"):
        send(lifecycle | {"state": "started"})
    send({"type": "system", "subtype": "init"} | init | more)
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": "m", "stop_reason": None}
    usage = {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message |= {"stop_sequence": None, "usage": usage}
    stream({"type": "message_start", "message": message | {"content": []}})
    stream({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    whole = ""
    for _ in range(DELTAS):
        time.sleep(PAUSE_SECONDS)
        text = f"@{time.monotonic_ns()} "
        whole += text
        stream({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
    send({"type": "assistant", "message": message | {"content": [{"type": "text", "text": whole}]}, "parent_tool_use_id": None})
    stream({"type": "content_block_stop", "index": 0})
    stream({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage})
    stream({"type": "message_stop"})
    uuids = [prompt["uuid"]] if prompt.get("uuid") else []
    send({
        "type": "result", "subtype": "success", "is_error": False, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1,
        "result": whole, "stop_reason": "end_turn", "total_cost_usd": 0, "usage": usage, "modelUsage": {},
        "permission_denials": [], "user_message_uuids": uuids, "terminal_reason": "completed",
    })
    if uuids:
        send(lifecycle | {"state": "completed"})
    send({"type": "system", "subtype": "session_state_changed", "state": "idle"})


def main() -> None:
    if "--version" in sys.argv or "-v" in sys.argv:
        print("2.1.327 (Claude Code)")
        return
    for line in sys.stdin:
        frame = json.loads(line)
        if frame["type"] == "user":
            answer(frame)
        elif frame["type"] == "control_request":
            model = {"value": "default", "displayName": "Default", "description": ""}
            reply = {
                "commands": [], "agents": [], "output_style": "default", "available_output_styles": ["default"],
                "models": [model], "account": {}, "mcpServers": [], "mode": "default", "model": "m",
            }
            response = {"subtype": "success", "request_id": frame["request_id"], "response": reply}
            sys.stdout.write(json.dumps({"type": "control_response", "response": response}) + "\n")
            sys.stdout.flush()


main()
