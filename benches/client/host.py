"""The program of `src/main.rs` with the official Python SDK: `host.py CLAUDE SESSIONS`."""

import asyncio
import sys

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient
from claude_agent_sdk.types import StreamEvent


async def read(client: ClaudeSDKClient, number: int) -> tuple[int, int]:
    await client.query("go")
    messages = deltas = letters = 0
    async for message in client.receive_response():
        messages += 1
        if messages == 1 and number == 0:
            print("first", flush=True)
        if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
            if message.event["delta"]["type"] == "text_delta":
                deltas += 1
                letters += len(message.event["delta"]["text"])
    return deltas, letters


async def main() -> None:
    options = ClaudeAgentOptions(cli_path=sys.argv[1], include_partial_messages=True)
    clients = [ClaudeSDKClient(options) for _ in range(int(sys.argv[2]))]
    await asyncio.gather(*(client.connect() for client in clients))
    stories = await asyncio.gather(*(read(client, number) for number, client in enumerate(clients)))
    print("done", *map(sum, zip(*stories)), flush=True)
    sys.stdin.readline()
    await asyncio.gather(*(client.disconnect() for client in clients))


asyncio.run(main())
