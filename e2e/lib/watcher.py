"""A subscriber that follows a session across servers, and reconnects with the cursor of the last event."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from .web import SECONDS_MAX, Web

LOST = (OSError, ValueError, RuntimeError, http.client.HTTPException)


class Watcher:
    """The events of one session in order, each with its cursor."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.seen: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.first: str | None = None
        self.after: str | None = None
        self._looked_at = 0
        self._events: Iterator[dict[str, Any]] = iter(())

    def join(self, web: Web, way: str) -> dict[str, Any]:
        """Reconnects over the WebSocket (`ws`) or server-sent events (`sse`); returns the session's state."""
        self._events = self._over_socket(web) if way == "ws" else self._over_stream(web)
        told = next(self._events)
        if self.after is None:
            self.first = self.after = told["from"]
        elif (told["verdict"], told["from"]) != ("ok", self.after):
            self.problems.append(f"reconnected after {self.after} and got the verdict {told['verdict']} from {told['from']}")
        return told

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next wanted event."""
        began = time.monotonic()
        while True:
            while self._looked_at < len(self.seen):
                event = self.seen[self._looked_at]["event"]
                self._looked_at += 1
                if wanted(event):
                    return event
            if time.monotonic() - began > SECONDS_MAX:
                raise RuntimeError(f"waited for too long; the last events: {self.seen[-5:]}")
            self._take(next(self._events))

    def until_named(self, name: str) -> Any:
        """The next event of this name."""
        return self.until(lambda event: name in event)[name]

    def catch_up(self, cursor: str) -> None:
        """Reads all events up to a cursor; `until` continues after them."""
        while int(self.after.split(":")[1]) < int(cursor.split(":")[1]):
            self._take(next(self._events))
        self._looked_at = len(self.seen)

    def drain(self) -> None:
        """Reads the events that a killed server had sent."""
        try:
            for each in self._events:
                self._take(each)
        except TimeoutError:
            raise
        except LOST:
            pass

    def _take(self, each: dict[str, Any]) -> None:
        self.seen.append(each)
        self.after = each["cursor"]

    def _over_socket(self, web: Web) -> Iterator[dict[str, Any]]:
        socket = web.socket()
        request = {"type": "subscribe", "session": self.key} | ({"after": self.after} if self.after else {})
        yield socket.ask(request)["subscribed"]
        try:
            while True:
                message = socket.hear()
                if message["type"] == "event" and message["session"] == self.key:
                    yield {"cursor": message["cursor"], "event": message["event"]}
        finally:
            socket.cut()

    def _over_stream(self, web: Web) -> Iterator[dict[str, Any]]:
        for fields in web.events(f"/v1/sessions/{self.key}/events", last_id=self.after):
            data = json.loads(fields["data"])
            yield data if fields["event"] == "subscribed" else {"cursor": fields["id"], "event": data}
