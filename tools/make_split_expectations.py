#!/usr/bin/env python3
"""Writes tests/data/tokens/random-splits.json: what reference packages find with random patterns in random texts.

    pip install tokenizers==0.23.3 regex==2026.11.19 && python tools/make_split_expectations.py

Patterns are drawn from the notation that SplitPattern understands. dialect "oniguruma": the matches of the `tokenizers`
package's Split; "fancy-regex": those of the package `regex`, which reads this part of the notation as tiktoken's engine
does. Patterns that can match nothing are left out, as SplitPattern refuses them.
"""

import argparse
import json
import pathlib
import random

import regex
from tokenizers import Regex, pre_tokenizers

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens/random-splits.json"
CHARACTERS = "aabbccAB12' \n\r\té中文のカ한\u0301\u00a0\u2028٣ⅫſK😀-_."
LITERALS = ["a", "b", "c", "A", "é", "中", "'", " ", "1", r"\n", r"\.", "-", "_", r"\x61", r"\u4e2d"]
CLASSES = [r"\p{L}", r"\p{N}", r"\P{L}", r"\s", r"\S", r"\d", r"\p{Lu}", r"\p{M}", ".", r"[^\s\p{L}\p{N}]", "[a-c]", "[^a]",
           r"[^\r\n\p{L}\p{N}]", r"[\p{Ll}\p{M}]", r"[ab\d]", r"[\s\S]", "[a[bc]1]", r"[\p{L}&&[^ab]]", r"[^\p{L}&&[^中]]",
           r"\p{Han}", r"\P{Han}", r"[\p{L}&&[^\p{Han}]]", r"[\p{Hiragana}\p{Katakana}]", r"\p{Hangul}"]
FOLDED = ["a", "b", "s", "k", "'", "1", "[ab]", "[sk]", "[^a]", r"\s", r"\p{L}"]


def single(rng, folded):
    if folded:
        return rng.choice(FOLDED)
    return rng.choice(LITERALS) if rng.random() < 0.5 else rng.choice(CLASSES)


def atom(rng, depth, folded):
    draw = rng.random()
    if depth < 2 and draw < 0.2:
        opening = "(?:" if folded else rng.choice(["(", "(?:", "(?i:"])
        return opening + alternatives(rng, depth + 1, folded or opening == "(?i:") + ")"
    return single(rng, folded)


def test(rng, dialect):
    kinds = [lambda: "(?=" + single(rng, False) + ")", lambda: "(?!" + single(rng, False) + ")", lambda: r"(?!\S)"]
    kinds += [lambda: "(?<=" + single(rng, False) + ")", lambda: "(?<!" + single(rng, False) + ")"]
    kinds += [lambda: "$", lambda: "^", lambda: r"(?=\s|$)", lambda: r"(?!a|b)"]
    if dialect == "oniguruma":
        kinds += [lambda: r"\b", lambda: r"\B"]
    text = rng.choice(kinds)()
    return {"$": r"\Z", "^": r"\A"}.get(text, text).replace("|$", r"|\Z") if dialect == "regex" else text


def quantified(rng, dialect, depth, folded):
    if depth == 0 and rng.random() < 0.12:
        return test(rng, dialect), None
    item = atom(rng, depth, folded)
    quantifier = rng.choice(["", "", "", "?", "*", "+", "+", "{2}", "{1,3}", "{2,}"])
    if quantifier and quantifier != "{2}" and rng.random() < 0.15:
        quantifier += "?"
    elif quantifier and not item.startswith("(") and rng.random() < 0.2:
        quantifier += "+"
    return item, quantifier


def alternatives(rng, depth, folded, dialect="none"):
    out = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        parts = [quantified(rng, dialect, depth, folded) for _ in range(rng.choice([1, 1, 2, 3]))]
        out.append("".join(a + (q or "") for a, q in parts))
    return "|".join(out)


def matches(dialect, pattern, text):
    if dialect == "regex":
        return [m.span() for m in regex.finditer(pattern, text, regex.V1, timeout=5)]
    pieces = pre_tokenizers.Split(Regex(pattern), "removed", invert=True).pre_tokenize_str(text)
    return [span for _, span in pieces]


def rows(rng, dialect, n_patterns, n_texts):
    made = 0
    while made < n_patterns:
        pattern = alternatives(rng, 0, False, dialect)
        texts = ["".join(rng.choice(CHARACTERS) for _ in range(rng.randint(1, 24))) for _ in range(n_texts)]
        try:
            found = [[text, matches(dialect, pattern, text)] for text in texts]
        except BaseException as error:  # a panic of the package is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            continue  # the package itself refuses it
        if any(begin == end for _, spans in found for begin, end in spans):
            continue
        made += 1
        # The package writes \\A and \\Z where tiktoken's engine has ^ and $.
        yield {"dialect": "fancy-regex" if dialect == "regex" else dialect,
               "pattern": pattern.replace(r"\A", "^").replace(r"\Z", "$"), "texts": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20240611)
    parser.add_argument("--patterns", type=int, default=120, help="for each dialect")
    parser.add_argument("--texts", type=int, default=5, help="for each pattern")
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    out = [row for dialect in ("oniguruma", "regex") for row in rows(rng, dialect, args.patterns, args.texts)]
    lines = ",\n".join(json.dumps(row, ensure_ascii=True) for row in out)
    args.out.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
