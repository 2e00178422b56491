#!/usr/bin/env python3
"""Draws random texts and compares `vitro tokenize` with the reference package: ids, and offsets where the package has them.

    .venv/bin/python tools/compare_tokenizers.py MODEL... [--count 10000] [--seed 1] [--vitro build/release/vitro] [--encoding NAME]

MODEL is a tokenizer.json (reference: tokenizers), a SentencePiece .model (sentencepiece) or a rank file .tiktoken
(tiktoken; --encoding as `vitro tokenize` takes it), each also packed as .xz. Texts come from every part of Unicode: single windows,
mixed scripts, emoji sequences, combining marks, controls, long runs of white space, numbers, contractions, code, and the
model's own special tokens written out. Prints the first differences, each text as a JSON string; exit 1 if there is any.
"""
import argparse
import json
import lzma
import random
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

WINDOW = 128  # code points that scripts share; blocks of Unicode are unions of such windows
SHOWN = 5
SPACES = [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u2003", "\u2028", "\u3000", "\u200b", "\u0085", "\x0b", "\u180e", "\ufeff"]
CONTRACTIONS = ["'s", "'S", "'t", "'re", "'RE", "'ve", "'m", "'ll", "'LL", "'d", "\u2019s", "n't", "'\u017f"]
CODE = ["for (int i = 0; i < n; ++i) {", "\treturn x->y[3];\n", "def f(a, *b):\n    pass\n", "</div>", "https://a.b/c?d=e&f#g", "!==", "\\n",
        "0x1F", "3.14159e-10", "#include <a.h>\n", "{{ x }}", "/* */", "$$", "....", "----", "\u00ac\u00b1"]
EMOJI = ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "1\ufe0f\u20e3", "\u2764\ufe0f",
         "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\U0001fae8", "\u200d", "\ufe0f"]
MARKS = "\u0300\u0301\u0308\u0323\u0327\u0345\u05b0\u0651\u093c\u0e47\u20dd\u302a\u3099\ufb1e\U0001d165"
WORDS = ["the", "Hello", "WORLD", "na\u00efve", "Stra\u00dfe", "\u0130stanbul", "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "\ufb01ne", "\u01c5", "\u4eca\u5929\u5929\u6c14",
         "\u3053\u3093\u306b\u3061\u306f", "\uc548\ub155\ud558\uc138\uc694", "\u1112\u1161\u11ab", "\u041f\u0440\u0438\u0432\u0435\u0442", "\u0645\u0631\u062d\u0628\u0627", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
         "cafe\u0301", "\u1e9b\u0323", "\u212b", "\u2460", "\u00bd", "\uff21\uff22", "x\u00b2", "I\u0307"]


def windows() -> list[int]:
    """Starts of the windows that hold an assigned code point which is no surrogate and not for private use."""
    starts = []
    for start in range(0, 0x110000, WINDOW):
        kinds = {unicodedata.category(chr(code)) for code in range(start, start + WINDOW)}
        if kinds - {"Cn", "Cs", "Co"}:
            starts.append(start)
    return starts + [0xE000, 0xF0000, 0x10FF80]


class Texts:
    """An endless supply of texts, a function of the seed."""

    def __init__(self, seed: int, special: list[str]):
        self.rng = random.Random(seed)
        self.windows = windows()
        self.special = special or ["<s>", "<unk>"]
        self.parts: list[Callable[[], str]] = [
            self.window, self.window, self.anywhere, self.words, self.words, self.white, self.marks, self.numbers, self.run,
            lambda: self.some(CODE), lambda: self.some(EMOJI), lambda: self.some(CONTRACTIONS), self.controls,
            lambda: self.rng.choice(self.special)]

    def some(self, choices: list[str]) -> str:
        return "".join(self.rng.choices(choices, k=self.rng.randint(1, 4)))

    def window(self) -> str:
        start = self.rng.choice(self.windows)
        return "".join(chr(start + self.rng.randrange(WINDOW)) for _ in range(self.rng.randint(1, 12)))

    def anywhere(self) -> str:
        return "".join(chr(self.rng.choice(self.windows) + self.rng.randrange(WINDOW)) for _ in range(self.rng.randint(1, 6)))

    def words(self) -> str:
        return self.rng.choice(["", " "]) + " ".join(self.rng.choices(WORDS, k=self.rng.randint(1, 5)))

    def white(self) -> str:
        return self.rng.choice(SPACES) * self.rng.choice([1, 1, 2, 3, 7, 40])

    def marks(self) -> str:
        return self.rng.choice("aeio\u03b1\uac00\u304b") + "".join(self.rng.choices(MARKS, k=self.rng.randint(1, 5)))

    def numbers(self) -> str:
        return self.rng.choice([str(self.rng.randrange(10 ** self.rng.randint(1, 12))), "\u0661\u0662\u0663\u0664", "\u2167", "1,234.5", "\U0001d7ce\U0001d7cf"])

    def run(self) -> str:
        return self.rng.choice(["a", "A", "-", "=", "\u00e9", "\u4e00", " ", "\n", "0", "\U0001f600"]) * self.rng.choice([2, 5, 17, 90])

    def controls(self) -> str:
        return self.rng.choice(["\x00", "\x01", "\x1f", "\x7f", "\u0080", "\u009f", "\u00ad", "\u202e", "\ufffd", "\ufffe", "\u2060"])

    def draw(self) -> str:
        return "".join(self.rng.choice(self.parts)() for _ in range(self.rng.randint(1, 8)))


@dataclass
class Answer:
    ids: list[int]
    offsets: list[tuple[int, int]] | None = None
    counts: str = "offsets"  # what the offsets count, as the member of our answer: "offsets" (code points) or "byte_offsets"


@dataclass
class Reference:
    """A package with one tokenizer; `arguments` make `vitro tokenize` do the same."""
    encode: Callable[[str], Answer]
    special: list[str]
    arguments: list[str]


def of_tokenizers(path: Path) -> Reference:
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(text: str) -> Answer:
        encoding = tokenizer.encode(text)
        return Answer(encoding.ids, [tuple(pair) for pair in encoding.offsets])

    return Reference(encode, [token.content for token in tokenizer.get_added_tokens_decoder().values()], [])


def of_sentencepiece(path: Path) -> Reference:
    from sentencepiece import SentencePieceProcessor
    processor = SentencePieceProcessor(model_file=str(path))

    def encode(text: str) -> Answer:
        pieces = processor.encode(text, return_type="proto").pieces
        return Answer([piece.id for piece in pieces], [(piece.begin, piece.end) for piece in pieces], "byte_offsets")

    return Reference(encode, ["<s>", "</s>", "<unk>"], ["--no-special", "--no-parse-special"])


def of_tiktoken(path: Path, name: str) -> Reference:
    import tiktoken_ext.openai_public as published
    from tiktoken import Encoding
    from tiktoken.load import load_tiktoken_bpe
    published.load_tiktoken_bpe = lambda *_, **__: load_tiktoken_bpe(str(path))  # from here instead of the network
    encoding = Encoding(**getattr(published, name)())
    return Reference(lambda text: Answer(encoding.encode(text, allowed_special="all")), sorted(encoding.special_tokens_set),
                     [] if name == path.stem else ["--encoding", name])


def unpacked(path: Path, folder: Path) -> Path:
    if path.suffix != ".xz":
        return path
    out = folder / path.stem
    out.write_bytes(lzma.decompress(path.read_bytes()))
    return out


def reference_for(path: Path, encoding: str | None) -> Reference:
    if path.suffix == ".json":
        return of_tokenizers(path)
    if path.suffix == ".tiktoken":
        return of_tiktoken(path, encoding or path.stem)
    return of_sentencepiece(path)


def ours(vitro: str, model: Path, texts: list[str], arguments: list[str]) -> list[dict]:
    lines = "\n".join(json.dumps(text, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\x85", "\\u0085") for text in texts)
    run = subprocess.run([vitro, "tokenize", str(model), "--jsonl", *arguments], input=lines + "\n", capture_output=True, text=True,
                         encoding="utf-8", check=False)
    answers = [json.loads(line) for line in run.stdout.split("\n") if line]
    if len(answers) != len(texts):
        sys.exit(f"{model}: {len(texts)} texts, {len(answers)} answers; {run.stderr.strip()}")
    return answers


def difference(text: str, wanted: Answer, found: dict) -> str | None:
    if "error" in found:
        return f"error: {found['error']}"
    if wanted.ids != found["ids"]:
        return f"wanted ids {wanted.ids}\n   found ids {found['ids']}"
    offsets = [tuple(pair) for pair in found[wanted.counts]]
    if wanted.offsets is not None and wanted.offsets != offsets:
        return f"wanted offsets {wanted.offsets}\n   found offsets {offsets}"
    return None


def compare(model: Path, options: argparse.Namespace) -> int:
    """Number of texts that differ."""
    with tempfile.TemporaryDirectory() as folder:
        path = unpacked(model, Path(folder))
        reference = reference_for(path, options.encoding)
        texts = Texts(options.seed, reference.special)
        drawn = [texts.draw() for _ in range(options.count)]
        answers = ours(options.vitro, path, drawn, reference.arguments)
    n_wrong = 0
    for text, found in zip(drawn, answers):
        if what := difference(text, reference.encode(text), found):
            n_wrong += 1
            if n_wrong <= SHOWN:
                print(f"{json.dumps(text)}\n  {what}")
    print(f"{model}: {options.count - n_wrong} of {options.count} texts agree")
    return n_wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vitro", default="build/release/vitro")
    parser.add_argument("--encoding")
    options = parser.parse_args()
    return 1 if sum([compare(model, options) for model in options.models]) else 0


if __name__ == "__main__":
    sys.exit(main())
