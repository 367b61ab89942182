#!/usr/bin/env python3
"""The result of every case of a run, for all stages in one form: one JSON object per line,
{"stage", "case", "tries", "ok", "problem"}.

usage: scripts/results.py junit STAGE JUNIT.xml RESULTS    appends the cases of cargo-nextest to RESULTS
       scripts/results.py flaky RESULTS FLAKY.json         lists the cases that passed on a later try, and writes them to FLAKY.json;
                                                           exit code 1 if there are too many
"""

from __future__ import annotations

import json
import sys
import textwrap
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass
from pathlib import Path

TRIES_MAX = 3
# More flaky cases fail the run: so many at once indicate a broken change rather than a busy machine.
FLAKY_MAX = 3
# The failure of an earlier try is printed too: the file with all of it is gone when CI removes its checkout.
PROBLEM_LINES_MAX = 12


@dataclass
class Result:
    """One case of one run."""

    stage: str
    case: str
    tries: int
    ok: bool
    problem: str = ""

    @property
    def is_flaky(self) -> bool:
        return self.ok and self.tries > 1


def read(path: Path) -> list[Result]:
    """The results in a file; empty if it does not exist."""
    if not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text().splitlines()]


def append(path: Path, results: list[Result]) -> None:
    with path.open("a") as file:
        file.writelines(json.dumps(asdict(result)) + "\n" for result in results)


def read_junit(stage: str, path: Path) -> list[Result]:
    """The cases of a cargo-nextest report. A failed try is a child of its case, also if the last one passed."""
    found = []
    for suite in ElementTree.parse(path).iter("testsuite"):
        for case in suite.iter("testcase"):
            last = case.find("failure") if case.find("failure") is not None else case.find("error")
            earlier = [*case.iter("flakyFailure"), *case.iter("flakyError"), *case.iter("rerunFailure"), *case.iter("rerunError")]
            problems = ([last] if last is not None else []) + earlier
            name = f"{suite.get('name')} {case.get('name')}"
            problem = (problems[0].text or problems[0].get("message") or "") if problems else ""
            found.append(Result(stage, name, 1 + len(earlier), last is None, problem[-4000:]))
    return found


def report_flaky(results: list[Result], path: Path) -> bool:
    """Prints the cases that passed only on a later try; returns whether they are few enough."""
    flaky = [result for result in results if result.is_flaky]
    path.write_text(json.dumps([asdict(result) for result in flaky], indent=2) + "\n")
    for result in flaky:
        print(f"flaky: {result.stage}: {result.case}, tries {result.tries} of {TRIES_MAX}")
        print(textwrap.indent("\n".join(result.problem.strip().splitlines()[-PROBLEM_LINES_MAX:]), "    "))
    if len(flaky) > FLAKY_MAX:
        print(f"error: {len(flaky)} flaky cases, at most {FLAKY_MAX} are accepted; {path} has the failures", file=sys.stderr)
    return len(flaky) <= FLAKY_MAX


def main(args: list[str]) -> int:
    match args:
        case ["junit", stage, junit, results]:
            append(Path(results), read_junit(stage, Path(junit)))
            return 0
        case ["flaky", results, flaky]:
            return 0 if report_flaky(read(Path(results)), Path(flaky)) else 1
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
