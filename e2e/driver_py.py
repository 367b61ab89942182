"""Runs one run of a scenario through the official Python SDK: `driver_py.py PLAN.json CLAUDE`.

The counterpart of `driver/`, which uses our SDK; both print a line of JSON per message, request and reply.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import claude_agent_sdk as sdk
from claude_agent_sdk import types

SECONDS_MAX = 50
BLOCKS = {
    types.TextBlock: "text", types.ThinkingBlock: "thinking", types.ToolUseBlock: "tool_use",
    types.ToolResultBlock: "tool_result", types.ServerToolUseBlock: "server_tool_use",
    types.ServerToolResultBlock: "server_tool_result",
}
MESSAGES = {
    types.AssistantMessage: "assistant", types.UserMessage: "user", types.ResultMessage: "result",
    types.StreamEvent: "stream_event", types.RateLimitEvent: "rate_limit_event",
    types.ConversationResetMessage: "conversation_reset",
}


def line(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def shown(message: Any) -> dict[str, Any]:
    if isinstance(message, types.SystemMessage):
        return {"type": "system", "subtype": message.subtype, "data": message.data}
    members = dataclasses.asdict(message)
    content = getattr(message, "content", None)
    if isinstance(content, list):
        members["content"] = [{"type": BLOCKS[type(block)], **dataclasses.asdict(block)} for block in content]
    return {"type": MESSAGES[type(message)], **members}


class Run:
    """One run; it counts the requests, so that a step can wait for them."""

    def __init__(self, plan: dict[str, Any], program: str) -> None:
        self.plan = plan
        self.asked = asyncio.Condition()
        self.calls = 0
        self.answers = list(plan.get("permissions", []))
        self.options = self._options(program)
        self.client: sdk.ClaudeSDKClient | None = None
        self.messages: AsyncIterator[Any] | None = None
        self.task: str | None = None

    async def call(self, **what: Any) -> None:
        line(call=what)
        async with self.asked:
            self.calls += 1
            self.asked.notify_all()

    # Options and answers

    def _options(self, program: str) -> sdk.ClaudeAgentOptions:
        given = dict(self.plan.get("options", {}))
        if "system_prompt_append" in given:
            append = given.pop("system_prompt_append")
            given["system_prompt"] = {"type": "preset", "preset": "claude_code", "append": append}
        if "system_prompt_file" in given:
            given["system_prompt"] = {"type": "file", "path": given.pop("system_prompt_file")}
        if "output_schema" in given:
            given["output_format"] = {"type": "json_schema", "schema": given.pop("output_schema")}
        if "agents" in given:
            given["agents"] = {name: sdk.AgentDefinition(**agent) for name, agent in given["agents"].items()}
        if "settings" in given:
            given["settings"] = json.dumps(given["settings"])
        if "plugin" in given:
            given["plugins"] = [{"type": "local", "path": given.pop("plugin")}]
        servers = dict(given.pop("mcp_servers", {}))
        for name, tools in self.plan.get("tools", {}).items():
            servers[name] = sdk.create_sdk_mcp_server(name, tools=[self._tool(tool) for tool in tools])
        hooks: dict[str, list[sdk.HookMatcher]] = {}
        for hook in self.plan.get("hooks", []):
            on_failure = "block" if hook.get("block_on_failure") else None
            matcher = sdk.HookMatcher(matcher=hook.get("matcher"), hooks=[self._hook(hook)], on_failure=on_failure)
            hooks.setdefault(hook["event"], []).append(matcher)
        return sdk.ClaudeAgentOptions(
            cli_path=program, mcp_servers=servers, hooks=hooks or None,
            can_use_tool=self._permission if self.answers else None, **given)

    def _tool(self, plan: dict[str, Any]) -> Any:
        @sdk.tool(plan["name"], plan["description"], plan["schema"])
        async def run(arguments: dict[str, Any]) -> dict[str, Any]:
            await self.call(type="tool", name=plan["name"], arguments=arguments)
            content = {"content": [{"type": "text", "text": plan["text"]}]}
            return content | ({"is_error": True} if plan.get("is_error") else {})

        return run

    def _hook(self, plan: dict[str, Any]) -> Any:
        outputs = list(plan["outputs"])

        async def run(given: Any, tool_use_id: str | None, _: Any) -> Any:
            await self.call(type="hook", input=given, tool_use_id=tool_use_id)
            if plan.get("fails"):
                raise RuntimeError("the plan wants a hook that fails")
            return outputs.pop(0) if len(outputs) > 1 else outputs[0]

        return run

    async def _permission(self, name: str, given: dict[str, Any], context: Any) -> Any:
        await self.call(
            type="can_use_tool", tool=name, input=given,
            suggestions=[update.to_dict() for update in context.suggestions],
            **{key: getattr(context, key) for key in (
                "tool_use_id", "agent_id", "blocked_path", "decision_reason", "title", "display_name", "description")})
        fitting = [answer for answer in self.answers if answer.get("tool") in (None, name)]
        if len(fitting) > 1:
            self.answers.remove(fitting[0])
        answer = fitting[0]["answer"] if fitting else {"deny": {"message": "The plan has no answer"}}
        if answer == "hold":
            await asyncio.Event().wait()
        if answer == "panic":
            raise RuntimeError("the plan wants a handler that fails")
        if "deny" in answer:
            return sdk.PermissionResultDeny(**answer["deny"])
        allow = answer["allow"]
        changed = given | allow["input+"] if "input+" in allow else allow.get("updatedInput")
        updates = allow.get("updatedPermissions")
        return sdk.PermissionResultAllow(
            updated_input=changed,
            updated_permissions=updates and [types.PermissionUpdate.from_dict(update) for update in updates])

    # Steps

    async def play(self) -> None:
        for step in self.plan["steps"]:
            (name, value), = step.items()
            if name in ("query", "query_stream"):
                await self._query(value)
                continue
            if self.client is None:
                self.client = sdk.ClaudeSDKClient(self.options)
                try:
                    await self.client.connect()
                except sdk.ClaudeSDKError as error:
                    line(error={"kind": type(error).__name__, "text": str(error)})
                    return
                self.messages = self.client.receive_messages()
            await asyncio.wait_for(getattr(self, f"_{name}")(value), SECONDS_MAX)
        if self.client:
            await self.client.disconnect()

    async def _query(self, prompt: str | list[str]) -> None:
        async def prompts() -> AsyncIterator[dict[str, Any]]:
            for text in prompt:
                yield {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None}

        try:
            async for message in sdk.query(prompt=prompt if isinstance(prompt, str) else prompts(), options=self.options):
                line(message=shown(message))
        except Exception as error:  # The class of the exception is not part of the comparison.
            line(error={"kind": type(error).__name__, "text": str(error)})

    async def _send(self, prompt: Any) -> None:
        if isinstance(prompt, str):
            await self.client.query(prompt)
            return
        members = prompt if isinstance(prompt, dict) else {"message": {"role": "user", "content": prompt}}

        async def one() -> AsyncIterator[dict[str, Any]]:
            yield {"type": "user", "parent_tool_use_id": None, **members}

        await self.client.query(one())

    async def _read(self, read: dict[str, Any]) -> None:
        wanted, left = read.get("until", "result"), read.get("count", 1)
        while left:
            try:
                message = shown(await anext(self.messages))
            except StopAsyncIteration:
                return
            except Exception as error:
                line(error={"kind": type(error).__name__, "text": str(error)})
                return
            line(message=message)
            if message.get("subtype") == "task_started":
                self.task = message["data"]["task_id"]
            kind, detail = message["type"], message.get("subtype") or message.get("event", {}).get("type")
            left -= wanted in (kind, f"{kind}:{detail}")

    async def _wait_for_calls(self, count: int) -> None:
        async with self.asked:
            await self.asked.wait_for(lambda: self.calls >= count)

    async def _sleep_ms(self, time: int) -> None:
        await asyncio.sleep(time / 1000)

    async def _call(self, call: dict[str, Any]) -> None:
        client, given = self.client, call.get("with")
        given = self.task if given == "$task" else given
        name = call["name"]
        try:
            match name:
                case "interrupt":
                    value: Any = await client.interrupt() or True
                case "set_model":
                    value = await client.set_model(given)
                case "set_permission_mode":
                    value = await client.set_permission_mode(given)
                case "mcp_status":
                    value = (await client.get_mcp_status())["mcpServers"]
                case "context_usage":
                    value = await client.get_context_usage()
                case "server_info":
                    value = await client.get_server_info()
                case "reconnect_mcp_server":
                    value = await client.reconnect_mcp_server(given)
                case "disable_mcp_server":
                    value = await client.toggle_mcp_server(given, False)
                case "enable_mcp_server":
                    value = await client.toggle_mcp_server(given, True)
                case "rewind_files":
                    value = await client.rewind_files(given)
                case "stop_task":
                    value = await client.stop_task(given)
                case _:
                    raise SystemExit(f"no such call: {name}")
        except Exception as error:
            line(reply={"to": name, "refused": str(error)})
        else:
            line(reply={"to": name, "value": value})


async def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as plan:
        await Run(json.load(plan), sys.argv[2]).play()


if __name__ == "__main__":
    asyncio.run(main())
