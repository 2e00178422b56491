#!/usr/bin/env python3
"""Compares each normalizer and pre-tokenizer of tokenizer.json with the `tokenizers` package on random texts.

    .venv/bin/python tools/compare_components.py [--only NAME] [--count 10000] [--seed 1] [--vitro build/release/vitro]

Each component stands in two tokenizers: one whose model writes the bytes of the text it gets (byte fallback), one whose model
makes one token of each piece. So ids and offsets show the text, the origins and the cuts. Prints the first differences; exit 1
if there is any. Texts are those of compare_tokenizers.py.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

from compare_tokenizers import Texts, difference, of_tokenizers, ours
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

N, P = normalizers, pre_tokenizers
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


def components() -> dict[str, object]:
    out: dict[str, object] = {
        "nfc": N.NFC(), "nfd": N.NFD(), "nfkc": N.NFKC(), "nfkd": N.NFKD(), "lowercase": N.Lowercase(), "strip-accents": N.StripAccents(),
        "strip": N.Strip(), "strip-left": N.Strip(True, False), "strip-right": N.Strip(False, True), "prepend": N.Prepend("\u2581x"),
        "replace": N.Replace("a", "\u00e9\u00e9"), "replace-regex": N.Replace(Regex(r"\s+"), "\u2581"), "replace-gone": N.Replace(Regex("[aeiou ]"), ""),
        "byte-level-normalizer": N.ByteLevel(), "nmt": N.Nmt(),
        "nfd-strip-accents": N.Sequence([N.NFD(), N.StripAccents()]),
        "nfkc-lower-strip": N.Sequence([N.NFKC(), N.Lowercase(), N.Strip(), N.NFD()]),
        "nmt-nfkc-spaces": N.Sequence([N.Nmt(), N.NFKC(), N.Replace(Regex(" {2,}"), " ")]),
        "bytes": P.ByteLevel(), "bytes-no-space": P.ByteLevel(False), "bytes-no-regex": P.ByteLevel(True, use_regex=False),
        "whitespace": P.Whitespace(), "whitespace-split": P.WhitespaceSplit(), "bert-pre": P.BertPreTokenizer(),
        "scripts": P.UnicodeScripts(), "delimiter": P.CharDelimiterSplit("a"), "digits": P.Digits(False), "digits-single": P.Digits(True),
        "fixed-length": P.FixedLength(3),
        "scripts-digits-punctuation": P.Sequence([P.UnicodeScripts(), P.Digits(True), P.Punctuation("contiguous")]),
        "whitespace-metaspace": P.Sequence([P.WhitespaceSplit(), P.Metaspace()]),
        "whitespace-metaspace-first": P.Sequence([P.WhitespaceSplit(), P.Metaspace(prepend_scheme="first")]),
    }
    for clean in (True, False):
        for chinese in (True, False):
            for accents in (True, False, None):
                for lower in (True, False):
                    out[f"bert-{clean}-{chinese}-{accents}-{lower}"] = N.BertNormalizer(clean, chinese, accents, lower)
    for scheme in ("always", "first", "never"):
        for split in (True, False):
            out[f"metaspace-{scheme}-{split}"] = P.Metaspace(prepend_scheme=scheme, split=split)
    for behavior in BEHAVIORS:
        out[f"punctuation-{behavior}"] = P.Punctuation(behavior)
        for invert in (False, True):
            out[f"split-{behavior}-{invert}"] = P.Split(" ", behavior, invert)
            out[f"split-regex-{behavior}-{invert}"] = P.Split(Regex(r"\p{L}+|\s"), behavior, invert)
    return out


def tokenizers_with(component) -> dict[str, Tokenizer]:
    bytes_ = {f"<0x{byte:02X}>": byte for byte in range(256)}
    letters = {character: 256 + i for i, character in enumerate(sorted(P.ByteLevel.alphabet()))}
    out = {"bytes": Tokenizer(models.BPE({**bytes_, **letters}, [], byte_fallback=True)), "pieces": Tokenizer(models.WordLevel({"<unk>": 0}, "<unk>"))}
    for tokenizer in out.values():
        if isinstance(component, normalizers.Normalizer):
            tokenizer.normalizer = component
        else:
            tokenizer.pre_tokenizer = component
    return out


def compare(name: str, component, options: argparse.Namespace) -> int:
    n_wrong = 0
    for kind, tokenizer in tokenizers_with(component).items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            tokenizer.save(str(path))
            reference = of_tokenizers(path)
            texts = Texts(options.seed, reference.special)
            drawn = [texts.draw() for _ in range(options.count)]
            answers = ours(options.vitro, path, drawn, reference.arguments)
        wrong = [(text, what) for text, found in zip(drawn, answers) if (what := difference(text, reference.encode(text), found))]
        for text, what in sorted(wrong, key=lambda item: len(item[0]))[:3]:
            print(f"{name} ({kind}): {json.dumps(text)}\n  {what}")
        n_wrong += len(wrong)
    print(f"{name}: {n_wrong} differences in 2 x {options.count} texts", flush=True)
    return n_wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vitro", default="build/release/vitro")
    parser.add_argument("--only", default="", help="components whose name starts so")
    options = parser.parse_args()
    chosen = {name: component for name, component in components().items() if name.startswith(options.only)}
    return 1 if sum([compare(name, component, options) for name, component in chosen.items()]) else 0


if __name__ == "__main__":
    sys.exit(main())
