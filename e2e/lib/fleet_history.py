"""Clients of a fleet that work while it fails, and the checker of everything that they saw."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from .fleet import Member, until

# Statuses after which a client tries again: no connection, a limit, an owner that is not there now.
AGAIN = {0, 429, 502, 503, 504}


class History:
    """The events that clients received, to compare them with the stored ones."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.counts: Counter[str] = Counter()
        # Prompts that were acknowledged: session, idempotency key, text and cursor.
        self.acknowledged: list[tuple[str, str, str, str]] = []
        # Accepted answers of each request.
        self.winners: Counter[tuple[str, str]] = Counter()
        self.asked: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def problem(self, text: str) -> None:
        with self._lock:
            self.problems.append(text)

    def check(self, owner: Callable[[str], Member], members: list[Member], subscribers: list[Subscriber]) -> None:
        """Compares everything with the owners' journals."""
        stored: dict[str, list[tuple[int, Any]]] = {}
        for key in {subscriber.key for subscriber in subscribers}:
            stored[key] = owner(key).history(key)
            numbers = [seq for seq, _ in stored[key]]
            if numbers != list(range(1, len(numbers) + 1)):
                self.problem(f"{key}: the numbers of its owner have holes")
            self.counts["events stored"] += len(numbers)
            for member in members:
                self._compare(key, member, owner(key))
        for subscriber in subscribers:
            self._check_subscriber(subscriber, stored[subscriber.key])
        for key, client_id, text, cursor in self.acknowledged:
            at = [seq for seq, event in stored[key] if event.get("PromptQueued", {}).get("text") == text]
            if at != [int(cursor.partition(":")[2])]:
                self.problem(f"{key}: the prompt {client_id} was acknowledged at {cursor} and is stored at {at}")
        for request in self.asked:
            if self.winners[request] > 1:
                self.problem(f"{request}: {self.winners[request]} answers were accepted")
        self.counts["prompts acknowledged"] = len({(key, client_id) for key, client_id, *_ in self.acknowledged})
        self.counts["requests answered"] = len(self.asked)
        for member in members:
            if (twice := member.root / "twice").exists():
                self.problem(f"{member.name}: two processes of one session: {twice.read_text().split()}")

    def _compare(self, key: str, member: Member, owner: Member) -> None:
        """A server has the events of the owner, which may still add one, such as the end of an idle agent."""
        def is_same() -> bool:
            return member.history(key) == owner.history(key)

        try:
            until(f"{key}: {member.name} has the events of its owner", is_same, 30)
        except AssertionError as error:
            self.problem(f"{error}: {len(member.history(key))} and {len(owner.history(key))}")

    def _check_subscriber(self, subscriber: Subscriber, stored: list[tuple[int, Any]]) -> None:
        bodies = dict(stored)
        self.problems += subscriber.problems
        self.counts["events read"] += len(subscriber.seen)
        self.counts["resumed"] += subscriber.resumed
        seen = [seq for seq, _ in subscriber.seen]
        if seen != list(range(1, len(seen) + 1)):
            self.problem(f"{subscriber.key}: a subscriber got lost, repeated or disordered events: {seen}")
        if any(bodies.get(seq) != body for seq, body in subscriber.seen):
            self.problem(f"{subscriber.key}: a subscriber got other events than its owner stored")


class Worker(threading.Thread):
    """A client that works until it is stopped."""

    def __init__(self, history: History, chance: random.Random, members: list[Member], key: str) -> None:
        super().__init__(daemon=True)
        self.history, self.chance, self.members, self.key = history, random.Random(chance.random()), members, key
        self.stopping = threading.Event()

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                self.work()
        except Exception as error:
            self.history.problem(f"a client failed: {type(error).__name__}: {error}")

    def work(self) -> None:
        raise NotImplementedError


class Subscriber(Worker):
    """Reads a session at random servers; cuts the connection at random, and resumes elsewhere."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: list[tuple[int, Any]] = []
        self.problems: list[str] = []
        self.after: str | None = None
        self.resumed = 0

    def work(self) -> None:
        member = self.chance.choice(self.members)
        end = time.monotonic() + self.chance.uniform(0.1, 2)
        try:
            self._read(member, self.chance.randint(1, 60), end)
        except (OSError, http.client.HTTPException, ValueError):
            pass
        if not self.stopping.wait(0.05):
            self.resumed += 1

    def _read(self, member: Member, count: int, end: float) -> None:
        link = member.local(1)
        headers = {"Authorization": f"Bearer {member.token}"}
        if self.after:
            headers["Last-Event-ID"] = self.after
        fields: dict[str, str] = {}
        try:
            link.request("GET", f"/v1/sessions/{self.key}/events?deltas=all", None, headers)
            answer = link.getresponse()
            while answer.status == 200 and count and time.monotonic() < end and (line := answer.readline()):
                name, _, value = line.decode().rstrip("\n").partition(":")
                if name:
                    fields[name] = value.strip()
                    continue
                if "data" in fields:
                    count -= self._take(member, fields)
                fields = {}
        finally:
            link.close()

    def _take(self, member: Member, fields: dict[str, str]) -> int:
        data = json.loads(fields["data"])
        if fields.get("event") == "subscribed":
            if self.after and (data["verdict"], data["from"]) != ("ok", self.after):
                self.problems.append(f"{self.key}: {member.name} resumed after {self.after} with {data['verdict']} from {data['from']}")
            return 0
        if "id" not in fields:
            return 0
        self.after = fields["id"]
        self.seen.append((int(self.after.partition(":")[2]), data))
        return 1

    def finish(self, member: Member, head: int) -> None:
        """Reads the rest."""
        end = time.monotonic() + 60
        while len(self.seen) < head and time.monotonic() < end:
            try:
                self._read(member, head - len(self.seen), end)
            except (OSError, http.client.HTTPException, ValueError):
                pass


class Steerer(Worker):
    """Sends prompts with idempotency keys, twice from two places, and answers each request from two places."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.number = 0
        self.slowest = 0.0

    def work(self) -> None:
        self.number += 1
        text, client_id = f"note {self.key[-4:]}-{self.number}", f"key-{self.number}"
        if self._prompt(text, client_id):
            self._answer()

    def _both(self, method: str, path: str, bodies: list[Any], key: str | None = None) -> list[tuple[int, Any]]:
        """The same request through two servers at once."""
        results: list[tuple[int, Any]] = []
        places = self.chance.sample(self.members, 2)
        threads = [
            threading.Thread(target=lambda m=member, b=body: results.append(m.call(method, path, b, key=key, seconds=40)))
            for member, body in zip(places, bodies)
        ]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        return results

    def _prompt(self, text: str, client_id: str) -> bool:
        """Sends a prompt until it is acknowledged; the same key every time."""
        while not self.stopping.is_set():
            body = {"content": text}
            results = self._both("POST", f"/v1/sessions/{self.key}/input", [body, body], client_id)
            self.history.counts["prompts sent"] += len(results)
            taken = [answer["cursor"] for status, answer in results if status in (200, 202)]
            for status, answer in results:
                if status not in AGAIN | {200, 202}:
                    self.history.problem(f"{self.key}: a prompt was refused: {status} {answer}")
            for cursor in taken:
                self.history.acknowledged.append((self.key, client_id, text, cursor))
            if taken:
                return True
            time.sleep(0.2)
        return False

    def _answer(self) -> None:
        """Answers the request of the turn, and waits for the end of the turn."""
        while not self.stopping.is_set():
            member = self.chance.choice(self.members)
            if ask := member.pending(self.key):
                request = (self.key, ask["tool_use_id"])
                self.history.asked.add(request)
                path = f"/v1/sessions/{self.key}/permissions/{ask['tool_use_id']}"
                digest = ask["details"]["digest"]
                answers = [{"decision": word, "digest": digest} for word in self.chance.sample(["allow", "deny"], 2)]
                for status, answer in self._both("POST", path, answers):
                    self.history.counts["answers sent"] += 1
                    self.history.winners[request] += status == 200
                    if status not in AGAIN | {200, 409}:
                        self.history.problem(f"{request}: an answer was refused: {status} {answer}")
            state = (member.session(self.key) or {}).get("state")
            if not ask and state not in (None, "running", "starting", "needs_you") and self._is_over(member):
                return
            time.sleep(0.05)

    def _is_over(self, member: Member) -> bool:
        """True if the last prompt has ended on this server: a replica may be behind."""
        cursors = [cursor for key, client_id, _, cursor in self.history.acknowledged if (key, client_id) == (self.key, f"key-{self.number}")]
        head = int((member.session(self.key) or {}).get("head", 0))
        return bool(cursors) and head > int(cursors[-1].partition(":")[2])
