#!/usr/bin/env python3
"""Holds every #include against src/LAYERS.txt.

L1  a folder includes only itself and the folders its line names; CMake links from the same file
L2  a line names only folders above it (so there are no cycles); every folder of src/ has a line
L4  *-inl.h and intrinsics headers only inside kernels/ (and bench/, which measures the machine itself)
L5  test helpers (tests/, "testing/...") only from tests
"""
import re
from pathlib import Path

import house

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.MULTILINE)
INTRINSICS = re.compile(r"(^|/)([a-z]*mmintrin|immintrin|x86intrin|arm_neon|arm_sve)\.h$")
LAYERS = house.ROOT / "src" / "LAYERS.txt"
TEST_LIBRARIES = ("gtest/", "gmock/", "testing/", "tests/")


def read_layers(report: house.Report) -> dict[str, set[str]]:
    """Folder -> folders it may include (itself too)."""
    layers: dict[str, set[str]] = {}
    for number, line in enumerate(LAYERS.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        folder, _, uses = line.partition(":")
        for use in uses.split():
            if use not in layers:
                report.add("L2", LAYERS, number, f"{folder.strip()} may include {use}, which is not above it")
        layers[folder.strip()] = {folder.strip(), *uses.split()}
    for folder in sorted(path for path in (house.ROOT / "src").iterdir() if path.is_dir()):
        if folder.name not in layers and any(folder.rglob("*.[hc]*")):
            report.add("L2", LAYERS, 1, f"src/{folder.name} has no line")
    return layers


def layer_of(path: Path) -> str | None:
    """The folder of LAYERS.txt a source belongs to; tests, benchmarks and fuzz targets belong to none and may include all."""
    parts = path.relative_to(house.ROOT).parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return "cli" if parts[0] == "cli" else None


def check_include(path: Path, line: int, target: str, layers: dict[str, set[str]], report: house.Report) -> None:
    layer = layer_of(path)
    top = target.split("/")[0]
    if layer and layer not in layers:
        return  # said once by L2
    if layer and not house.is_test(path) and "/" in target and top in layers and top not in layers[layer]:
        report.add("L1", path, line, f'{layer} may not include "{target}"')
    if layer and layer != "kernels" and (target.endswith("-inl.h") or INTRINSICS.search(target)):
        report.add("L4", path, line, f'"{target}" belongs inside kernels/')
    if layer and not house.is_test(path) and target.startswith(TEST_LIBRARIES):
        report.add("L5", path, line, f'"{target}" is for tests')


def main() -> None:
    report = house.Report("check_layers", ("L1", "L2", "L4", "L5"))
    layers = read_layers(report)
    for path in house.files(".h", ".cc"):
        text = house.strip(path.read_text(), "comment")
        for match in INCLUDE.finditer(text):
            check_include(path, house.line_of(text, match.start(2)), match[2], layers, report)
    report.finish()


if __name__ == "__main__":
    main()
