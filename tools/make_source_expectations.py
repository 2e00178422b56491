#!/usr/bin/env python3
"""Writes small tokenizer files of every kind that is no tokenizer.json, and what the packages that own them say of texts.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 tiktoken==0.14.0 && python tools/make_source_expectations.py

tests/data/tokens/sources/:
NAME.model, NAME.jsonl        a SentencePiece model trained here; per text ids, byte offsets and the text they decode to; then rows
                              with drawn ids alone
ranks.tiktoken, ranks.jsonl   a rank file and its ids with the pattern and the special tokens of cl100k_base
shared.jsonl                  what the packages say with the files of ../shared/data/tokenizers; left alone where those are missing
gpt2/vocab.json, merges.txt, gpt2.jsonl   GPT-2's pair of files, and the ids of a ByteLevel tokenizer made of them
"""
import base64
import io
import json
import os
import pathlib
import random

import sentencepiece
import tiktoken
from make_token_expectations import EDGE_TEXTS, SEED, SENTENCES, TEXTS, byte_level
from tokenizers import AddedToken, BertWordPieceTokenizer, Tokenizer, pre_tokenizers

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens/sources"
SYMBOLS = ["<sep>", "<se", "glass", "  ", "a\u00e9", "\u2581x", "\u4f60"]
RULES = {"\u00a0": " ", "\u3000": " ", "\t": " ", "\uff21": "A", "\ufb01": "fi", "e\u0301": "\u00e9", "\u200b": "", "\u00bd": "1/2", "\u2026": ". . ."}
OWN_TEXTS = ["<sep>", "a<sep>b", "<se<sep>p>", "glassglass glass", "a\u00e9 ax\u00e9", " x  x   x ", "\u2581x \u2581", "\u4f60\u597d\u4f60",
             "\uff21\u3000\ufb01ne\u00a0\u2026 e\u0301\u200b\u00bd", "\u200b", " \u200b ", "\u2026", "\u3000a\u3000", "<ctl>", "a<ctl>b", "</s><unk>", "<0x41>",
             "\u2581\u2581", "  a  \u2581", "\U0001f600\U0001f600", "\u0e01\u0e02\u0e03 \u0e04"]
CL100K = (r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""")
UPPER, LOWER, CONTRACTION = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = "|".join([rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTION}", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTION}",
                  r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
SPECIAL = {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260, "<|endofprompt|>": 100276}


def write(name: str, data: bytes) -> None:
    path = OUT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"{name}: {len(data)} bytes")


def write_rows(name: str, rows: list[dict]) -> None:
    write(name, "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows).encode())


def train(**options) -> bytes:
    stream = io.BytesIO()
    rules = OUT / "rules.tsv"
    if options.pop("rules", False):
        rules.write_text("".join(f"{' '.join(f'{ord(c):x}' for c in a)}\t{' '.join(f'{ord(c):x}' for c in b)}\n" for a, b in RULES.items()))
        options["normalization_rule_tsv"] = str(rules)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES[:6] + SENTENCES[8:]), model_writer=stream, num_threads=1, minloglevel=2, **options)
    rules.unlink(missing_ok=True)
    return stream.getvalue()


def save_model(name: str, **options) -> None:
    proto = train(**options)
    model = sentencepiece.SentencePieceProcessor(model_proto=proto)
    rows = []
    for text in OWN_TEXTS + [text for text in TEXTS if "\0" not in text][:70]:
        pieces = model.encode(text, return_type="proto").pieces
        ids = [piece.id for piece in pieces]
        rows.append({"text": text, "ids": ids, "offsets": [[piece.begin, piece.end] for piece in pieces], "decoded": model.decode(ids)})
    rnd = random.Random(SEED)
    for _ in range(60):
        ids = [rnd.randrange(model.get_piece_size()) for _ in range(rnd.randrange(1, 9))]
        rows.append({"ids": ids, "decoded": model.decode(ids)})
    write(f"{name}.model", proto)
    write_rows(f"{name}.jsonl", rows)


def save_ranks(trained: Tokenizer) -> None:
    chars = {char: byte for byte, char in tiktoken_bytes().items()}
    vocab = json.loads(trained.to_str())["model"]["vocab"]
    ranks = {bytes(chars[c] for c in piece): rank for rank, piece in enumerate(sorted(vocab, key=vocab.get))}
    encoding = tiktoken.Encoding("small", pat_str=CL100K, mergeable_ranks=ranks, special_tokens=SPECIAL)
    texts = EDGE_TEXTS + SENTENCES + ["a<|endoftext|>b", "<|fim_prefix|>", "a \n ", "x\n\n \n", "   ", "a   b"]
    rows = [{"text": text, "ids": encoding.encode(text, allowed_special="all"), "plain": encoding.encode_ordinary(text)} for text in texts]
    write("ranks.tiktoken", b"".join(base64.b64encode(piece) + b" %d\n" % rank for piece, rank in ranks.items()))
    write_rows("ranks.jsonl", rows)


def tiktoken_bytes() -> dict[int, str]:
    """GPT-2's byte alphabet."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    out = {byte: chr(byte) for byte in visible}
    hidden = [byte for byte in range(256) if byte not in out]
    return out | {byte: chr(256 + i) for i, byte in enumerate(hidden)}


def save_gpt2(trained: Tokenizer) -> None:
    model = json.loads(trained.to_str())["model"]
    merges = "#version: 0.2\n" + "".join(" ".join(merge) + "\n" for merge in model["merges"])
    write("gpt2/vocab.json", json.dumps(model["vocab"], ensure_ascii=False, separators=(",", ":")).encode())
    write("gpt2/merges.txt", merges.encode())
    write_rows("gpt2.jsonl", [{"text": text, "ids": trained.encode(text).ids} for text in EDGE_TEXTS + SENTENCES])


def tiktoken_of(path: pathlib.Path, pattern: str, special: dict[str, int]) -> tiktoken.Encoding:
    ranks = {base64.b64decode(line.split()[0]): int(line.split()[1]) for line in path.read_bytes().splitlines() if line}
    return tiktoken.Encoding(path.stem, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


def save_shared() -> None:
    root = pathlib.Path(os.environ.get("VITRO_SHARED", OUT.parents[3].parent / "shared")) / "data/tokenizers"
    if not root.exists():
        print(f"shared.jsonl: left alone, there is no {root}")
        return
    texts = [text for text in OWN_TEXTS + TEXTS if "\0" not in text][:64]
    rows = []
    for path in sorted([*root.glob("llama2/*.model"), *root.glob("mistral/*"), *root.glob("sentencepiece-tests/*")]):
        model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        rows += [{"file": str(path.relative_to(root)), "text": text, "ids": model.encode(text)} for text in texts]
    for name, pattern, special in (("cl100k_base", CL100K, SPECIAL),
                                   ("o200k_base", O200K, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018})):
        path = root / f"tiktoken/{name}.tiktoken"
        encoding = tiktoken_of(path, pattern, special)
        rows += [{"file": str(path.relative_to(root)), "text": text, "ids": encoding.encode(text, allowed_special="all")} for text in texts]
    bert = BertWordPieceTokenizer(str(root / "bert-base-uncased/vocab.txt"))
    rows += [{"file": "bert-base-uncased", "text": text, "ids": bert.encode(text).ids} for text in texts]
    write_rows("shared.jsonl", rows)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    save_model("unigram", model_type="unigram", vocab_size=390, byte_fallback=True, user_defined_symbols=SYMBOLS, control_symbols=["<ctl>"], rules=True)
    save_model("unigram-suffix", model_type="unigram", vocab_size=180, treat_whitespace_as_suffix=True, character_coverage=0.98,
               normalization_rule_name="identity", hard_vocab_limit=False)
    save_model("bpe", model_type="bpe", vocab_size=500, byte_fallback=True, user_defined_symbols=SYMBOLS, control_symbols=["<ctl>"],
               remove_extra_whitespaces=False, normalization_rule_name="identity", character_coverage=0.98)
    save_model("bpe-plain", model_type="bpe", vocab_size=230, character_coverage=0.98, rules=True, user_defined_symbols=SYMBOLS,
               bos_id=-1, eos_id=0, pad_id=2, unk_id=1, unk_surface="?", add_dummy_prefix=False)
    save_model("word", model_type="word", vocab_size=100, user_defined_symbols=SYMBOLS, hard_vocab_limit=False, rules=True)
    save_model("char", model_type="char", vocab_size=60, user_defined_symbols=SYMBOLS, treat_whitespace_as_suffix=True, hard_vocab_limit=False,
               normalization_rule_name="identity", character_coverage=0.98)
    trained = byte_level("gpt2")
    save_ranks(trained)
    gpt2 = byte_level("gpt2")
    gpt2.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    gpt2.add_special_tokens([AddedToken("<|endoftext|>", normalized=False)])
    save_gpt2(gpt2)
    save_shared()


if __name__ == "__main__":
    main()
