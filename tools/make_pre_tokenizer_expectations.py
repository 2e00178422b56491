#!/usr/bin/env python3
"""Writes tests/data/tokens/pre-tokenizers.json: what the reference's pre-tokenizers make of texts.

    pip install tokenizers==0.23.3 && python tools/make_pre_tokenizer_expectations.py

{"texts": [...],
 "components": [{"pre_tokenizer": as in tokenizer.json, "pieces": per text [[piece, first, end], ...] in code points}],
 "code_points": {question: [number of runs, digest]}}: runs of code points with the same answer, surrogates left out.
"""

import itertools
import json
import pathlib
from collections.abc import Callable

from tokenizers import Tokenizer, pre_tokenizers

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens/pre-tokenizers.json"
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
CODES = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def split(pattern: dict, behavior: str, invert: bool = False) -> dict:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(*parts: dict) -> dict:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def metaspace(**options) -> dict:
    return {"type": "Metaspace", "replacement": "\u2581", **options}


COMPONENTS = [
    *(split({"String": "a"}, behavior, invert) for behavior in BEHAVIORS for invert in (False, True)),
    *(split({"Regex": r"[\s-]"}, behavior, invert) for behavior in BEHAVIORS for invert in (False, True)),
    split({"String": ""}, "Isolated"),
    split({"Regex": ""}, "Removed"),
    split({"String": "a.b"}, "Isolated"),
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    {"type": "Punctuation"},
    {"type": "Digits", "individual_digits": True},
    {"type": "Digits", "individual_digits": False},
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "CharDelimiterSplit", "delimiter": "-"},
    {"type": "CharDelimiterSplit", "delimiter": "\u4e2d"},
    {"type": "BertPreTokenizer"},
    {"type": "UnicodeScripts"},
    {"type": "FixedLength", "length": 3},
    {"type": "FixedLength"},
    *(metaspace(prepend_scheme=scheme, split=cuts) for scheme in ("always", "first", "never") for cuts in (True, False)),
    metaspace(),
    metaspace(add_prefix_space=True, str_rep="\u2581"),
    metaspace(add_prefix_space=False, prepend_scheme="never"),
    {"type": "Metaspace", "replacement": " ", "prepend_scheme": "always"},
    *({"type": "ByteLevel", "add_prefix_space": adds, "trim_offsets": True, "use_regex": cuts}
      for adds in (True, False) for cuts in (True, False)),
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False},
    sequence(),
    sequence({"type": "WhitespaceSplit"}, metaspace(prepend_scheme="first")),
    sequence({"type": "WhitespaceSplit"}, metaspace()),
    sequence({"type": "UnicodeScripts"}, {"type": "Digits", "individual_digits": True}, {"type": "Punctuation"}),
    sequence(metaspace(), {"type": "FixedLength", "length": 2}),
    sequence(split({"String": "-"}, "Removed"),
             {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}),
    sequence({"type": "Whitespace"}, sequence({"type": "Digits", "individual_digits": False}, {"type": "FixedLength", "length": 4})),
]

TEXTS = [
    "", " ", "  ", "a", "aa", "-", "--", "ab-ca--b", " a  b\t\nc ", "Hello, world! It's 12:30.", "x=3.14159e-10; // $5",
    "the-final--countdown", "\u2581a \u2581 b", "a.b axb a.b", "1\u00bd2\u2167\u0663 \U0001d7ce\U00011de0\u4e09", "\u00b2x\u00b3 n\u00b9",
    "caf\u00e9 cafe\u0301 e\u0301\u0323", "\u0345\u0301 \u0300a", "\u1112\u1161\u11ab \ud55c\uae00 \uac01", "\u4eca\u5929\u5929\u6c14\u3002\u4e2d\u6587abc\u4e2d",
    "\u3053\u3093\u306b\u3061\u306f\u30ab\u30bf\u30ab\u30ca\u30fc\u6f22\u5b57", "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd \U0001f1e9\U0001f1ea 1\ufe0f\u20e3",
    "\u0130stanbul \u0131i\u0307 \u01c5", "\ufb01ne \ufb03 \ufdfa", "a\u00a0b\u2003c\u3000d\u0085e\u2028f\u200bg\ufeffh\u180ei", "\u0000\u0001\u001f\u007f\u009f\u00ad",
    "\u041f\u0440\u0438\u0432\u0435\u0442world\u0393\u03b5\u03b9\u03ac", "\u0645\u0631\u062d\u0628\u0627\u060c \u0661\u0662\u0663", "\u0928\u092e\u0938\u094d\u0924\u0947\u0964", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "a_b\u203fc\u2040d __init__", "\u24b6\u24d0 \U0001f130 x\u200cy\u200dz", "\U000e0001\U000f0000\U0010ffff\u0378 \u0378a", "\u166d\U000111c9\u0a76\u2e43\u10fb\u055a", "\r\n\r\n \n", " " * 20 + "x" + "\n" * 9,
    "-a-", "a-a", "ba", "ab", "\u00a1Hola! \u00bfqu\u00e9? \u00ab\u00bb\u2018\u2019\u201c\u201d\u2026\u2014", "$+<=>^`|~ \u20ac\u00a3\u00d7\u00f7",
]


def in_file(component: dict) -> dict:
    """A tokenizer.json whose every piece is the one unknown token."""
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": component,
            "post_processor": None, "decoder": None, "model": {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}}


def pieces(component: dict) -> list[list]:
    split_text = Tokenizer.from_str(json.dumps(in_file(component))).pre_tokenizer.pre_tokenize_str
    # Of an empty text a component that never cuts gives one empty piece, which a tokenizer drops before.
    return [[[piece, *offsets] for piece, offsets in split_text(text) if piece] for text in TEXTS]


def digest(answers: list[int]) -> list[int]:
    """Number of runs of equal answers; FNV-1a (32 bits) over the first code point and the answer of each."""
    n_runs, out = 0, 0x811C9DC5
    for answer, run in itertools.groupby(zip(CODES, answers), key=lambda pair: pair[1]):
        n_runs += 1
        for value in (next(run)[0], answer):
            for shift in (0, 8, 16, 24):
                out = ((out ^ (value >> shift & 0xFF)) * 0x01000193) & 0xFFFFFFFF
    return [n_runs, out]


def ask(question: Callable[[str], bool]) -> list[int]:
    return digest([int(question(chr(code))) for code in CODES])


def scripts() -> list[int]:
    """0 where UnicodeScripts drops a lone character, else the first code point of its script."""
    split_text = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    first: list[str] = []
    answers, last = [], "a"
    for character in map(chr, CODES):
        if not split_text(character):
            answers.append(0)
            continue
        known = (other for other in [last, *first] if len(split_text(other + character)) == 1)
        last = next(known, character)
        if last not in first:
            first.append(character)
            last = character
        answers.append(ord(last) + 1)
    return digest(answers)


def code_points() -> dict[str, list[int]]:
    punctuation = pre_tokenizers.Punctuation("removed").pre_tokenize_str
    numbers = pre_tokenizers.Digits(individual_digits=False).pre_tokenize_str
    spaces = pre_tokenizers.WhitespaceSplit().pre_tokenize_str
    words = pre_tokenizers.Whitespace().pre_tokenize_str
    return {
        "punctuation": ask(lambda c: len(punctuation(c)) == 0),
        "number": ask(lambda c: len(numbers("a" + c)) == 2),
        "white_space": ask(lambda c: len(spaces(c)) == 0),
        "word": ask(lambda c: len(words("a" + c)) == 1 and words("a" + c)[0][1] == (0, 2)),
        "script": scripts(),
    }


def main() -> None:
    lines = [json.dumps({"pre_tokenizer": part, "pieces": pieces(part)}, separators=(",", ":")) for part in COMPONENTS]
    OUT.write_text('{"texts":' + json.dumps(TEXTS, separators=(",", ":")) + ',\n"components":[\n' + ",\n".join(lines)
                   + '],\n"code_points":' + json.dumps(code_points()) + "}\n", encoding="utf-8")
    print(f"{OUT}: {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
