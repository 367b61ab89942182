"""Compares the session calls of the official Python SDK with ours, on the same files.

`sessions_sdk.py TIDINGS CONFIG PROJECT SCRATCH` compares the results of both on a configuration folder, lets each change
a copy of it, and compares the copies. `sessions_sdk.py TIDINGS made SCRATCH` does so on generated files, with features
that a short run of the CLI does not produce. Prints differences; exits with 0 if there are none.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import claude_agent_sdk as sdk

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
ABSENT = "99999999-9999-4999-8999-999999999999"


class Compare:
    """One configuration folder."""

    def __init__(self, tidings: str, config: Path, project: Path, scratch: Path) -> None:
        self.tidings, self.config, self.project, self.scratch = tidings, config, project, scratch
        self.problems: list[str] = []
        # The files before each change.
        self.before: Tree | None = None

    def same(self, what: str, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            self.problems.append(f"{what}:\n  ours {_short(ours)}\n  SDK  {_short(theirs)}")

    def ours(self, *args: str, config: Path | None = None) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "TIDINGS_CACHE_DIR": str(self.scratch / "cache")}
        command = [self.tidings, "sessions", "--root", str(config or self.config), *args, "--json"]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    def lines(self, *args: str) -> list[Any]:
        done = self.ours(*args)
        if done.returncode:
            self.problems.append(f"{' '.join(args)}: exit code {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
        return [json.loads(line) for line in done.stdout.split("\n") if line]

    def reading(self) -> None:
        """Compares the results of both on the same files."""
        os.environ["CLAUDE_CONFIG_DIR"] = str(self.config)
        theirs = [_plain(info) for info in sdk.list_sessions()]
        self.infos("list_sessions", self.lines("info"), theirs)
        self.infos("list_sessions of a page", self.lines("info", "--limit", "2", "--offset", "1"),
                   [_plain(info) for info in sdk.list_sessions(limit=2, offset=1)])
        for name, flags, worktrees in (("worktrees", [], True), ("one folder", ["--no-worktrees"], False)):
            listed = sdk.list_sessions(directory=str(self.project), include_worktrees=worktrees)
            self.infos(f"list_sessions of {name}", self.lines("info", "--directory", str(self.project), *flags),
                       [_plain(info) for info in listed])
        for info in theirs:
            session = info["session_id"]
            self.infos("get_session_info", self.lines("info", session), [_plain(sdk.get_session_info(session))])
            self.messages(session)

    def infos(self, what: str, ours: list[Any], theirs: list[Any]) -> None:
        """Ours may have more where the SDK reads too little of the file, and never less or something else."""
        known = {info["session_id"] for info in theirs}
        small = [info for info in ours if info["session_id"] in known or info["file_size"] <= 65536]
        self.same(f"{what}, order", [info["session_id"] for info in small], [info["session_id"] for info in theirs])
        for info, other in zip(small, theirs):
            for key, value in other.items():
                if value is None and info["file_size"] > 65536:
                    continue
                # The SDK converts times to milliseconds through a float, which is sometimes one too low.
                if key in ("last_modified", "created_at") and None not in (value, info[key]) and abs(value - info[key]) < 2:
                    continue
                self.same(f"{what}, {key} of {info['session_id']}", info[key], value)

    def messages(self, session: str) -> None:
        theirs = [_plain(message) for message in sdk.get_session_messages(session)]
        self.same(f"get_session_messages {session}", self.lines("messages", session), theirs)
        page = [_plain(message) for message in sdk.get_session_messages(session, limit=2, offset=1)]
        self.same("get_session_messages, a page", self.lines("messages", session, "--limit", "2", "--offset", "1"), page)
        agents = sdk.list_subagents(session)
        self.same(f"list_subagents {session}", [agent["id"] for agent in self.lines("subagents", session)], agents)
        for agent in agents:
            said = [_plain(message) for message in sdk.get_subagent_messages(session, agent)]
            self.same(f"get_subagent_messages {agent}", self.lines("messages", session, "--agent", agent), said)

    def changing(self) -> None:
        """Each changes a copy of its own; then the copies are compared."""
        os.environ["CLAUDE_CONFIG_DIR"] = str(self.config)
        for info in sdk.list_sessions():
            session = info.session_id
            said = [message.uuid for message in sdk.get_session_messages(session)]
            cases: list[tuple[str, list[str], Callable[[], Any]]] = [
                ("rename", ["rename", session, "  A \"title\" \u2028 ü "],
                 lambda: sdk.rename_session(session, "  A \"title\" \u2028 ü ")),
                ("rename to nothing", ["rename", session, " \t"], lambda: sdk.rename_session(session, " \t")),
                ("tag", ["tag", session, " ﬁne\u200b e\u200d\u0301 \ue000 "],
                 lambda: sdk.tag_session(session, " ﬁne\u200b e\u200d\u0301 \ue000 ")),
                ("tag of nothing", ["tag", session, "\u200b"], lambda: sdk.tag_session(session, "\u200b")),
                ("tag, cleared", ["tag", session, "--clear"], lambda: sdk.tag_session(session, None)),
                ("fork", ["fork", session], lambda: sdk.fork_session(session)),
                ("fork with a title", ["fork", session, "--title", " Mine "],
                 lambda: sdk.fork_session(session, title=" Mine ")),
                ("fork up to nowhere", ["fork", session, "--up-to", ABSENT],
                 lambda: sdk.fork_session(session, up_to_message_id=ABSENT)),
                ("delete", ["delete", session, "--yes"], lambda: sdk.delete_session(session)),
                ("delete what is not there", ["delete", ABSENT, "--yes"], lambda: sdk.delete_session(ABSENT)),
            ]
            if said:
                middle = said[len(said) // 2]
                cases.append(("fork up to the middle", ["fork", session, "--up-to", middle],
                              lambda: sdk.fork_session(session, up_to_message_id=middle)))
            for name, args, call in cases:
                self.change(f"{name} {session}", args, call)

    def change(self, name: str, args: list[str], call: Callable[[], Any]) -> None:
        copies = [self.scratch / "ours", self.scratch / "theirs"]
        for copy in copies:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self.config / "projects", copy / "projects", symlinks=True)
        if self.before is None:
            self.before = Tree(copies[0])
        code = self.ours(*args, config=copies[0]).returncode
        os.environ["CLAUDE_CONFIG_DIR"] = str(copies[1])
        try:
            call()
            failed = False
        except (ValueError, FileNotFoundError):
            failed = True
        os.environ["CLAUDE_CONFIG_DIR"] = str(self.config)
        self.same(f"{name}, whether it fails", code in (2, 3), failed)
        self.same(name, Tree(copies[0]).since(self.before), Tree(copies[1]).since(self.before))


class Tree:
    """The files of a configuration folder: modes, and lines as JSON."""

    def __init__(self, root: Path) -> None:
        self.files: dict[str, tuple[int, bytes]] = {}
        for path in sorted(root.rglob("*")):
            if path.is_file():
                self.files[str(path.relative_to(root))] = (path.stat().st_mode & 0o777, path.read_bytes())

    @cached_property
    def text(self) -> str:
        """All of it, in which old ids and times are found."""
        return json.dumps({path: self.content(path) for path in self.files})

    def content(self, path: str) -> tuple[int, list[Any]] | None:
        if path not in self.files:
            return None
        mode, text = self.files[path]
        return mode, [_line(line) for line in text.decode(errors="surrogateescape").split("\n")]

    def since(self, before: Tree) -> dict[str, Any]:
        """The changes, with the same names for new ids and for the current time on both sides."""
        old = before.text
        names: dict[str, str] = {}

        def renamed(match: re.Match[str]) -> str:
            found = match.group()
            return found if found in old else names.setdefault(found, f"new-{len(names)}")

        changed: dict[str, Any] = {}
        for path, raw in self.files.items():
            # Equal bytes need no decoding.
            if before.files.get(path) == raw or before.content(path) == (content := self.content(path)):
                continue
            text = json.dumps(content[1], sort_keys=True)
            fresh = re.sub(r'"timestamp": "([^"]*)"', lambda m: m.group() if m.group(1) in old else '"timestamp": "now"', text)
            changed[UUID.sub(renamed, path)] = (content[0], json.loads(UUID.sub(renamed, fresh)))
        gone = sorted(set(before.files) - set(self.files))
        return {"changed": changed, "gone": gone}


def made(root: Path) -> tuple[Path, Path]:
    """Sessions with features that a short run does not produce: rewinds, long lines, damage, odd names."""
    project = root / "repo"
    project.mkdir(parents=True)
    quiet: dict[str, Any] = {"cwd": project, "check": True, "capture_output": True}
    git = ["git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q"], **quiet)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Start"], **quiet)
    subprocess.run([*git, "worktree", "add", "-q", str(root / "tree")], **quiet)
    config = root / "config"
    for number, (folder, lines) in enumerate(_sessions(project, root / "tree"), 1):
        session = f"{number:08}-0000-4000-8000-000000000000"
        path = config / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(folder.resolve())) / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join((line if isinstance(line, str) else json.dumps(
            {"sessionId": session, **line}, separators=(",", ":"))) + "\n" for line in lines)
        path.write_bytes(text.encode(errors="surrogatepass"))
        path.chmod(0o600)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return config, project


def _sessions(project: Path, tree: Path) -> list[tuple[Path, list[Any]]]:
    def user(uuid: int, parent: int | None, content: Any, **more: Any) -> dict[str, Any]:
        return _entry("user", uuid, parent, {"role": "user", "content": content}, more)

    def says(uuid: int, parent: int | None, response: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
        message = {"id": response, "role": "assistant", "model": "claude-x", "content": list(blocks)}
        return _entry("assistant", uuid, parent, message, more)

    def calls(tool: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": tool, "name": "Bash", "input": {"summary": "inside", "tag": "inside"}}

    def gives(tool: str) -> list[dict[str, Any]]:
        return [{"type": "tool_result", "tool_use_id": tool, "content": "x"}]

    ok = {"type": "text", "text": "ok"}
    start = [user(1, None, "Start", cwd=str(project), gitBranch="main"), says(2, 1, "m1", ok)]
    parallel = [*start, user(3, 2, "Both"), says(4, 3, "m2", calls("t1")), says(5, 4, "m2", calls("t2")),
                says(6, 5, "m2", calls("t3")), user(7, 6, gives("t3")), user(8, 4, gives("t1")),
                user(9, 5, gives("t2"), sourceToolAssistantUUID=_uuid(5)), says(10, 8, "m3", ok)]
    return [
        (project, start),
        (project, parallel),
        # A result with another parent, and one of a call that two responses contain.
        (project, [*parallel[:7], user(8, 1, gives("t1")), says(11, 1, "m9", calls("t2")), user(9, 1, gives("t2")),
                   says(10, 7, "m3", ok)]),
        # A rewind, then an edited prompt; the first branch is longer.
        (project, [*start, user(3, 2, "One way"), says(4, 3, "m2", ok), user(5, 2, "Another way"), says(6, 5, "m3", ok)]),
        # A compaction: the entries before it are not followed.
        (project, [*start, {**_entry("system", 3, None, None, {"subtype": "compact_boundary"}), "logicalParentUuid": _uuid(2)},
                   user(4, 3, "So far", isCompactSummary=True), user(5, 4, "Go on"), says(6, 5, "m2", ok)]),
        # Progress in the chain, a sidechain, a team's entry, meta at the end, and lines to replace results with.
        (project, [*start, _entry("progress", 3, 2, None, {"data": {}}), user(4, 3, "Go on", slug="brave-fox"),
                   user(5, 4, "aside", isSidechain=True), says(6, 4, "m2", ok), user(7, 6, "hi", teamName="blue"),
                   user(8, 6, "note", isMeta=True), {"type": "content-replacement", "replacements": [{"a": 1}]}]),
        # Titles, tags and prompts, several of each; the tag in a tool's input does not count.
        (tree, [*start, {"type": "ai-title", "aiTitle": "By the model"}, {"type": "custom-title", "customTitle": "By \"me\""},
                {"type": "tag", "tag": "first"}, {"type": "tag", "tag": "second"}, says(3, 2, "m2", calls("t1"))]),
        (tree, [user(1, None, "<command-name>/init</command-name>"), {"type": "last-prompt", "lastPrompt": "the last"}]),
        (tree, [user(1, None, "<command-name>/init</command-name>"), user(2, 1, "<tick>"), {"type": "tag", "tag": ""}]),
        (tree, [{"type": "summary", "summary": "What it was about", "leafUuid": _uuid(1)}, user(1, None, gives("t1"))]),
        # Nothing to show, and a sub-agent's file.
        (project, [{"type": "permission-mode", "permissionMode": "default"}]),
        (project, [user(1, None, "aside", isSidechain=True)]),
        # Damage: an array, half a line, a repeated line, a blank one, a cycle, a parent that does not exist.
        (project, [*start, "[1,2]", '{"type":"user","uuid":"x', "", start[0], user(3, 4, "circle"), user(4, 3, "circle"),
                   user(5, 99, "island"), says(6, 5, "m2", ok)]),
        # A first line beyond the SDK's read limit, a lone surrogate, a long prompt, separators as white
        # space.
        (project, [{"type": "api-request-shape", "shape": "x" * 100_000}, *start]),
        (project, [user(1, None, "half \ud83d here"), says(2, 1, "m1", ok)]),
        (project, [user(1, None, "\x1c " + "ü" * 199 + " \n\tmore"), says(2, 1, "m1", ok)]),
        (project / "no" / "such", start),
    ]


def _entry(kind: str, uuid: int, parent: int | None, message: Any, more: dict[str, Any]) -> dict[str, Any]:
    entry = {"parentUuid": None if parent is None else _uuid(parent), "isSidechain": False, "type": kind, "uuid": _uuid(uuid),
             "timestamp": f"2026-11-14T10:00:{uuid:02}.{uuid * 7:03}Z"}
    return entry | ({} if message is None else {"message": message}) | more


def _uuid(number: int) -> str:
    return f"a0000000-0000-4000-8000-{number:012}"


def _plain(value: Any) -> dict[str, Any]:
    """A dataclass as JSON."""
    plain = dataclasses.asdict(value)
    if isinstance(value, sdk.SDKSessionInfo):
        plain = {key: _shown(each) for key, each in plain.items()}
    return plain


def _line(text: str) -> Any:
    try:
        line = json.loads(text)
    except ValueError:
        return text
    if isinstance(line, dict) and line.get("type") == "custom-title":
        line["customTitle"] = _shown(line["customTitle"])
    return line


def _shown(value: Any) -> Any:
    """A lone surrogate, which UTF-8 cannot encode, as we show it in titles; messages keep it."""
    return re.sub("[\ud800-\udfff]", "\ufffd", value) if isinstance(value, str) else value


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) < 600 else f"{text[:300]} … {text[-300:]}"


def main() -> int:
    # Problems may contain lone surrogates.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    tidings, what, *rest = sys.argv[1:]
    if what == "made":
        scratch = Path(rest[0])
        config, project = made(scratch / "made")
    else:
        config, project, scratch = Path(what), Path(rest[0]), Path(rest[1])
    compare = Compare(tidings, config, project, scratch)
    compare.reading()
    compare.changing()
    print("\n".join(compare.problems))
    return 1 if compare.problems else 0


if __name__ == "__main__":
    sys.exit(main())
