#!/usr/bin/env python3
"""The documents tell the truth about names: links and their anchors resolve, paths and commands that they mention exist, every
document is reached from README.md, and no file of the project mentions a machine's own paths."""
import re
from pathlib import Path

import house

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
PATH = re.compile(r"(?<![\w./~$-])((?:src|cli|docs|scripts|tools|tests|bench|fuzz|cmake)/[\w./-]*[\w]|\.ci/run)(?![\w*{<])")
MAKE = re.compile(r"\bmake ([a-z]+)\b")
COMMAND = re.compile(r"(?<![\w/-])(?:build/release/)?vitro ([a-z]+)\b")
MACHINE_PATH = re.compile(r"(?<![\w.~}$)])/(?:work|tmp|root|home)/\w+")


def anchor(heading: str) -> str:
    """The anchor GitHub gives a heading."""
    text = re.sub(r"[`*]", "", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def check_links(path: Path, text: str, report: house.Report) -> set[Path]:
    """Reports broken links; returns the files linked to."""
    targets = set()
    for match in LINK.finditer(text):
        if re.match(r"[a-z]+:", match[1]):
            continue
        name, _, fragment = match[1].partition("#")
        target = (path.parent / name).resolve() if name else path
        line = house.line_of(text, match.start())
        if not target.exists():
            report.add("docs", path, line, f"link to {match[1]}, which does not exist")
        elif fragment and target.suffix == ".md" and fragment not in anchors(target):
            report.add("docs", path, line, f"link to {match[1]}, but there is no such heading")
        targets.add(target)
    return targets


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (house.ROOT / "Makefile").read_text(), re.MULTILINE))


def cli_commands() -> set[str]:
    """One file a command in cli/, or a name that the sources of cli/ register."""
    found = {path.stem for path in house.files(".cc") if house.relative(path).startswith("cli/")}
    for path in house.files(".cc", ".h"):
        if house.relative(path).startswith("cli/"):
            found |= set(re.findall(r'"([a-z]+)"', path.read_text()))
    return found


def check_mentions(path: Path, text: str, report: house.Report) -> None:
    """Paths, make targets and commands in code spans and code blocks."""
    targets, commands = make_targets(), cli_commands()
    for code in CODE.finditer(text):
        line = house.line_of(text, code.start())
        for name in PATH.findall(code[0]):
            if not (house.ROOT / name).exists():
                report.add("docs", path, line, f"mentions {name}, which does not exist")
        for name in MAKE.findall(code[0]):
            if name not in targets:
                report.add("docs", path, line, f"mentions `make {name}`, which the Makefile does not have")
        for name in COMMAND.findall(code[0]):
            if name not in commands:
                report.add("docs", path, line, f"mentions `vitro {name}`, which cli/ does not have")


def check_machine_paths(report: house.Report) -> None:
    for path in house.files(".md", ".h", ".cc", ".py", ".sh", ".cmake", ".txt", "Makefile", ".json", "run"):
        if path.stat().st_size > 1 << 20 or house.relative(path).startswith(("tests/golden/", "tests/data/")):
            continue
        text = path.read_text(errors="replace")
        for match in MACHINE_PATH.finditer(text):
            report.add("docs-path", path, house.line_of(text, match.start()), f"mentions {match[0]}, a place on one machine")


def main() -> None:
    report = house.Report("check_docs", ("docs", "docs-path"))
    reached = {house.ROOT / "README.md"}
    documents = house.files(".md")
    for path in documents:
        text = path.read_text()
        reached |= check_links(path, CODE.sub(lambda match: house.blank(match[0]), text), report)
        check_mentions(path, text, report)
    for path in documents:
        if path not in reached:
            report.add("docs", path, 1, "no document links to it")
    check_machine_paths(report)
    report.finish()


if __name__ == "__main__":
    main()
