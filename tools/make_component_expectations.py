#!/usr/bin/env python3
"""Writes tests/data/tokens/components.json: what the `tokenizers` package makes of texts with each normalizer and pre-tokenizer.

    .venv/bin/python tools/make_component_expectations.py

"normalizers" and "pre_tokenizers" hold rows {name, json (as in tokenizer.json), texts}. A text of a normalizer is [text, result,
places]: for each byte of the result the first and the last code point (exclusive) that it stands for, in one flat list. One of a
pre-tokenizer is [text, pieces, places], a place for each piece. "every_code_point" holds rows {name, is_normalizer, json, digests}: 32-bit FNV-1a
of the results (pieces joined by U+001F) on texts of 8192 code points each, every one between "a" and a line feed.
"""

import base64
import io
import json
import pathlib
import tempfile

import sentencepiece
from compare_components import components, tokenizers_with
from compare_tokenizers import Texts
from tokenizers import Tokenizer, normalizers, pre_tokenizers

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens/components.json"
BLOCK = 8192
DRAWN = 3
BERT = ["bert-True-True-None-True", "bert-True-True-False-True", "bert-True-True-None-False", "bert-False-False-True-False"]
TEXTS = [
    "", " ", "\t\n ", "Hello, World!  It's 42\u00b2\u0663 \u2167.", "\u0130stanbul \u03a3\u0391\u03a3 \u01c5 \u1e9e \u212a", "caf\u00e9 cafe\u0301 \u1e69 s\u0323\u0307 s\u0307\u0323 \u0344\u0323",
    "\ufb01n \u00bd \u2460 \uff21\uff22\u3000\u33a1 \ufdfa \u1d2c", "\uac00\uac01 \u1100\u1161\u11a8 \u1112\u1161\u11ab\u0301", "\u4eca\u5929hello\u5929\u6c14 \u3053\u3093\u30cb\u30c1\u30fc \uc548\ub155",
    "\u0000\u0001a\u007f\u0085b\u00ad\u200b\u200d\u202e\ufeff\ufffd\ue000", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0e2a\u0e27\u0e31\u0e2a \u0645\u064e\u0631", "\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f44d\U0001f3fd \U0001f1e9\U0001f1ea 1\ufe0f\u20e3 \U0001d400\U0001d7ce",
    "--a-b--c- $x+y=z \u2581\u2581x \u2581", "aaa a  a", "\r\na\r\n\r e\u0301\u0301 \u0301x", " \u3000 a \u0430\u0431 \u00b5 1a ",
]
RULES = {"\ufb01": "fi", "\u00bd": "1\u20442", "e\u0301": "\u00e9", "\r": " ", "\u0001": "", "\u0000": "", "\u007f": "", "a\u0301\u0323": "A", "\u00ad": "", "\u30ac": "\u30ab\u3099", "\u2460": "(1)",
         "\u0301": "", "\u1100\u1161": "\uac00", "\u06dd": "xx"}


def precompiled() -> normalizers.Normalizer:
    """A table as SentencePiece's trainer compiles it."""
    stream = io.BytesIO()
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as rules:
        for key, value in RULES.items():
            if "\u0000" not in key:
                rules.write(" ".join(f"{ord(c):X}" for c in key) + "\t" + " ".join(f"{ord(c):X}" for c in value) + "\n")
        rules.flush()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["a b c d", "e f g h"]), model_writer=stream, model_type="char", vocab_size=12, hard_vocab_limit=False,
            normalization_rule_tsv=rules.name, minloglevel=2,
        )
    proto = stream.getvalue()
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(proto)
    return normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)


def one_letter() -> normalizers.Normalizer:
    """The rule that writes "!" for "a"; it also takes what the cluster of "a" has besides."""
    from make_step_tables import one_rule

    return normalizers.Precompiled(one_rule("a"))


def is_normalizer(component) -> bool:
    return isinstance(component, normalizers.Normalizer)


def json_of(component) -> dict:
    made = json.loads(tokenizers_with(component)["pieces"].to_str())
    return made["normalizer" if is_normalizer(component) else "pre_tokenizer"]


def places(pairs) -> list[int]:
    return [place for pair in pairs for place in pair]


def row_of_normalizer(component, tokenizer: Tokenizer, text: str) -> list:
    encoding = tokenizer.encode(text)
    return [text, component.normalize_str(text), places(encoding.offsets)]


def row_of_pre_tokenizer(component, text: str) -> list:
    found = component.pre_tokenize_str(text)
    return [text, [piece for piece, _ in found], places(pair for _, pair in found)]


def bytes_only(component) -> Tokenizer:
    """One token for each byte of the normalized text."""
    tokenizer = tokenizers_with(component)["bytes"]
    made = json.loads(tokenizer.to_str())
    made["model"]["vocab"] = {token: id for token, id in made["model"]["vocab"].items() if id < 256}
    return Tokenizer.from_str(json.dumps(made))


def fnv(text: str) -> str:
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def digests(component) -> list[str]:
    out = []
    for start in range(0, 0x110000, BLOCK):
        codes = [code for code in range(start, start + BLOCK) if not 0xD800 <= code < 0xE000]
        text = "".join(f"a{chr(code)}\n" for code in codes)
        if is_normalizer(component):
            out.append(fnv(component.normalize_str(text)))
        else:
            out.append(fnv("\u001f".join(piece for piece, _ in component.pre_tokenize_str(text))))
    return out


def main() -> None:
    every = components() | {"precompiled": precompiled(), "one-letter": one_letter()}
    drawn = Texts(20, ["<s>"])
    out: dict[str, list] = {"normalizers": [], "pre_tokenizers": [], "every_code_point": []}
    for name, component in every.items():
        if name.startswith("bert-") and name != "bert-pre" and name not in BERT:
            continue
        texts = TEXTS + [text for text in (drawn.draw() for _ in range(DRAWN)) if len(text) < 60]
        if is_normalizer(component):
            tokenizer = bytes_only(component)
            rows = [row_of_normalizer(component, tokenizer, text) for text in texts]
            out["normalizers"].append({"name": name, "json": json_of(component), "texts": rows})
        else:
            rows = [row_of_pre_tokenizer(component, text) for text in texts]
            out["pre_tokenizers"].append({"name": name, "json": json_of(component), "texts": rows})
    for name in ["nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip-accents", "nmt", "bert-True-True-True-True", "one-letter",
                 "whitespace", "whitespace-split", "bert-pre", "scripts", "digits", "punctuation-removed"]:
        out["every_code_point"].append({"name": name, "is_normalizer": is_normalizer(every[name]), "json": json_of(every[name]), "digests": digests(every[name])})
    OUT.write_text(json.dumps(out, separators=(",", ":")) + "\n")
    print(f"{OUT}: {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
