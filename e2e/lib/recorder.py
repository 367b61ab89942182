"""A recording proxy between the CLI and `tidings rehearse api`, whose log has only the kinds of requests."""

from __future__ import annotations

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

SECONDS_MAX = 60


class Recorder:
    """Forwards everything to `upstream`. `url` is its address, `requests` the recorded requests in order."""

    def __init__(self, upstream: str) -> None:
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(urlsplit(upstream).netloc))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _handler(self, upstream: str) -> type[BaseHTTPRequestHandler]:
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self._pass_on(self.rfile.read(int(self.headers.get("content-length", 0))))

            def do_GET(self) -> None:
                self._pass_on(b"")

            def do_HEAD(self) -> None:
                self._pass_on(b"")

            def _pass_on(self, body: bytes) -> None:
                if body:
                    requests.append(json.loads(body))
                connection = http.client.HTTPConnection(upstream, timeout=SECONDS_MAX)
                headers = {key: value for key, value in self.headers.items() if key.lower() != "host"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                # Read to the end: these responses are short, and then their length is known.
                said = answer.read()
                self.send_response(answer.status)
                for key, value in answer.getheaders():
                    if key.lower() not in ("transfer-encoding", "content-length", "connection", "date", "server"):
                        self.send_header(key, value)
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)
                connection.close()

            def log_message(self, *_: object) -> None:
                """Discards the server's log."""

        return Handler

    def __enter__(self) -> Recorder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
