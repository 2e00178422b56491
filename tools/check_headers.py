#!/usr/bin/env python3
"""L9: every header compiles alone. A source of the same name includes its header before all else, so the build has proved that
header. Every other one gets a one-line source in build/headers/ that is compiled with the project's warnings as errors, through
ccache where it is there. *-inl.h are meant to be included inside a region."""
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import house

WORK = house.ROOT / "build" / "headers"
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wno-sign-conversion", "-Wshadow", "-Wno-psabi",
         "-Werror", "-march=x86-64-v2", '-DVITRO_SOURCE_DIR="."', '-DVITRO_BINARY="vitro"', "-Isrc", "-Itests", "-I."]


def includes_itself_first(source: Path, header: Path) -> bool:
    """Nothing but comments stands before it. src is a root of includes."""
    text = house.strip(source.read_text(), "comment")
    name = house.relative(header).removeprefix("src/")
    return text.lstrip().startswith(f'#include "{name}"')


def has_source(header: Path) -> bool:
    """Whether a source of the same name is built: CMake takes all of src/ and cli/."""
    return house.relative(header).startswith(("src/", "cli/")) and header.with_suffix(".cc").exists()


def compile_alone(header: Path) -> str:
    """The compiler's message, empty if all is well."""
    name = house.relative(header)
    source = WORK / (name.replace("/", "__") + ".cc")
    text = f'#include "{name}"\n'
    if not source.exists() or source.read_text() != text:
        source.write_text(text)
    launcher = ["ccache"] if shutil.which("ccache") else []
    command = [*launcher, os.environ.get("CXX", "g++"), *FLAGS, "-c", str(source), "-o", str(source.with_suffix(".o"))]
    done = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip() or f"{command[0]} ended with {done.returncode}"


def main() -> None:
    report = house.Report("check_headers", ("L9",))
    WORK.mkdir(parents=True, exist_ok=True)
    headers = [path for path in house.files(".h") if not path.name.endswith("-inl.h")]
    alone = [header for header in headers if not has_source(header)]
    for header in filter(has_source, headers):
        source = header.with_suffix(".cc")
        if not includes_itself_first(source, header):
            report.add("L9", source, 1, f"does not include its own header, {header.name}, before all else")
    with ThreadPoolExecutor(min(4, len(os.sched_getaffinity(0)))) as pool:
        for header, message in zip(alone, pool.map(compile_alone, alone)):
            if message:
                report.add("L9", header, 1, "does not compile alone\n    " + "\n    ".join(message.splitlines()[:8]))
    print(f"{len(headers)} headers, {len(alone)} of them compiled alone here")
    report.finish()


if __name__ == "__main__":
    main()
