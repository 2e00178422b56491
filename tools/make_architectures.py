#!/usr/bin/env python3
"""Writes docs/architectures.md from what `vitro verify --all` measures on the goldens: tools/make_architectures.py [--check]

Needs build/release/vitro (--vitro names another). The reference kernels compute the numbers on one thread, so that they are
the same on every machine, and errors are rounded up to one digit. What a family is stands at the top of its source file.
--check compares instead of writing and exits 1 on a difference.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import golden_twin

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "architectures.md"
FAMILIES = ROOT / "src" / "model" / "arch"

TEXT = """\
# Families

<!-- Written by tools/make_architectures.py. -->

What runs, and how far it is from transformers. Each row is a tiny checkpoint of `tests/golden`, with random weights in bfloat16, and what
transformers computed from it in float32. Compared are, for inputs of 1 to 60 tokens: logits, hidden states of every layer and the
attention maps; the rotary tables up to position 100,000; every row of logits token by token against the whole pass, bit for bit; greedy
text. `tests/goldens_test.cc` does so with every kernel table, `vitro verify --all tests/golden` with the one of this machine.

Errors are the largest of all inputs, computed by the reference kernels and rounded up to one digit. Logits and hidden states:
max|a - b| / L2 norm of the reference's row, at most 1e-5. Attention maps: absolute, at most 1e-4. Rotary tables: as a part of what the
reference's own float32 angles allow, at most 1. The last column is the logits' error of the GGUF twin, the same weights as llama.cpp's
converter writes them (`tools/golden_twin.py` makes the files).

{goldens}

{silent}
Checkpoints of these families that only need another configuration (Llama 1 to 3.2, SmolLM2, TinyLlama, GPT-2 XL, Pythia, ...) work
without new code. `vitro show MODEL --config` shows how a file was understood. Quantised weights are proven on real models:
SmolLM2-135M-Instruct (Q4_1) and Gemma 3 270M (Q4_K_M), see [how it is known to be right](architecture.md#how-it-is-known-to-be-right).

## One file each

{families}

## Described, not run yet

Read, bound, counted and planned; the forward pass refuses them and names what it lacks.

{described}
{differs}"""


def measure(vitro: Path) -> list[dict]:
    """The rows of `vitro verify --all --json` over tests/golden and its twins."""
    with tempfile.TemporaryDirectory() as folder:
        for name in golden_twin.twin_names():
            (Path(folder) / f"{name}.gguf").write_bytes(golden_twin.read_twin(name))
        command = [vitro, "verify", "--all", golden_twin.GOLDEN, "--twins", folder, "--threads", "1", "--json"]
        done = subprocess.run(command, env={**os.environ, "VITRO_ISA": "reference"}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}make_architectures: the goldens do not pass")
    return [json.loads(line) for line in done.stdout.splitlines()]


def rounded_up(error: float | None) -> str:
    """One significant digit, never less than the error."""
    if not error:
        return "-" if error is None else "0"
    exponent = math.floor(math.log10(error))
    digit = math.ceil(error / 10.0 ** exponent)
    return f"{digit}e{exponent:+03d}" if digit < 10 else f"1e{exponent + 1:+03d}"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def twin_cell(row: dict) -> str:
    twin = row["twin"]
    if twin is None:
        return "no twin"
    if not twin["passed"]:
        return "another model" if twin["cannot_say"] else "FAIL"
    return rounded_up(twin["logits_error"])


def golden_row(row: dict) -> list[str]:
    cells = [f"`{row['name']}`", row["family"] or "-", row["attention"] or "-", row["positions"] or "-"]
    if row["verdict"] == "not implemented":
        return cells + ["not implemented", "-", "-", "-", "-"]
    errors = (row[f"{kind}_error"] for kind in ("logits", "hidden", "attention", "rope"))
    return cells + [rounded_up(error) for error in errors] + [twin_cell(row)]


def silent_facts(rows: list[dict]) -> str:
    """Which twins are other models, because GGUF has no place for a fact."""
    facts = [f"`{row['name']}` ({', '.join(row['twin']['cannot_say'])})" for row in rows
             if row["twin"] and not row["twin"]["passed"] and row["twin"]["cannot_say"]]
    return f"GGUF has no place for some facts: {', '.join(facts)}. These twins load and run as their metadata says.\n" if facts else ""


def family_files() -> list[tuple[Path, list[str], str]]:
    """(file, names of its families, what its first comment says), by file name."""
    found = []
    for path in sorted(FAMILIES.glob("*.cc")):
        text = path.read_text()
        names = re.findall(r"const Architecture k\w+ = \{\s*\.name = \"([^\"]+)\"", text)
        if names:
            comment = re.match(r"(?://[^\n]*\n)+", text)[0]
            found.append((path, names, " ".join(line.removeprefix("//").strip() for line in comment.splitlines())))
    return found


def families_table(measured: set[str], runs: bool) -> str:
    """The families that have a golden among the rows, or the others."""
    return table(["family", "file", "what it is"],
                 [[", ".join(names), f"`{path.relative_to(ROOT)}`", about] for path, names, about in family_files()
                  if bool(measured & set(names)) == runs])


def differences(rows: list[dict]) -> str:
    """What families say of themselves, each once."""
    said = dict.fromkeys((row["family"], row["differs"]) for row in rows if row["differs"])
    if not said:
        return ""
    lines = "".join(f"- {family}: {differs}\n" for family, differs in said)
    lines += "".join(f"- The numbers of `{row['name']}` are met to the last of them with a mistake of the reference repeated: "
                     f"{row['repeated_fault']}.\n" for row in rows if row["repeated_fault"])
    return f"\n## Where they differ from transformers\n\n{lines}"


def document(vitro: Path) -> str:
    rows = measure(vitro)
    measured = {row["family"] for row in rows}
    head = ["golden", "family", "attention", "positions", "logits", "hidden states", "attention maps", "rotary tables", "GGUF"]
    return TEXT.format(goldens=table(head, [golden_row(row) for row in rows]), silent=silent_facts(rows),
                       families=families_table(measured, True), described=families_table(measured, False),
                       differs=differences(rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    parser.add_argument("--vitro", type=Path, default=ROOT / "build" / "release" / "vitro", help="the program to measure")
    args = parser.parse_args()
    text = document(args.vitro)
    if not args.check:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        print(f"{TARGET.relative_to(ROOT)} is not what is measured now; run tools/make_architectures.py and look at the difference",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
