"""Clients of the server with only the standard library: HTTP requests, server-sent events, a WebSocket."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

SECONDS_MAX = 60


class Web:
    """Requests to one server, with one credential."""

    def __init__(self, address: str, token: str) -> None:
        self.host = urlsplit(address).netloc
        self.token = token

    def call(self, method: str, path: str, body: Any = None, key: str | None = None) -> tuple[int, Any]:
        """The status and the JSON of a response."""
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS_MAX)
        headers = self._headers()
        if key:
            headers["Idempotency-Key"] = key
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None

    def events(self, path: str, last_id: str | None = None) -> Iterator[dict[str, str]]:
        """The events of a stream as their fields. Closing the iterator closes the connection."""
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS_MAX)
        headers = self._headers()
        if last_id:
            headers["Last-Event-ID"] = last_id
        connection.request("GET", path, None, headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {answer.read()!r}")
        try:
            fields: dict[str, str] = {}
            while line := answer.readline():
                name, _, value = line.decode().rstrip("\n").partition(":")
                if name:
                    fields[name] = value.removeprefix(" ")
                elif "data" in fields:
                    yield fields
                    fields = {}
        finally:
            connection.close()

    def socket(self) -> Socket:
        """A WebSocket that authenticates with its first message, like a page."""
        opened = Socket(self.host, "/v1/ws")
        answer = opened.ask({"type": "auth", "token": self.token})
        if answer["type"] != "ack":
            raise RuntimeError(f"not authenticated: {answer}")
        return opened

    def phone(self) -> Socket:
        """A WebSocket of the phone protocol that authenticates with its first message."""
        opened = Socket(self.host, "/v1/mobile")
        opened.say({"type": "auth", "token": self.token})
        return opened

    def terminal(self, session: str) -> Socket:
        """The terminal of a session."""
        return Socket(self.host, f"/v1/sessions/{session}/terminal", [f"Authorization: Bearer {self.token}"])

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


class Socket:
    """A WebSocket of `tidings.v1`, or of the phone protocol."""

    def __init__(self, host: str, path: str, headers: list[str] | None = None) -> None:
        name, _, port = host.partition(":")
        self._socket = socket.create_connection((name, int(port)), timeout=SECONDS_MAX)
        self._file = self._socket.makefile("rb")
        self._requests = 0
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: tidings.v1"]
        lines += headers or []
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        status = self._file.readline()
        if b" 101 " not in status:
            raise RuntimeError(f"no WebSocket: {status!r}")
        while self._file.readline().strip():
            pass

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Sends a request, and returns its response; earlier events are stored for `hear`."""
        self._requests += 1
        self.say(request | {"id": self._requests})
        while (message := self._message()).get("id") != self._requests:
            self._aside.append(message)
        return message

    def say(self, message: dict[str, Any]) -> None:
        self._frame(1, json.dumps(message).encode())

    def press(self, keys: bytes) -> None:
        """Sends a binary message."""
        self._frame(2, keys)

    def hear(self) -> dict[str, Any]:
        """The next message that is not a response."""
        return self._aside.pop(0) if self._aside else self._message()

    def cut(self) -> None:
        """Disconnects without a close frame, like a phone."""
        self._file.close()
        self._socket.close()

    @property
    def _aside(self) -> list[dict[str, Any]]:
        return self.__dict__.setdefault("aside", [])

    def _message(self) -> dict[str, Any]:
        while isinstance(message := self.next(), bytes):
            pass
        return message

    def next(self) -> dict[str, Any] | bytes:
        """The next message, text or binary."""
        while True:
            first, second = self._file.read(2)
            length = second & 127
            if length >= 126:
                length = int.from_bytes(self._file.read(2 if length == 126 else 8))
            data = self._file.read(length)
            if first & 15 == 1:
                return json.loads(data)
            if first & 15 == 2:
                return data
            if first & 15 == 8:
                raise RuntimeError(f"closed with {int.from_bytes(data[:2])} {data[2:]!r}")
            if first & 15 == 9:
                self._frame(10, data)

    def _frame(self, kind: int, data: bytes) -> None:
        mask = os.urandom(4)
        length = len(data)
        if length < 126:
            size = bytes([128 | length])
        else:
            size = bytes([254]) + struct.pack(">H", length) if length < 1 << 16 else bytes([255]) + struct.pack(">Q", length)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        self._socket.sendall(bytes([128 | kind]) + size + mask + masked)
