#!/usr/bin/env python3
"""Writes src/text/unicode_tables.inc: general categories and the tables of canonical composition (NFC).

Versions are those of the reference (the `tokenizers` package, 0.23): its regular expressions know Unicode 16.0, its
normaliser Unicode 9.0. Code points whose normalisation changed after 9.0 are listed below and left out of the NFC
tables.

    pip install unicodedata2==16.0.0 && python tools/make_unicode_tables.py
"""

import pathlib

import unicodedata2 as ucd

assert ucd.unidata_version == "16.0.0", f"needs unicodedata2==16.0.0, found {ucd.unidata_version}"

N_CODE_POINTS = 0x110000
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
LETTERS = {name: chr(ord("`") + i) for i, name in enumerate(CATEGORIES)}  # none needs an escape

# Marks and compositions that came after Unicode 9.0.
NEWER_THAN_9 = [
    (0x7FD, 0x7FD),
    (0x897, 0x89F),
    (0x8CA, 0x8D3),
    (0x9FE, 0x9FE),
    (0xC3C, 0xC3C),
    (0xD3B, 0xD3C),
    (0xEBA, 0xEBA),
    (0x1715, 0x1715),
    (0x1ABF, 0x1ACE),
    (0x1DF6, 0x1DFA),
    (0xA82C, 0xA82C),
    (0x105C9, 0x105C9),
    (0x105E4, 0x105E4),
    (0x10D24, 0x10D27),
    (0x10D69, 0x10D6D),
    (0x10EAB, 0x10EAC),
    (0x10EFD, 0x10EFF),
    (0x10F46, 0x10F50),
    (0x10F82, 0x10F85),
    (0x11070, 0x11070),
    (0x1133B, 0x1133B),
    (0x11383, 0x11383),
    (0x11385, 0x11385),
    (0x1138E, 0x1138E),
    (0x11391, 0x11391),
    (0x113C5, 0x113C5),
    (0x113C7, 0x113C8),
    (0x113CE, 0x113D0),
    (0x1145E, 0x1145E),
    (0x11839, 0x1183A),
    (0x11938, 0x11938),
    (0x1193D, 0x1193E),
    (0x11943, 0x11943),
    (0x119E0, 0x119E0),
    (0x11A34, 0x11A34),
    (0x11A47, 0x11A47),
    (0x11A99, 0x11A99),
    (0x11D42, 0x11D42),
    (0x11D44, 0x11D45),
    (0x11D97, 0x11D97),
    (0x11F41, 0x11F42),
    (0x16121, 0x16128),
    (0x1612F, 0x1612F),
    (0x16D68, 0x16D6A),
    (0x16FF0, 0x16FF1),
    (0x1E08F, 0x1E08F),
    (0x1E130, 0x1E136),
    (0x1E2AE, 0x1E2AE),
    (0x1E2EC, 0x1E2EF),
    (0x1E4EC, 0x1E4EF),
    (0x1E5EE, 0x1E5EF),
]
BLOCK_BITS, SHELF_BITS = 7, 6  # 128 code points a block, 64 blocks a shelf


def is_newer(code: int) -> bool:
    return any(first <= code <= last for first, last in NEWER_THAN_9)


def share(items: list) -> tuple[list[int], list]:
    """Numbers of the items in the list of distinct items, and that list."""
    distinct: dict = {}
    numbers = [distinct.setdefault(item, len(distinct)) for item in items]
    return numbers, list(distinct)


def wrap(numbers: list[str], width: int = 116) -> list[str]:
    lines, line = [], ""
    for number in numbers:
        if len(line) + len(number) + 1 > width:
            lines.append("    " + line)
            line = ""
        line += number + ","
    return lines + (["    " + line] if line else [])


def category_tables() -> list[str]:
    letters = "".join(LETTERS[ucd.category(chr(code))] for code in range(N_CODE_POINTS))
    size = 1 << BLOCK_BITS
    numbers, blocks = share([letters[i : i + size] for i in range(0, N_CODE_POINTS, size)])
    n = 1 << SHELF_BITS
    tops, shelves = share([tuple(numbers[i : i + n]) for i in range(0, len(numbers), n)])
    out = [
        f"constexpr int kBlockBits = {BLOCK_BITS};",
        f"constexpr int kShelfBits = {SHELF_BITS};",
        "// Shelf of each 8192 code points.",
        "constexpr uint8_t kShelfOf[] = {",
        *wrap([str(t) for t in tops]),
        "};",
        "// Blocks of each shelf.",
        f"constexpr uint16_t kBlockOf[][{n}] = {{",
    ]
    for shelf in shelves:
        lines = wrap([str(b) for b in shelf], 112)
        out += ["    {" + lines[0].strip(), *lines[1:-1], (lines[-1] if len(lines) > 1 else "    ") + "},"]
    out += [
        "};",
        "// One letter a code point: '`' + category.",
        "constexpr const char* kBlocks[] = {",
    ]
    return out + [f'    "{block}",' for block in blocks] + ["};"]


def class_runs() -> list[str]:
    runs: list[list[int]] = []
    for code in range(N_CODE_POINTS):
        ccc = 0 if is_newer(code) else ucd.combining(chr(code))
        if not ccc:
            continue
        if runs and runs[-1][1] == code - 1 and runs[-1][2] == ccc:
            runs[-1][1] = code
        else:
            runs.append([code, code, ccc])
    entries = [f"{{0x{a:X},0x{b:X},{ccc}}}" for a, b, ccc in runs]
    return [
        "// Canonical combining classes: first, last, class.",
        "constexpr ClassRun kClassRuns[] = {",
        *wrap(entries),
        "};",
    ]


def decompositions() -> list[tuple[int, int, int]]:
    out = []
    for code in range(N_CODE_POINTS):
        text = ucd.decomposition(chr(code))
        if text and not text.startswith("<") and not is_newer(code):
            parts = [int(part, 16) for part in text.split()]
            out.append((code, parts[0], parts[1] if len(parts) > 1 else 0))
    return out


def composition_tables() -> list[str]:
    table = decompositions()
    entries = [f"{{0x{code:X},0x{a:X},0x{b:X}}}" for code, a, b in table]
    pairs = [i for i, (code, a, b) in enumerate(table) if b and ucd.normalize("NFC", chr(a) + chr(b)) == chr(code)]
    pairs.sort(key=lambda i: table[i][1:])
    return [
        "// Canonical decompositions, one step: code point, first, second (0: a singleton).",
        "constexpr Decomposition kDecompositions[] = {",
        *wrap(entries),
        "};",
        "// Those that compose again, sorted by their parts: indices into kDecompositions.",
        "constexpr uint16_t kCompositions[] = {",
        *wrap([str(i) for i in pairs]),
        "};",
    ]


def main() -> None:
    head = ["// Generated by tools/make_unicode_tables.py; do not edit. Categories: Unicode 16.0; NFC: Unicode 9.0."]
    path = pathlib.Path(__file__).resolve().parent.parent / "src/text/unicode_tables.inc"
    path.write_text("\n".join(head + category_tables() + class_runs() + composition_tables()) + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
