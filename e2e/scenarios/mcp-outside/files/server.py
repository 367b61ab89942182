"""A small MCP server on stdin and stdout: one tool, which tells what it was given, and one page."""

import json
import sys

TOOL = {"name": "tell", "description": "Tells what it was given", "inputSchema": {"type": "object", "properties": {}}}

PAGE = {"uri": "ui://page", "mimeType": "text/html", "text": "<p>A page</p>"}


def result(method: str, params: dict) -> dict | None:
    if method == "initialize":
        about = {"name": "clock", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}, "resources": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}
    if method == "resources/list":
        return {"resources": [{"uri": PAGE["uri"], "name": "page"}]}
    if method == "resources/read":
        return {"contents": [PAGE]}
    return {} if method == "ping" else None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = result(asked["method"], asked.get("params") or {})
    body = {"error": {"code": -32601, "message": "no such method"}} if answer is None else {"result": answer}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **body}), flush=True)
