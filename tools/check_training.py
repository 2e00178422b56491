#!/usr/bin/env python3
"""Trains with `vitro tokenizer train` and loads the files with the reference package: ids must be the same in both.

    .venv/bin/python tools/check_training.py [--vitro build/release/vitro]

Every model, trained on a text of our own; sentences with accents, white space, other scripts, and special tokens written out. Exit 1 and
the first differences if there is any.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
TEXT = ROOT / "tests" / "data" / "real" / "text.txt"
TRAININGS = [
    ["--vocab-size", "500", "--special", "<|end|>"],
    ["--vocab-size", "1000", "--pattern", "llama-bpe", "--normalizer", "nfc"],
    ["--vocab-size", "600", "--pattern", r"\p{L}+|\p{N}|[^\p{L}\p{N}]+", "--max-token-length", "6"],
    ["--vocab-size", "600", "--model", "wordpiece"],
    ["--vocab-size", "600", "--model", "wordpiece", "--normalizer", "bert-cased", "--limit-alphabet", "40", "--special", "[CLS]"],
    ["--vocab-size", "400", "--model", "unigram", "--special", "<|end|>"],
    ["--vocab-size", "300", "--model", "unigram", "--normalizer", "none", "--max-token-length", "5"],
]
SENTENCES = TEXT.read_text(encoding="utf-8").splitlines()[:40] + [
    "",
    " ",
    "  leading and   inner spaces \n\n\tand a tab",
    "Größe, naïve café; e\u0301 and \ufb01",
    "日本語のテキスト 12345",
    "\U0001f984 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "a<|end|>b [CLS] [SEP] [UNK]",
]


def differences(vitro: str, options: list[str], folder: Path) -> list[str]:
    path = folder / "tokenizer.json"
    subprocess.run([vitro, "tokenizer", "train", str(TEXT), *options, "--output", str(path), "--force"], check=True, capture_output=True)
    reference = Tokenizer.from_file(str(path))
    lines = "".join(json.dumps(text) + "\n" for text in SENTENCES)
    ran = subprocess.run([vitro, "tokenize", str(path), "--jsonl"], input=lines, check=True, capture_output=True, text=True)
    out = []
    for text, line in zip(SENTENCES, ran.stdout.splitlines(), strict=True):
        expected, got = reference.encode(text).ids, json.loads(line)["ids"]
        if got != expected:
            out.append(f"{' '.join(options)}: {json.dumps(text)}: expected {expected}, got {got}")
    return out


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--vitro", default=str(ROOT / "build" / "release" / "vitro"))
    vitro = parser.parse_args().vitro
    with tempfile.TemporaryDirectory() as folder:
        found = [line for options in TRAININGS for line in differences(vitro, options, Path(folder))]
    for line in found[:5]:
        print(line)
    print(f"{len(TRAININGS)} trainings, {len(SENTENCES)} texts each, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
