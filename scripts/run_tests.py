#!/usr/bin/env python3
"""Runs the test programs of a build folder and adds up what GoogleTest says.

    scripts/run_tests.py build/release [--no-models] [--only REGEX] [--jobs N] [--report FILE.json]

A program that dies counts as one failure more. A skipped test is a failure where the shared data folder is present,
because there everything must run; excused are only tests of a real model that was not downloaded and of an
instruction set that this processor lacks. --no-models hides the model cache (sanitizer builds are too slow for them).
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXCUSED_SKIP = re.compile(r"vitro pull|processor", re.IGNORECASE)
TAIL_LINES = 60


@dataclass
class Outcome:
    """What one test program did."""
    name: str
    passed: int = 0
    failures: list[str] = field(default_factory=list)
    skips: list[tuple[str, str]] = field(default_factory=list)  # test, reason
    seconds: float = 0.0


def test_commands(build: Path) -> dict[str, list[str]]:
    """Name -> command line, as CMake registered them."""
    listing = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True)
    return {test["name"]: test.get("command", [test["name"]]) for test in json.loads(listing.stdout)["tests"]}


def read_report(path: Path, outcome: Outcome) -> None:
    """Adds the cases of a GoogleTest XML report."""
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        failures = case.findall("failure")
        skip = case.find("skipped")
        if case.get("status") == "notrun":
            continue
        if failures:
            outcome.failures.append(f"{name}\n" + "\n".join(failure.get("message", "") for failure in failures))
        elif skip is not None or case.get("result") == "skipped":
            message = (skip.get("message") or "") if skip is not None else ""
            outcome.skips.append((name, message.strip().splitlines()[-1] if message.strip() else "no reason given"))
        else:
            outcome.passed += 1


def run_program(name: str, command: list[str], timeout: float, env: dict[str, str]) -> Outcome:
    outcome = Outcome(name)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vitro-test-") as folder:
        report = Path(folder) / "report.xml"
        try:
            done = subprocess.run([*command, f"--gtest_output=xml:{report}"], stdin=subprocess.DEVNULL, timeout=timeout,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env)
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired as expired:
            status, output = f"over {timeout:.0f} s", (expired.stdout or b"").decode(errors="replace")
        except OSError as error:
            status, output = f"{error.strerror}: was it built?", ""
        if report.exists():
            read_report(report, outcome)
        if status != 0 and not outcome.failures:
            tail = "\n".join(output.splitlines()[-TAIL_LINES:])
            outcome.failures.append(f"{name} ended badly ({status})\n{tail}")
        elif not outcome.failures and not outcome.passed and not outcome.skips:
            outcome.failures.append(f"{name} ran no test")
    outcome.seconds = time.monotonic() - start
    return outcome


def judge_skips(outcome: Outcome, is_shared_present: bool) -> None:
    """Turns skips that have no excuse into failures."""
    for test, reason in outcome.skips:
        if is_shared_present and not EXCUSED_SKIP.search(reason):
            outcome.failures.append(f"{test} was skipped although the shared data is there: {reason}")


def print_outcome(outcome: Outcome) -> None:
    counts = f"{outcome.passed} passed, {len(outcome.failures)} failed"
    if outcome.skips:
        counts += f", {len(outcome.skips)} skipped"
    print(f"  {outcome.name:24} {counts:40} {outcome.seconds:7.1f} s", flush=True)
    for failure in outcome.failures:
        print("    FAILED " + failure.replace("\n", "\n      "), flush=True)


def print_skips(outcomes: list[Outcome]) -> None:
    for reason, count in Counter(reason for outcome in outcomes for _, reason in outcome.skips).items():
        print(f"skipped: {count} tests: {reason}", flush=True)


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="a configured and built folder, e.g. build/release")
    parser.add_argument("--no-models", action="store_true", help="behave as if no model had been downloaded")
    parser.add_argument("--only", default="", metavar="REGEX", help="test programs to run (default: all)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="programs at a time (default: CPUs)")
    parser.add_argument("--timeout", type=float, default=900, help="seconds a program may take (default: 900)")
    parser.add_argument("--report", type=Path, help="writes {passed, failed, skipped} as JSON")
    return parser.parse_args()


def main() -> int:
    args = parse_args()
    env = dict(os.environ)
    if args.no_models:
        env["VITRO_CACHE"] = "/nonexistent"
    is_shared_present = Path(env.get("VITRO_SHARED") or ROOT / ".." / "shared").is_dir()
    commands = {name: c for name, c in test_commands(args.build).items() if re.search(args.only, name)}
    start = time.monotonic()
    outcomes = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for outcome in pool.map(lambda item: run_program(*item, args.timeout, env), commands.items()):
            judge_skips(outcome, is_shared_present)
            print_outcome(outcome)
            outcomes.append(outcome)
    print_skips(outcomes)
    total = {"passed": sum(o.passed for o in outcomes), "failed": sum(len(o.failures) for o in outcomes),
             "skipped": sum(len(o.skips) for o in outcomes)}
    if not total["passed"] and not total["failed"]:
        print(f"no test of {args.build} passed: was it built with tests?")
        total["failed"] = 1
    if args.report:
        args.report.write_text(json.dumps(total))
    print(f"{len(outcomes)} programs in {time.monotonic() - start:.1f} s: "
          f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
