#!/usr/bin/env python3
"""Runs the commands that documents show and writes what they print below them: make_shown_output.py VITRO DOCUMENT...

In a block between bare ``` lines, a line "$ command" is a command; the lines up to the next command or the end of the block are its
output. tests/plan_cli_test.cc compares them. `vitro` in a command is the program VITRO; the folder is the repository's.
"""
import os
import subprocess
import sys
from pathlib import Path

import house


def output_of(command: str, vitro: Path) -> list[str]:
    environment = dict(os.environ, PATH=f"{vitro.parent}:{os.environ['PATH']}")
    ran = subprocess.run(command, shell=True, cwd=house.ROOT, env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return ran.stdout.splitlines()


def refreshed(lines: list[str], vitro: Path) -> list[str]:
    out, is_inside, has_command = [], False, False
    for line in lines:
        if line.startswith("```"):
            is_inside = not is_inside and line == "```"
            has_command = False
        elif is_inside and line.startswith("$ "):
            has_command = True
            out += [line, *output_of(line[2:], vitro)]
            continue
        if not (is_inside and has_command):
            out.append(line)
    return out


def main() -> None:
    vitro = Path(sys.argv[1]).resolve()
    for name in sys.argv[2:]:
        path = Path(name)
        path.write_text("\n".join(refreshed(path.read_text().splitlines(), vitro)) + "\n")


if __name__ == "__main__":
    main()
