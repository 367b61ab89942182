"""A small MCP server on stdin and stdout: its tool asks the person for a name, and greets with it."""

import json
import sys

TOOL = {"name": "ask", "description": "Asks for a name", "inputSchema": {"type": "object", "properties": {}}}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def say(**body: object) -> None:
    print(json.dumps({"jsonrpc": "2.0", **body}), flush=True)


def lines():
    for line in sys.stdin:
        yield json.loads(line)


said = lines()
for asked in said:
    method, params = asked.get("method"), asked.get("params") or {}
    if "id" not in asked:
        continue
    if method == "initialize":
        about = {"name": "form", "version": "1"}
        version = params["protocolVersion"]
        say(id=asked["id"], result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about})
    elif method == "tools/list":
        say(id=asked["id"], result={"tools": [TOOL]})
    elif method == "tools/call":
        say(id="q1", method="elicitation/create", params={"message": "What is your name?", "requestedSchema": SCHEMA})
        answer = next(line for line in said if line.get("id") == "q1")
        text = f"Hello {answer['result'].get('content', {}).get('name')}"
        say(id=asked["id"], result={"content": [{"type": "text", "text": text}]})
    else:
        say(id=asked["id"], result={})
