#!/usr/bin/env python3
"""Writes tests/data/tokens/: small tokenizers trained on the sentences below, what reference packages make of texts.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 && python tools/make_token_expectations.py

NAME.tokenizer.json   a tokenizer of about 300 entries, as the `tokenizers` package writes it
NAME.jsonl            per text and option: ids, offsets in code points, text decoded without and with special tokens
sentencepiece.json    pieces, scores and types of a SentencePiece BPE model, and its ids for texts
splits.json           pieces into which the package's Split pre-tokenizer cuts texts by published patterns
nfc.json              texts and their NFC by the package
real-models.json      ids of texts by the vocabularies of downloaded GGUF files (~/.cache/vitro), rebuilt for the
                      `tokenizers` package; needs gguf==0.19.0, and is left alone where the files are not there
"""

import io
import json
import os
import pathlib
import random

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens"
SEED = 20240611

SENTENCES = """
The glass of the lamp is clear, and through the clear glass the light of the lamp is seen.
A token is a small part of a text; the model reads tokens and writes tokens, one after the other.
She sells sea shells by the sea shore, and the shells that she sells are sea shells for sure.
In 1999 there were 365 days, in 2000 there were 366; 12345678 is a long number, and 3.14159 is not.
Don't say it isn't so: they're here, we've been there, I'm sure he'll come, she'd know, that's all.
Größe, Übermut und Straße; déjà vu, garçon, naïve, façade; mañana, jalapeño, corazón; smörgåsbord.
Привет, мир! Как дела? Хорошо, спасибо. Свет проходит через стекло, и стекло светится.
你好世界。今天天气很好,我们去公园走走。玻璃是透明的,光可以穿过玻璃。
def main(args):
    for i in range(10):
        print(i, args[i])        # a comment with spaces
    return 0
""".strip().split("\n")

WHITE = r"\s*[\r\n]+|\s+(?!\S)|\s+"
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + WHITE,
    "gpt4o": rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTION}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTION}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + WHITE,
    "deepseek3": r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|" + WHITE,
    "deepseek-words": r"\s?\p{L}+",
    "digits": r"\p{N}",
    "cjk": "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
}

EDGE_TEXTS = [
    "",
    " ",
    "  ",
    "   a",
    "a ",
    "\n",
    "\n\n",
    " \n \n",
    "\t",
    "\r\n",
    "Hello world",
    " Hello  world ",
    "clear glass",
    "I'm, I'M, we'LL, '\u017f",
    "1 22 333 4444 55555",
    "\u0664\u0665\u0666 \u2160\u00bd",
    "Gr\u00f6\u00dfe",
    "Gro\u0308\u00dfe",
    "e\u0301\u0323\u0301x",
    "\u1e9b\u0323",
    "\uac01\u1100\u1161\u11a8",
    "\U0001f600\U0001f469\u200d\U0001f680!",
    "\u4f60\u597d\u4e16\u754c\uff01",
    "a\u00a0b\u2003c\u3000d\u0085e",
    "\u2581\u2581x \u2581",
    "<0x0A>",
    "<s>",
    "</s>hi",
    "<|end|>",
    "x<|end|>  y",
    "a <mask> b",
    "a<mask>b <mask>",
    " word sword word",
    "word.word",
    "<pad><pad>",
    "caf\u00e9\u2028caf\u00e9",
    "camelCaseHTTPServer's",
    "\u01c5ungla \u02b0x \u4e2dA\u4e2db",
    "foo_bar(x)[1]=/etc/*\n",
    "\u0000\u0001\u007f",
    "\U000f1234\U0010ffff",
    "\u0301 alone",
    "glass" * 9,
    "    for i in range(10):\n        print(i)\n",
    "<p>a</p>",
    "don't\u2019s",
]


def random_texts(n: int) -> list[str]:
    rnd = random.Random(SEED)
    words = " ".join(SENTENCES).split(" ") + [
        "<|end|>",
        "<mask>",
        "<s>",
        "\n",
        "\n\n",
        "  ",
        "\u0301",
        "\u00e9",
        "e\u0301",
        "\U0001f984",
        "0",
        "42",
        "'s",
    ]
    return [
        "".join(rnd.choice(words) + rnd.choice([" ", "", " ", "  "]) for _ in range(rnd.randrange(1, 9)))
        for _ in range(n)
    ]


TEXTS = EDGE_TEXTS + SENTENCES + random_texts(25)


def write(name: str, text: str) -> None:
    (OUT / name).write_text(text, encoding="utf-8")
    print(f"{name}: {len(text.encode())} bytes")


def rows_of(tokenizer: Tokenizer) -> list[dict]:
    rows = []
    for text in TEXTS:
        first = None  # other options get a row only where they change something
        for add_special in (True, False):
            for parse_special in (True, False):
                tokenizer.encode_special_tokens = not parse_special
                got = tokenizer.encode(text, add_special_tokens=add_special)
                if first == got.ids:
                    continue
                first = first or got.ids
                rows.append(
                    {
                        "text": text,
                        "add_special": add_special,
                        "parse_special": parse_special,
                        "ids": got.ids,
                        "offsets": [list(o) for o in got.offsets],
                        "decoded": tokenizer.decode(got.ids, skip_special_tokens=True),
                        "decoded_special": tokenizer.decode(got.ids, skip_special_tokens=False),
                    }
                )
    return rows


def save(name: str, tokenizer: Tokenizer) -> None:
    write(f"{name}.tokenizer.json", tokenizer.to_str() + "\n")
    write(f"{name}.jsonl", "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows_of(tokenizer)))


def byte_level(pattern: str, n_entries: int = 320) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERNS[pattern]), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=n_entries, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def gpt2_like() -> Tokenizer:
    """ByteLevel with its own pattern and a prefix space, trimmed offsets, NFC, added tokens of every kind."""
    tokenizer = byte_level("gpt2")
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.add_special_tokens(
        [AddedToken("<|end|>", normalized=False), AddedToken("<mask>", lstrip=True, normalized=False)]
    )
    tokenizer.add_tokens(
        [
            AddedToken("word", single_word=True),
            AddedToken("<pad>", rstrip=True),
            AddedToken("caf\u00e9", normalized=True),
            AddedToken("  ", normalized=True),
        ]
    )
    end = tokenizer.token_to_id("<|end|>")
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(single="<|end|> $A <|end|>", special_tokens=[("<|end|>", end)]),
        ]
    )
    return tokenizer


def llama3_like() -> Tokenizer:
    """Split and ByteLevel, whole words taken from the vocabulary, BOS by template."""
    made = json.loads(byte_level("llama3").to_str())
    made["model"]["ignore_merges"] = True
    tokenizer = Tokenizer.from_str(json.dumps(made))
    tokenizer.add_special_tokens([AddedToken("<s>", normalized=False), AddedToken("<|end|>", normalized=False)])
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]),
        ]
    )
    return tokenizer


def single_digits() -> Tokenizer:
    """Digits one by one, then GPT-2's pattern: the family called smollm and starcoder in GGUF."""
    tokenizer = byte_level("gpt2")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.add_special_tokens([AddedToken("<|end|>", normalized=False)])
    return tokenizer


def characters(normalizer, pre_tokenizer, has_bytes: bool) -> Tokenizer:
    """A BPE over characters; byte tokens come first, the characters of two sentences are missing."""
    bytes_ = [f"<0x{b:02X}>" for b in range(256)] if has_bytes else []
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.normalizer = normalizer
    if pre_tokenizer is not None:
        trained.pre_tokenizer = pre_tokenizer
    trained.train_from_iterator(
        SENTENCES[:5] + SENTENCES[8:],
        trainers.BpeTrainer(
            vocab_size=len(bytes_) + 200, special_tokens=["<unk>", "<s>", "</s>"] + bytes_, show_progress=False
        ),
    )
    made = json.loads(trained.to_str())
    made["model"].update(byte_fallback=has_bytes, fuse_unk=True)
    made["added_tokens"] = [token for token in made["added_tokens"] if not token["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(made))


def llama2_like() -> Tokenizer:
    tokenizer = characters(
        normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]),
        pre_tokenizers.Split("\u2581", "merged_with_next"),
        True,
    )
    made = json.loads(tokenizer.to_str())
    made["pre_tokenizer"] = None  # only for training
    tokenizer = Tokenizer.from_str(json.dumps(made))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens([AddedToken("<|end|>", rstrip=True, normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
    )
    return tokenizer


def gemma_like() -> Tokenizer:
    tokenizer = characters(normalizers.Replace(" ", "\u2581"), pre_tokenizers.Split(" ", "merged_with_previous"), False)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def metaspace() -> Tokenizer:
    tokenizer = characters(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=True), True)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens([AddedToken("<|end|>", normalized=False)])
    return tokenizer


def save_sentencepiece() -> None:
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES[:6] + SENTENCES[8:]),
        model_writer=stream,
        model_type="bpe",
        vocab_size=420,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        character_coverage=1.0,
        num_threads=1,
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=stream.getvalue())
    ids = range(model.get_piece_size())
    kind = lambda i: 2 if model.is_unknown(i) else 3 if model.is_control(i) else 6 if model.is_byte(i) else 1
    texts = [text for text in TEXTS if not any(mark in text for mark in ("<s>", "</s>", "<unk>", "\u0000"))]
    write(
        "sentencepiece.json",
        json.dumps(
            {
                "tokens": [model.id_to_piece(i) for i in ids],
                "scores": [model.get_score(i) for i in ids],
                "types": [kind(i) for i in ids],
                "rows": [{"text": text, "ids": model.encode(text)} for text in texts],
            },
            separators=(",", ":"),
        )
        + "\n",
    )


def save_splits() -> None:
    rows = []
    for name, pattern in PATTERNS.items():
        split = pre_tokenizers.Split(Regex(pattern), "isolated")
        rows.append(
            {
                "name": name,
                "pattern": pattern,
                "texts": [[text, [piece for piece, _ in split.pre_tokenize_str(text)]] for text in TEXTS if text],
            }
        )
    write("splits.json", json.dumps(rows, separators=(",", ":")) + "\n")


def save_nfc() -> None:
    rnd, nfc = random.Random(SEED), normalizers.NFC()
    base = "aeoAEO\u00e9\u00d6\u01d5\u1e9b\u0958\u0b94\u0ddd\u1ea4\u212b\u2126\uac00\uac01\u1100\u1112\u1161\u1175\u11a8\u11c2"
    base += "\ufb1d\U0001d15e\U000110ab"
    marks = "\u0300\u0301\u0302\u0308\u0323\u0327\u0331\u0345\u093c\u094d\u0bd7\u0dcf\u0ddf\u3099\u309a"
    marks += "\u05b4\U000110ba\U0001d165"
    texts = [
        "".join(rnd.choice(base if rnd.random() < 0.5 else marks) for _ in range(rnd.randrange(1, 8)))
        for _ in range(200)
    ]
    write("nfc.json", json.dumps([[text, nfc.normalize_str(text)] for text in texts], separators=(",", ":")) + "\n")


def smollm2_of(keys) -> Tokenizer:
    """Byte-level BPE, digits one by one."""
    tokens, types = keys("tokens"), keys("token_type")
    merges = [tuple(merge.split(" ")) for merge in keys("merges")]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.add_special_tokens(
        [AddedToken(piece, normalized=False) for piece, kind in zip(tokens, types) if kind == 3]
    )
    return tokenizer


def gemma3_of(keys) -> Tokenizer:
    """SentencePiece BPE as merges: every split of a piece into two pieces, ranked by the score of the whole."""
    tokens, types, scores = keys("tokens"), keys("token_type"), keys("scores")
    vocab = {piece: i for i, piece in enumerate(tokens)}
    plain = {piece for piece, kind in zip(tokens, types) if kind in (1, 4)}
    merges = [
        (-scores[vocab[piece]], i, piece[:i], piece[i:])
        for piece in plain
        for i in range(1, len(piece))
        if piece[:i] in plain and piece[i:] in plain
    ]
    merges.sort(key=lambda merge: (merge[0], vocab[merge[2]], vocab[merge[3]]))
    tokenizer = Tokenizer(
        models.BPE(vocab, [merge[2:] for merge in merges], unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.add_special_tokens(
        [AddedToken(piece, normalized=False) for piece, kind in zip(tokens, types) if kind in (2, 3)]
    )
    tokenizer.add_tokens([AddedToken(piece, normalized=False) for piece, kind in zip(tokens, types) if kind == 4])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", vocab["<bos>"])]
    )
    return tokenizer


def save_real_models() -> None:
    cache = pathlib.Path(os.environ.get("VITRO_CACHE", pathlib.Path.home() / ".cache/vitro"))
    makers = {"smollm2-135m-instruct-q4_1.gguf": smollm2_of, "gemma3-270m-q4_k_m.gguf": gemma3_of}
    if not all((cache / name).exists() for name in makers):
        print(f"real-models.json: left alone, {cache} does not hold {', '.join(makers)}")
        return
    import gguf  # not needed for the rest

    chats = [
        "<|im_start|>user\nHi!<|im_end|>\n<|im_start|>assistant\n",
        "<start_of_turn>user\nHi!<end_of_turn>\n<start_of_turn>model\n",
        "a\n\n\nb      c\t\t\td",
        "<bos><eos><pad>",
        "<table><tr><td>x</td></tr></table>",
    ]
    texts = [text for text in EDGE_TEXTS + SENTENCES + chats if "\u2581" not in text]
    out = {}
    for name, maker in makers.items():
        fields = gguf.GGUFReader(cache / name).fields
        tokenizer = maker(lambda key: fields["tokenizer.ggml." + key].contents())
        out[name] = [{"text": text, "ids": tokenizer.encode(text).ids} for text in texts]
    write("real-models.json", json.dumps(out, separators=(",", ":")) + "\n")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    save("gpt2-like", gpt2_like())
    save("llama3-like", llama3_like())
    save("single-digits", single_digits())
    save("llama2-like", llama2_like())
    save("gemma-like", gemma_like())
    save("metaspace", metaspace())
    save_sentencepiece()
    save_splits()
    save_nfc()
    save_real_models()


if __name__ == "__main__":
    main()
