#!/usr/bin/env python3
"""Writes src/text/step_tables.inc: the sets, mappings and scripts that normalizers and pre-tokenizers of tokenizer.json need.

The components of the `tokenizers` package (0.23) stand on libraries of different age. Asked for every code point, they know:

    Lowercase, Digits, Strip, WhitespaceSplit     Unicode 17.0 (standard library of Rust)
    Whitespace (\\w+|[^\\w\\s]+)                     Unicode 16.0 (regex; src/text/unicode_tables.inc has it)
    NFD, NFC, NFKD, NFKC, StripAccents            Unicode 9.0 (unicode-normalization-alignments)
    Punctuation, BertPreTokenizer, BertNormalizer Unicode 7.0 (unicode_categories)
    UnicodeScripts                                a table of its own, as SentencePiece has it, near Unicode 10.0
    Precompiled (grapheme clusters)               Unicode 17.0 (unicode-segmentation)

So each table is made by asking the package. What it cannot be asked directly, the kinds of grapheme cluster breaks, comes from
the `regex` package, whose newer marks are left out as the answers of Precompiled say.

    pip install tokenizers==0.23.3 regex==2026.11.19 && python tools/make_step_tables.py
"""

import pathlib
import struct
from collections.abc import Callable, Iterable

import regex
from tokenizers import normalizers, pre_tokenizers

CODES = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def runs(codes: Iterable[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for code in sorted(codes):
        if out and out[-1][1] == code - 1:
            out[-1] = (out[-1][0], code)
        else:
            out.append((code, code))
    return out


def value_runs(values: dict[int, int]) -> list[tuple[int, int, int]]:
    out: list[tuple[int, int, int]] = []
    for code, value in sorted(values.items()):
        if out and out[-1][1] == code - 1 and out[-1][2] == value:
            out[-1] = (out[-1][0], code, value)
        else:
            out.append((code, code, value))
    return out


def wrap(items: list[str], width: int = 116) -> list[str]:
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) + 1 > width:
            lines.append("    " + line)
            line = ""
        line += item + ","
    return lines + (["    " + line] if line else [])


def array(comment: str, kind: str, name: str, items: list[str]) -> list[str]:
    return [f"// {comment}", f"constexpr {kind} {name}[] = {{", *wrap(items), "};"]


def code_set(comment: str, name: str, codes: Iterable[int]) -> list[str]:
    return array(comment, "CodeRange", name, [f"{{0x{a:X},0x{b:X}}}" for a, b in runs(codes)])


def pieces(pre_tokenizer, text: str) -> list[str]:
    return [piece for piece, _ in pre_tokenizer.pre_tokenize_str(text)]


def sets() -> list[str]:
    punctuation, digits = pre_tokenizers.Punctuation("removed"), pre_tokenizers.Digits(False)
    nfd, accents = normalizers.NFD().normalize_str, normalizers.StripAccents().normalize_str
    clean = normalizers.BertNormalizer(True, False, False, False).normalize_str
    strip = normalizers.BertNormalizer(False, False, True, False).normalize_str
    between = lambda pre_tokenizer, code: pieces(pre_tokenizer, "a" + chr(code) + "a")
    return [
        *code_set("Punctuation.", "kPunctuation", (c for c in CODES if between(punctuation, c) == ["a", "a"])),
        *code_set("Numbers.", "kNumeric", (c for c in CODES if len(between(digits, c)) == 3)),
        *code_set("Marks: what StripAccents removes.", "kMarks", (c for c in CODES if not accents(chr(c)))),
        *code_set(
            "Nonspacing marks: what BertNormalizer removes after NFD.",
            "kNonspacing",
            (c for c in CODES if nfd(chr(c)) == chr(c) and not strip(chr(c))),
        ),
        *code_set("What BertNormalizer removes at first.", "kUnclean", (c for c in CODES if not clean(chr(c)))),
    ]


def lower_case() -> list[str]:
    lower = normalizers.Lowercase().normalize_str
    changed = {code: lower(chr(code)) for code in CODES if lower(chr(code)) != chr(code)}
    assert [code for code, text in changed.items() if len(text) > 1] == [0x130] and changed[0x130] == "i\u0307"
    entries: list[list[int]] = []  # first, last, step, difference
    for code, text in changed.items():
        if len(text) > 1:
            continue
        difference = ord(text) - code
        last = entries[-1] if entries else None
        if last and difference == last[3] and (code - last[1] == last[2] or (last[0] == last[1] and code - last[1] in (1, 2))):
            last[1:3] = [code, code - last[1]]
        else:
            entries.append([code, code, 1, difference])
    items = [f"{{0x{a:X},0x{b:X},{step},{difference}}}" for a, b, step, difference in entries]
    return array("Lower case, but for U+0130: first, last, step, difference.", "CaseRun", "kLowerCase", items)


def compatible() -> list[str]:
    """Decompositions of NFKD, all the way, of code points that NFD decomposes otherwise. Neighbours whose texts are equally long
    share an entry; their texts lie one after the other, and texts of other entries are used again where they fit."""
    nfd, nfkd = normalizers.NFD().normalize_str, normalizers.NFKD().normalize_str
    found = {code: nfkd(chr(code)) for code in CODES if nfkd(chr(code)) != nfd(chr(code))}
    groups: list[tuple[int, int, str]] = []
    for code, text in found.items():
        if groups and code == groups[-1][0] + len(groups[-1][2]) // groups[-1][1] and len(text) == groups[-1][1]:
            groups[-1] = (groups[-1][0], len(text), groups[-1][2] + text)
        else:
            groups.append((code, len(text), text))
    pool = ""
    entries = []
    for first, length, texts in sorted(groups, key=lambda group: -len(group[2])):
        if texts not in pool:
            pool += texts
        entries.append((first, len(texts) // length, length, pool.index(texts)))
    items = [f"{{0x{first:X},{count},{length},{at}}}" for first, count, length, at in sorted(entries)]
    assert all(count < 65536 and length < 256 and at < 65536 for _, count, length, at in entries)
    return [
        *array("Compatibility: first code point, how many, characters each, where in the pool.", "CompatibleRun", "kCompatible", items),
        *array("", "char32_t", "kCompatiblePool", [f"0x{ord(c):X}" for c in pool])[1:],
    ]


def unstable() -> list[str]:
    """Code points that a normal form may change in some surroundings: they decompose, are marks that get sorted, or compose with
    what stands before them. Hangul syllables compose with a following jamo, which is unstable itself."""
    nfd, nfc = normalizers.NFD().normalize_str, normalizers.NFC().normalize_str
    nfkd, nfkc = normalizers.NFKD().normalize_str, normalizers.NFKC().normalize_str
    # Two marks of class 220 and 230; a mark of another class than 0 changes its place with one of them.
    moves = lambda c: nfd("\u0301" + c) != "\u0301" + nfd(c) or nfd(c + "\u0334") != nfd(c) + "\u0334"
    seconds = {text[-1] for text in (nfd(chr(code)) for code in CODES if len(nfd(chr(code))) > 1)}
    seconds |= {chr(code) for code in [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]}
    sorted_ = {code for code in CODES if moves(chr(code)) and nfd(chr(code)) == chr(code)}
    always = sorted_ | {ord(second) for second in seconds}
    return [
        *code_set("May change in NFC.", "kUnstableNfc", always | {c for c in CODES if nfc(chr(c)) != chr(c)}),
        *code_set("In NFD.", "kUnstableNfd", sorted_ | {c for c in CODES if nfd(chr(c)) != chr(c)}),
        *code_set("In NFKC.", "kUnstableNfkc", always | {c for c in CODES if nfkc(chr(c)) != chr(c)}),
        *code_set("In NFKD.", "kUnstableNfkd", sorted_ | {c for c in CODES if nfkd(chr(c)) != chr(c)}),
    ]


def scripts() -> list[str]:
    """Numbers of scripts; 0: none, which joins everything. The names are of no use: only what is cut from what."""
    split = pre_tokenizers.UnicodeScripts()
    joins = lambda a, b: len(pieces(split, a + b)) == 1
    examples, numbers, last = ["a", "\u0431"], {}, 0
    for code in CODES:
        c = chr(code)
        if not pieces(split, c):  # characters of no script are dropped where they stand alone
            continue
        if not joins(examples[last], c):
            last = next((i for i, example in enumerate(examples) if joins(example, c)), len(examples))
            if last == len(examples):
                examples.append(c)
        numbers[code] = last + 1
    assert len(examples) < 256
    items = [f"{{0x{a:X},0x{b:X},{value}}}" for a, b, value in value_runs(numbers)]
    return array("Scripts: first, last, number.", "ValueRun", "kScripts", items)


def one_rule(key: str) -> bytes:
    """A compiled table of rules that replaces `key` by "!"."""
    units, at, node = {0: 256 << 10}, 256, 256
    for n, byte in enumerate(key.encode()):
        slot, at = at ^ byte, (n + 2) * 256
        units[slot] = byte | ((n + 1 == len(key.encode())) << 8) | ((slot ^ at) << 10)
        node = at
    units[node] = 0x80000000
    array_ = [units.get(i, 0) for i in range(node + 256)]
    return struct.pack(f"<{len(array_) + 1}I", 4 * len(array_), *array_) + b"!\0"


def grapheme_breaks() -> list[str]:
    names = ["Control", "Extend", "ZWJ", "Prepend", "SpacingMark", "L", "V", "T"]
    after_a = normalizers.Precompiled(one_rule("a")).normalize_str
    after_sign = normalizers.Precompiled(one_rule("\u00a9")).normalize_str
    follows: Callable[[int], bool] = lambda code: after_a("a" + chr(code)) == "!"
    is_picture: Callable[[int], bool] = lambda code: not follows(code) and after_sign("\u00a9\u200d" + chr(code)).startswith("\u00a9")
    values = {}
    for number, name in enumerate(names, 1):
        kind = regex.compile(rf"\p{{GCB={name}}}")
        for code in CODES:
            if kind.match(chr(code)) and (name not in ("Extend", "SpacingMark") or follows(code)):
                values[code] = number
    for code in CODES:
        assert follows(code) == (values.get(code) in (2, 3, 5)), hex(code)
        c = chr(code)
        values[code] = (
            values.get(code, 0)
            | 16 * is_picture(code)
            | 32 * bool(regex.match(r"\p{InCB=Consonant}", c))
            | 64 * bool(regex.match(r"\p{InCB=Linker}", c) and code not in (0x1CF5, 0x1CF6))
            | 128 * bool(regex.match(r"\p{InCB=Extend}", c) and values.get(code) in (2, 3))
        )
    items = [f"{{0x{a:X},0x{b:X},{value}}}" for a, b, value in value_runs({c: v for c, v in values.items() if v})]
    return array("Grapheme clusters: first, last, bits as in graphemes.cc.", "ValueRun", "kGraphemeKinds", items)


def main() -> None:
    lines = ["// Generated by tools/make_step_tables.py; do not edit."]
    for make in (sets, lower_case, compatible, unstable, scripts, grapheme_breaks):
        lines += make()
        print(make.__name__, len(lines), flush=True)
    path = pathlib.Path(__file__).resolve().parent.parent / "src/text/step_tables.inc"
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
