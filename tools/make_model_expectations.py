#!/usr/bin/env python3
"""Draws small tokenizers of every model, decoder and post-processor and writes what the reference package does with them:
tests/data/tokens/random-models.jsonl, one tokenizer a line.

    .venv/bin/python tools/make_model_expectations.py [--count 160] [--seed 1] [--out FILE]

A line: {"tokenizer": its tokenizer.json as text, "encodes": [[text, pair or null, how, result]], "decodes": [[ids, skip_special, text]]}.
`how` = {"special", "parse", "truncation", "padding"}; a result is null where the reference fails, otherwise
{"ids", "offsets", "types", "overflow": [{...}]} with offsets in code points. What the reference panics on is left out.
"""
import argparse
import json
import os
import random
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

LETTERS = list("aaabbbccde") + ["\u00e9", "\u4e2d", "\U0001f600", ".", ",", "'", "!", "A", "B", "\u2581", "\u0301", "x", "1"]
SPACES = [" ", " ", " ", "  ", "\n", "\u3000", "\u00a0"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


class Maker:
    """Random tokenizers, a function of the seed."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def maybe(self, probability: float) -> bool:
        return self.rng.random() < probability

    def word(self, longest: int = 4) -> str:
        return "".join(self.rng.choices(LETTERS, k=self.rng.randint(1, longest)))

    def words(self, n: int, longest: int = 4) -> list[str]:
        return list(dict.fromkeys(self.word(longest) for _ in range(n)))

    def ids(self, pieces: list[str]) -> dict[str, int]:
        pieces = list(dict.fromkeys(pieces))
        self.rng.shuffle(pieces)
        return {piece: i for i, piece in enumerate(pieces)}

    def word_level(self):
        pieces = self.words(self.rng.randint(3, 30)) + (["[UNK]"] if self.maybe(0.8) else [])
        return models.WordLevel(self.ids(pieces), unk_token="[UNK]")

    def wordpiece(self):
        prefix = self.rng.choice(["##", "##", "##", "", "@", "\u2581"])
        pieces = self.words(self.rng.randint(3, 25), 3) + [prefix + piece for piece in self.words(self.rng.randint(3, 25), 3)]
        pieces += list(set(LETTERS)) if self.maybe(0.5) else []
        pieces += [prefix + letter for letter in set(LETTERS)] if self.maybe(0.5) else []
        pieces += ["[UNK]"] if self.maybe(0.9) else []
        return models.WordPiece(self.ids(pieces), unk_token="[UNK]", continuing_subword_prefix=prefix,
                                max_input_chars_per_word=self.rng.choice([0, 3, 8, 100]))

    def score(self) -> float:
        return self.rng.choice([-1.0, -2.0, -3.0, -0.5, self.rng.uniform(-12, 0), self.rng.uniform(-12, 0), 0.0, 1.5])

    def unigram(self):
        pieces = [(piece, self.score()) for piece in self.words(self.rng.randint(3, 40), 5)]
        pieces += [(letter, self.score()) for letter in set(LETTERS) - {piece for piece, _ in pieces} if self.maybe(0.6)]
        has_bytes = self.maybe(0.4)
        if has_bytes:
            pieces += [(piece, self.score()) for piece in BYTES if self.maybe(0.999)]
        self.rng.shuffle(pieces)
        unk_id = None
        if self.maybe(0.85):
            unk_id = self.rng.randrange(len(pieces))
            pieces.insert(unk_id, ("<unk>", 0.0))
        return models.Unigram(pieces, unk_id, byte_fallback=has_bytes or self.maybe(0.1))

    def bpe(self, pieces: list[str], byte_fallback: bool):
        vocab = self.ids(pieces + ["<unk>"] + (BYTES if byte_fallback else []))
        merges = []
        for _ in range(self.rng.randint(0, 30)):
            left, right = self.rng.choices([piece for piece in vocab if piece not in BYTES and piece != "<unk>"], k=2)
            if (left, right) not in merges:
                merges.append((left, right))
                vocab.setdefault(left + right, len(vocab))
        return models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=self.maybe(0.5), byte_fallback=byte_fallback,
                          ignore_merges=self.maybe(0.2))

    def model(self):
        kind = self.rng.randrange(6)
        if kind == 0:
            return self.word_level(), False
        if kind == 1:
            return self.wordpiece(), False
        if kind in (2, 3):
            return self.unigram(), False
        if kind == 4:
            return self.bpe([letter for letter in set(LETTERS) if self.maybe(0.8)] or ["a"], self.maybe(0.5)), False
        return self.bpe(pre_tokenizers.ByteLevel.alphabet(), False), True

    def normalizer(self):
        kind = self.rng.randrange(6)
        steps = [normalizers.NFC(), normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581"), normalizers.Replace("a", "b")]
        if kind == 0:
            return self.rng.choice(steps)
        return normalizers.Sequence(self.rng.sample(steps, 2)) if kind == 1 else None

    def pre_tokenizer(self, is_byte_level: bool):
        if is_byte_level:
            return pre_tokenizers.ByteLevel(add_prefix_space=self.maybe(0.5), use_regex=self.maybe(0.7))
        scheme = self.rng.choice(["always", "never", "first"])
        split = pre_tokenizers.Split(Regex(r"\s+"), self.rng.choice(["removed", "isolated", "merged_with_previous"]))
        choices = [None, split, split, pre_tokenizers.Metaspace(prepend_scheme=scheme, split=self.maybe(0.5))]
        return self.rng.choice(choices)

    def added_token(self, vocab: list[str]):
        content = self.rng.choice([self.word(3), "<s>", "</s>", "[CLS]", "ab", "abc", " a", "a ", "<x>", "<x><x>", "ABC", self.rng.choice(vocab)])
        return AddedToken(content, single_word=self.maybe(0.15), lstrip=self.maybe(0.2), rstrip=self.maybe(0.2), normalized=self.maybe(0.4),
                          special=self.maybe(0.5))

    def added_tokens(self, tokenizer: Tokenizer) -> None:
        vocab = list(tokenizer.get_vocab())
        normalizer = tokenizer.normalizer
        forms = set()
        for _ in range(self.rng.randint(0, 5)):
            token = self.added_token(vocab)
            # Two tokens of one normalised form depend on the order of a hash table in the reference.
            form = normalizer.normalize_str(token.content) if normalizer and token.normalized else token.content
            if (form, token.normalized) not in forms and form:
                forms.add((form, token.normalized))
                (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])

    def decoder(self):
        scheme = self.rng.choice(["always", "never", "first"])
        choices = [
            decoders.ByteLevel(), decoders.ByteFallback(), decoders.Fuse(), decoders.Metaspace(prepend_scheme=scheme),
            decoders.WordPiece(prefix=self.rng.choice(["##", "", "@"]), cleanup=self.maybe(0.6)), decoders.BPEDecoder(self.rng.choice(["</w>", "b", "ab"])),
            decoders.CTC(pad_token=self.rng.choice(["a", "<pad>", "[UNK]"]), word_delimiter_token=self.rng.choice(["|", "b", "c"]), cleanup=self.maybe(0.6)),
            decoders.Replace("\u2581", " "), decoders.Replace("ab", self.rng.choice(["", "x", "aba"])), decoders.Replace(Regex("[bc]+"), "-"),
            decoders.Strip(self.rng.choice([" ", "a"]), self.rng.randint(0, 2), 0), decoders.Strip(self.rng.choice([" ", "a", "\u4e2d"]), 0, self.rng.randint(0, 2))]
        kind = self.rng.randrange(8)
        if kind == 0:
            return None
        if kind < 3:
            return self.rng.choice(choices)
        return decoders.Sequence(self.rng.choices(choices, k=self.rng.randint(1, 4)))

    def post_processor(self, vocab: dict[str, int], may_trim: bool):
        cls, sep = (self.rng.choice(sorted(vocab.items())) for _ in range(2))
        around = [("[CLS]:%d" % self.rng.randint(0, 2)), "$A", "[SEP]"]
        template = processors.TemplateProcessing(
            single=" ".join(self.rng.choice([around, around[1:], around[:2], ["$A:3"], ["$A:1", "[SEP]:4", "$A"]])),
            pair=" ".join(self.rng.choice([around + ["$B:1", "[SEP]:1"], ["$B:2", "$A"], ["[CLS]", "$A", "[CLS]", "$B:1"]])),
            special_tokens=[("[CLS]", cls[1]), ("[SEP]", sep[1])])
        trims = [may_trim and self.maybe(0.7), False]  # at most one: nobody trims twice
        self.rng.shuffle(trims)
        choices = [processors.BertProcessing(sep, cls), template, processors.ByteLevel(add_prefix_space=self.maybe(0.5), trim_offsets=trims[0]),
                   processors.RobertaProcessing(sep, cls, trim_offsets=trims[1], add_prefix_space=self.maybe(0.5))]
        kind = self.rng.randrange(6)
        if kind == 0:
            return None
        return self.rng.choice(choices) if kind < 4 else processors.Sequence(self.rng.sample(choices, 2))

    def tokenizer(self) -> Tokenizer:
        model, is_byte_level = self.model()
        out = Tokenizer(model)
        if (normalizer := self.normalizer()) is not None:
            out.normalizer = normalizer
        if (pre_tokenizer := self.pre_tokenizer(is_byte_level)) is not None:
            out.pre_tokenizer = pre_tokenizer
        if (decoder := self.decoder()) is not None:
            out.decoder = decoder
        self.added_tokens(out)
        if (processor := self.post_processor(out.get_vocab(), is_byte_level and out.normalizer is None)) is not None:
            out.post_processor = processor
        return out

    def text(self, added: list[str]) -> str:
        parts = [self.word, lambda: self.rng.choice(SPACES), lambda: self.rng.choice(added) if added else "a", lambda: "ab" * self.rng.randint(1, 4)]
        return "".join(self.rng.choice(parts)() for _ in range(self.rng.randint(0, 9)))


def result(encoding, has_overflow: bool = True) -> dict:
    """Parts of parts (the reference makes some, each also in the list itself) are left out."""
    return {"ids": encoding.ids, "offsets": [list(pair) for pair in encoding.offsets], "types": encoding.type_ids,
            "overflow": [result(part, False) for part in encoding.overflowing] if has_overflow else []}


def draw_how(maker: Maker, is_pair: bool) -> dict:
    how = {"special": maker.maybe(0.7), "parse": maker.maybe(0.8), "truncation": None, "padding": None}
    if maker.maybe(0.3):
        strategy = maker.rng.choice(["longest_first", "only_first"] + (["only_second"] if is_pair else []))
        how["truncation"] = [maker.rng.randint(8, 16), maker.rng.randint(0, 1), strategy, maker.rng.choice(["left", "right"])]
    if maker.maybe(0.2):
        how["padding"] = [maker.rng.choice([None, 5, 20]), maker.rng.choice([0, 4]), maker.rng.choice(["left", "right"]), maker.rng.randint(0, 3), 2]
    return how


def encode(tokenizer: Tokenizer, text: str, pair: str | None, how: dict) -> dict | None:
    tokenizer.encode_special_tokens = not how["parse"]
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        if how["truncation"]:
            length, stride, strategy, side = how["truncation"]
            tokenizer.enable_truncation(length, stride=stride, strategy=strategy, direction=side)
        if how["padding"]:
            length, multiple, side, pad_id, type_id = how["padding"]
            tokenizer.enable_padding(direction=side, pad_id=pad_id, pad_type_id=type_id, length=length, pad_to_multiple_of=multiple or None)
        return result(tokenizer.encode(text, pair, add_special_tokens=how["special"]))
    except Exception:
        return None


def draw_encodes(maker: Maker, tokenizer: Tokenizer, n: int) -> list:
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    out = []
    for _ in range(n):
        text = maker.text(added)
        pair = maker.text(added) if maker.maybe(0.3) else None
        how = draw_how(maker, pair is not None)
        try:
            out.append([text, pair, how, encode(tokenizer, text, pair, how)])
        except BaseException as error:  # a Rust panic is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return out


def draw_decodes(maker: Maker, tokenizer: Tokenizer, n: int) -> list:
    size = tokenizer.get_vocab_size()
    bytes_ = [i for i in map(tokenizer.token_to_id, BYTES) if i is not None]
    out = []
    for _ in range(n):
        ids = [maker.rng.randrange(size + 1) for _ in range(maker.rng.randint(0, 10))]
        if bytes_ and maker.maybe(0.6):
            ids = [maker.rng.choice(bytes_) if maker.maybe(0.5) else i for i in ids]
            ids[2:2] = [tokenizer.token_to_id(f"<0x{byte:02X}>") or 0 for byte in maker.rng.choice(["\u20ac", "\u00e9", "a"]).encode()]
        skip = maker.maybe(0.5)
        try:
            out.append([ids, skip, tokenizer.decode(ids, skip_special_tokens=skip)])
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--texts", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "tests/data/tokens/random-models.jsonl")
    args = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    print("tokenizers", tokenizers.__version__)
    with args.out.open("w", encoding="utf-8") as out:
        for i in range(args.count):
            maker = Maker(1000003 * args.seed + i)
            tokenizer = Tokenizer.from_str(maker.tokenizer().to_str())
            row = {"tokenizer": tokenizer.to_str(), "encodes": draw_encodes(maker, tokenizer, args.texts),
                   "decodes": draw_decodes(maker, tokenizer, args.texts)}
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
