#!/usr/bin/env python3
"""Names and shapes of the TypeScript SDK's published types, for the tests of parity in Rust.

    e2e/parity.py           # compares them with the pinned SDK; the row `parity` of run.py does it, too
    e2e/parity.py --write   # after the pinned SDK has changed

`names.json` lists tools, requests, messages, hooks, options, methods and exports: each of them has a typed counterpart,
or a row of docs/parity.md gives the reason. `samples.ndjson` has values with every published field of the tools, requests,
replies, messages and hooks: none of them is untyped. Names and kinds of values only; no text of the SDK is stored.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from lib.cli import CACHE, E2E, Missing, Programs  # noqa: E402
from lib.dts import Declarations, Union  # noqa: E402

NAME = "parity"
SDK = CACHE / "ts/node_modules/@anthropic-ai/claude-agent-sdk"
FIXTURES = E2E.parent / "crates/protocol/tests/fixtures/sdk"
# Types of another package, whose fields are those of the Messages API.
OF_API = {
    "BetaMessage": {"role": "assistant", "content": []},
    "BetaRawMessageStreamEvent": {"type": "message_stop"},
    "MessageParam": {"role": "user", "content": "s"},
    "NonNullableUsage": {"input_tokens": 1},
}
# Names of tools whose types have other names.
TOOLS = {
    "FileEdit": "Edit", "FileRead": "Read", "FileWrite": "Write", "ListMcpResources": "ListMcpResourcesTool",
    "Mcp": "mcp__server__tool", "ProposeGoal": "SetGoal", "ProposeSkills": "propose_skills",
    "ReadMcpResource": "ReadMcpResourceTool", "ReadMcpResourceDir": "ReadMcpResourceDirTool",
}


def problems_of(_programs: Programs, _root: Path) -> list[str]:
    """Files that are not those of the pinned SDK."""
    hint = "run `e2e/parity.py --write`, then the tests of tidings-protocol and tidings"
    return [f"{path.relative_to(E2E.parent)} is not that of the pinned SDK: {hint}"
            for path, text in made(SDK).items() if not path.exists() or path.read_text() != text]


def made(sdk: Path) -> dict[Path, str]:
    """The files with their contents."""
    if not sdk.exists():
        raise Missing("the TypeScript SDK is not installed: run e2e/install.sh")
    text = (sdk / "sdk.d.ts").read_text()
    core, tools = Declarations(text, OF_API), Declarations((sdk / "sdk-tools.d.ts").read_text())
    names = {"version": json.loads((sdk / "package.json").read_text())["version"], **names_of(core, text)}
    lines = [json.dumps(sample, separators=(",", ":")) for sample in [*of_tools(tools), *of_messages(core)]]
    return {
        FIXTURES / "names.json": json.dumps(names, indent=1) + "\n",
        FIXTURES / "samples.ndjson": "\n".join(lines) + "\n",
    }


def names_of(core: Declarations, text: str) -> dict[str, list[str]]:
    exported = re.findall(r"^export declare (?:abstract )?(?:function|const|class) (\w+)", text, re.MULTILINE)
    return {
        "tools": constant(text, "BUILTIN_TOOL_NAMES"),
        "requests": sorted(core.texts_of(core.types["SDKControlRequestInner"], "subtype")),
        "messages": sorted(kinds(core, core.types["SDKMessage"])),
        "hooks": constant(text, "HOOK_EVENTS"),
        "options": core.fields_of("Options"),
        "methods": core.fields_of("Query"),
        "exports": sorted(set(exported)),
    }


def constant(text: str, name: str) -> list[str]:
    """The items of a list of texts."""
    found = re.search(rf"^export declare const {name}: readonly \[([^\]]*)\]", text, re.MULTILINE)
    if not found:
        raise Missing(f"the types have no {name}: did they change their form?")
    return re.findall(r"['\"](\w+)['\"]", found[1])


def kinds(core: Declarations, declared: Any) -> set[str]:
    """The types and subtypes of messages."""
    subtypes = core.texts_of(declared, "subtype")
    declared = core.resolved(declared)
    if isinstance(declared, Union):
        return set().union(*(kinds(core, one) for one in declared.types))
    return {f"{kind}/{subtype}" if subtype else kind
            for kind in core.texts_of(declared, "type") for subtype in sorted(subtypes) or [""]}


def of_tools(tools: Declarations) -> Iterator[dict[str, Any]]:
    for part in ("Input", "Output"):
        for declared in tools.types[f"Tool{part}Schemas"].types:
            name = declared.name.removesuffix(part)
            if declared.name.endswith(part):
                for sample in tools.samples(declared):
                    yield {"tool": TOOLS.get(name, name), part.lower(): sample}


def of_messages(core: Declarations) -> Iterator[dict[str, Any]]:
    for declared in core.types["SDKControlRequestInner"].types:
        for sample in core.samples(declared):
            yield {"request": sample}
        reply = core.types.get(declared.name.replace("Request", "Response"))
        for sample in core.samples(reply) if reply and declared.name.startswith("SDKControl") else []:
            yield {"reply_to": next(iter(core.texts_of(declared, "subtype"))), "reply": sample}
    for sample in core.samples(core.types["SDKMessage"]):
        yield {"message": sample}
    for sample in core.samples(core.types["HookInput"]):
        yield {"hook": sample}


def main() -> int:
    try:
        files = made(SDK if len(sys.argv) < 3 else Path(sys.argv[2]))
    except Missing as missing:
        print(f"error: {missing}", file=sys.stderr)
        return 3
    if "--write" in sys.argv:
        FIXTURES.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text)
            print(f"wrote {path.relative_to(E2E.parent)}")
        return 0
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"error: {path.relative_to(E2E.parent)} is not that of the pinned SDK\nhint: e2e/parity.py --write")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
