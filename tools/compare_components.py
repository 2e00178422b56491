#!/usr/bin/env python3
"""Draws random texts and compares single normalizers and pre-tokenizers of tokenizer.json with the `tokenizers` package.

    .venv/bin/python tools/compare_components.py [WORD...] [--count 5000] [--seed 1] [--every] [--vitro build/release/vitro]

Each component is put into a tokenizer.json of its own around a model of few words, so that the offsets of the tokens show
where pieces begin and end. With a pre-tokenizer every piece is one unknown token. With a normalizer, a cut after every character
follows, and the characters that the normalizer can give have ids of their own, so that ids show its text. Components without one of
the words in their JSON are left out. Texts are those of compare_tokenizers.py. Prints the first differences; exit 1 if there is any.
"""
import argparse
import base64
import io
import json
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sentencepiece import SentencePieceTrainer
from tokenizers import Tokenizer

import make_pre_tokenizer_expectations as pre_tokenizers
from compare_tokenizers import Answer, Texts, difference, ours

SHOWN = 3
SIMPLE = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"]


def bert(clean: bool, chinese: bool, accents: bool | None, lower: bool) -> dict:
    return {"type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese, "strip_accents": accents, "lowercase": lower}


def replace(kind: str, pattern: str, content: str) -> dict:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def sequence(*parts: dict) -> dict:
    return {"type": "Sequence", "normalizers": list(parts)}


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Numbers and bytes of the members of a protobuf message that have a length."""
    pos = 0

    def varint() -> int:
        nonlocal pos
        value, shift = 0, 0
        while True:
            byte = message[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while pos < len(message):
        key = varint()
        if key & 7 == 0:
            varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, message[pos : pos + size]
            pos += size
        else:
            pos += 8 if key & 7 == 1 else 4


def rules_of(name: str) -> bytes:
    """The charsmap of SentencePiece's rules of this name (normalizer_spec is member 3 of a model, the charsmap member 2 of it)."""
    model = io.BytesIO()
    SentencePieceTrainer.train(sentence_iterator=iter(["a few words for a small model"] * 4), model_writer=model, vocab_size=20,
                               hard_vocab_limit=False, normalization_rule_name=name, minloglevel=2)
    specs = [value for number, value in fields(model.getvalue()) if number == 3]
    return next(value for number, value in fields(specs[0]) if number == 2)


def first_bytes() -> bytes:
    """A charsmap in which every byte is a key and becomes "X", so that its answers show the clusters of a text."""
    n_units, keys, leaf = 1024, 256, 512
    units = [0] * n_units
    units[0] = keys << 10
    for byte in range(1, 256):
        units[keys + byte] = byte | 1 << 8 | ((keys + byte) ^ leaf) << 10
    units[leaf] = 1 << 31
    return struct.pack(f"<{n_units + 1}I", 4 * n_units, *units) + b"X\0"


def precompiled(charsmap: bytes) -> dict:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}


NORMALIZERS = [
    *({"type": name} for name in SIMPLE),
    *({"type": "Strip", "strip_left": left, "strip_right": right} for left in (True, False) for right in (True, False)),
    {"type": "Prepend", "prepend": "\u2581"},
    {"type": "Prepend", "prepend": "ab "},
    replace("String", " ", "\u2581"),
    replace("String", "a", ""),
    replace("String", "a", "xyz"),
    replace("Regex", " {2,}", "\u2581"),
    replace("Regex", r"\s+", " "),
    replace("Regex", r"[^\p{L}]", ""),
    *(bert(True, True, accents, lower) for accents in (None, True, False) for lower in (True, False)),
    bert(True, False, False, False),
    bert(False, True, False, False),
    bert(False, False, True, False),
    sequence({"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
    sequence({"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "NFC"}, {"type": "Prepend", "prepend": "\u2581"}),
    sequence({"type": "NFD"}, {"type": "NFC"}),
    sequence({"type": "NFKC"}, {"type": "Nmt"}, replace("Regex", " {2,}", " ")),
    sequence({"type": "NFKD"}, {"type": "ByteLevel"}),
    precompiled(first_bytes()),
    *(precompiled(rules_of(name)) for name in ("nfkc", "nmt_nfkc", "nmt_nfkc_cf")),
    sequence(precompiled(rules_of("nmt_nfkc")), replace("Regex", " {2,}", "\u2581"), {"type": "Lowercase"}),
    sequence({"type": "Nmt"}, {"type": "Strip", "strip_left": True, "strip_right": False}, {"type": "Lowercase"}, {"type": "NFKC"}),
]


def files(texts: list[str]) -> list[tuple[str, dict]]:
    """Each component's JSON and the file around it."""
    out = []
    for part in NORMALIZERS:
        file = pre_tokenizers.in_file(pre_tokenizers.split({"String": ""}, "Isolated"))
        file["normalizer"] = part
        normalize = Tokenizer.from_str(json.dumps(file)).normalizer.normalize_str
        characters = sorted(set().union(*map(normalize, texts)))
        file["model"]["vocab"] |= {character: i + 1 for i, character in enumerate(characters)}
        out.append((json.dumps(part), file))
    return out + [(json.dumps(part), pre_tokenizers.in_file(part)) for part in pre_tokenizers.COMPONENTS]


def compare(name: str, file: dict, texts: list[str], vitro: str) -> int:
    """Number of texts that differ."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(file))
        tokenizer = Tokenizer.from_file(str(path))
        answers = ours(vitro, path, texts, [])
    n_wrong = 0
    for text, found in zip(texts, answers):
        wanted = tokenizer.encode(text)
        if what := difference(text, Answer(wanted.ids, [tuple(pair) for pair in wanted.offsets]), found):
            n_wrong += 1
            if n_wrong <= SHOWN:
                print(f"{json.dumps(text)}\n  {what}")
    print(f"{name[:200]}: {len(texts) - n_wrong} of {len(texts)} texts agree", flush=True)
    return n_wrong


def random_texts(seed: int, count: int) -> list[str]:
    source = Texts(seed, [])
    return [source.draw() for _ in range(count)]


def every_code_point() -> list[str]:
    """A hundred in a text; a line break keeps them apart."""
    codes = pre_tokenizers.CODES
    return ["".join(f"a{chr(code)}1\n" for code in codes[i : i + 100]) for i in range(0, len(codes), 100)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vitro", default="build/release/vitro")
    parser.add_argument("--every", action="store_true", help="instead of random texts: every code point, behind an 'a' and before a '1'")
    options = parser.parse_args()
    texts = every_code_point() if options.every else random_texts(options.seed, options.count)
    chosen = [item for item in files(texts) if not options.words or any(word in item[0] for word in options.words)]
    return 1 if sum([compare(name, file, texts, options.vitro) for name, file in chosen]) else 0


if __name__ == "__main__":
    sys.exit(main())
