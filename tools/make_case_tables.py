#!/usr/bin/env python3
"""Writes src/text/jinja/case_tables.inc: how Python's str maps and classes characters by case.

Taken from the str methods of the Python that runs this (3.11: Unicode 14), because templates are rendered by Python.
"""
import sys
import unicodedata
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src/text/jinja/case_tables.inc"
CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def ranges(test) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for code in CODES:
        if not test(chr(code)):
            continue
        if out and out[-1][1] == code - 1:
            out[-1] = (out[-1][0], code)
        else:
            out.append((code, code))
    return out


def is_case_ignorable(char: str) -> bool:
    """As CPython decides it for the final sigma: what does not end a word before it."""
    return ("A" + char + "\u03a3").lower()[-1] == "\u03c2" and ("\u03a3" + char).lower()[0] == "\u03c3" and not char.isalpha() or (
        unicodedata.category(char) in ("Mn", "Me", "Cf", "Lm", "Sk"))


def is_cased(char: str) -> bool:
    return char.lower() != char or char.upper() != char or char.title() != char or unicodedata.category(char) in ("Lu", "Ll", "Lt")


def mapping(name: str, method) -> list[str]:
    """{first, last, delta, step} for runs of single code points with one distance, then {code, three mapped}."""
    runs: list[list[int]] = []
    special: list[str] = []
    for code in CODES:
        mapped = method(chr(code))
        if mapped == chr(code):
            continue
        if len(mapped) > 1:
            codes = [ord(c) for c in mapped] + [0, 0]
            special.append(f"    {{0x{code:X}, {{0x{codes[0]:X}, 0x{codes[1]:X}, 0x{codes[2]:X}}}}},")
            continue
        delta = ord(mapped) - code
        if runs and runs[-1][2] == delta:
            first, last, _, step = runs[-1]
            gap = code - last
            if gap in (1, 2) and step in (0, gap):
                runs[-1] = [first, code, delta, gap]
                continue
        runs.append([code, code, delta, 0])
    lines = [f"constexpr CaseRun k{name}Runs[] = {{"]
    lines += [f"    {{0x{first:X}, 0x{last:X}, {delta}, {step or 1}}}," for first, last, delta, step in runs]
    return lines + ["};", f"constexpr CaseSpecial k{name}Specials[] = {{"] + special + ["};"]


def table(name: str, test) -> list[str]:
    lines = [f"constexpr CaseRange k{name}[] = {{"]
    return lines + [f"    {{0x{first:X}, 0x{last:X}}}," for first, last in ranges(test)] + ["};"]


def main() -> None:
    lines = [f"// Written by tools/make_case_tables.py from Python {sys.version_info.major}.{sys.version_info.minor}, "
             f"Unicode {unicodedata.unidata_version}. Do not edit.", "// clang-format off"]
    lines += mapping("Upper", str.upper)
    lines += mapping("Lower", str.lower)
    lines += mapping("Title", str.title)
    lines += mapping("Fold", str.casefold)
    lines += table("CasedRanges", is_cased)
    lines += table("UpperRanges", str.isupper)
    lines += table("LowerRanges", str.islower)
    lines += table("DecimalRanges", str.isdecimal)
    lines += table("DigitRanges", str.isdigit)
    lines += table("NumericRanges", str.isnumeric)
    lines += table("IgnorableRanges", is_case_ignorable)
    TARGET.write_text("\n".join(lines) + "\n// clang-format on\n")


if __name__ == "__main__":
    main()
