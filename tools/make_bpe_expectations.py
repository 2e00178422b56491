#!/usr/bin/env python3
"""Writes tests/data/tokens/bpe-options.json: what the `tokenizers` package makes of texts with random small BPE models.

    pip install tokenizers==0.23.3 && python tools/make_bpe_expectations.py

Each row has a tokenizer.json and texts with their ids and offsets in code points. Options are drawn at random: prefixes and
suffixes of symbols, the unknown token, fusing, byte fallback with some or all bytes, ignore_merges, byte level or not.
"""

import argparse
import json
import pathlib
import random

from tokenizers import Tokenizer

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens/bpe-options.json"


def random_model(rng):
    prefix = rng.choice(["", "", "##", "_"])
    suffix = rng.choice(["", "", "</w>", "."])
    byte_level = rng.random() < 0.4
    letters = ["a", "b", "c", "Ġ"] if byte_level else ["a", "b", "c", "é", "中"]
    vocab = {"<unk>": 0}
    for letter in letters:
        forms = [letter, letter + suffix, prefix + letter, prefix + letter + suffix]
        for form in forms:
            if rng.random() < 0.9:
                vocab.setdefault(form, len(vocab))
    if rng.random() < 0.5:
        for byte in range(256) if rng.random() < 0.7 else [0xC3, 0xA9, 0x7A, 0xE4, 0xB8]:
            vocab.setdefault(f"<0x{byte:02X}>", len(vocab))
    merges, pairs = [], set()
    for _ in range(rng.randint(0, 25)):
        left, right = rng.choice(list(vocab)), rng.choice(list(vocab))
        if "<" in (left + right).replace("</w>", "") or not right.startswith(prefix) or (left, right) in pairs:
            continue
        if left.endswith(suffix) and suffix or len(left + right) > 24:
            continue
        pairs.add((left, right))
        merges.append([left, right])
        vocab.setdefault(left + right[len(prefix):], len(vocab))
    rng.shuffle(merges)
    model = {"type": "BPE", "dropout": None, "unk_token": rng.choice([None, "<unk>"]), "continuing_subword_prefix": prefix or None,
             "end_of_word_suffix": suffix or None, "fuse_unk": rng.random() < 0.5, "byte_fallback": rng.random() < 0.5,
             "ignore_merges": rng.random() < 0.3, "vocab": vocab, "merges": merges}
    split = {"type": "Split", "pattern": {"Regex": r" ?\S+|\s+"}, "behavior": "Isolated", "invert": False}
    steps = [split]
    if byte_level:
        steps.append({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False})
    pre = rng.choice([None, {"type": "Sequence", "pretokenizers": steps}]) if not byte_level else {"type": "Sequence", "pretokenizers": steps}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": pre,
            "post_processor": None, "decoder": None, "model": model}


def has_sane_offsets(model):
    """The package counts offsets as if characters that it drops were not there, and bytes of affixes as if they were."""
    has_affixes = model["continuing_subword_prefix"] or model["end_of_word_suffix"]
    return model["unk_token"] is not None and not (has_affixes and model["byte_fallback"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20240611)
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--texts", type=int, default=7)
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    rows = []
    while len(rows) < args.models:
        document = random_model(rng)
        tokenizer = Tokenizer.from_str(json.dumps(document))
        texts = []
        for _ in range(args.texts):
            alphabet = rng.choice(["abc", "abcé中", "abc z", "aéz中 "])
            text = "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 16)))
            encoding = tokenizer.encode(text)
            texts.append([text, encoding.ids, [list(o) for o in encoding.offsets] if has_sane_offsets(document["model"]) else None])
        rows.append({"tokenizer": document, "texts": texts})
    args.out.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
