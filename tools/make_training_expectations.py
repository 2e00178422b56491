#!/usr/bin/env python3
"""Vocabularies that the reference package trains, for the tests of src/tokens/train: tests/data/tokens/training.json.

    .venv/bin/python tools/make_training_expectations.py [--shared ../shared]

"words": small sets of counted words, drawn so that many pairs are counted equally often, with the whole vocabulary. "files": texts of our
own with a digest of the vocabulary and the ids of some sentences. "shared": the same for texts of the shared folder, where it is present.

What the reference gives only by chance is not asked of us: its WordPiece numbers "##x" by a hash table, so here it gets them in our order
(as special tokens); unigram characters that lost their pieces share out their scores by a hash table, so these are compared as a group.
Cases in which two runs of the reference differ otherwise are dropped.
"""
import argparse
import json
import random
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "data" / "tokens" / "training.json"
N_RUNS = 4
SENTENCES = ["The glass is clear, isn't it?", "  two  spaces\n", "unseen: Übergrößenträger 12345", "日本語のテキスト", ""]
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
NORMALIZERS = {
    "none": None,
    "nfc": normalizers.NFC(),
    "nfkc": normalizers.NFKC(),
    "bert": normalizers.BertNormalizer(),
    "bert-cased": normalizers.BertNormalizer(lowercase=False),
}


def fnv(lines: list[str]) -> str:
    """FNV-1a, 64 bits, of the lines, each with its end."""
    value = 0xCBF29CE484222325
    for byte in "".join(line + "\n" for line in lines).encode():
        value = ((value ^ byte) * 0x100000001B3) % (1 << 64)
    return f"{value:016x}"


def model_of(tokenizer: Tokenizer) -> dict:
    return json.loads(tokenizer.to_str())["model"]


def pieces_of(model: dict) -> list[str]:
    return [piece for piece, _ in sorted(model["vocab"].items(), key=lambda item: item[1])]


def feed(words: list) -> list[str]:
    return [word for word, count in words for _ in range(count)]


# --- counted words ---


def bpe_words(words: list, options: dict) -> dict:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.train_from_iterator(feed(words), trainers.BpeTrainer(show_progress=False, **options))
    model = model_of(tokenizer)
    return {"pieces": pieces_of(model), "merges": [[model["vocab"][a], model["vocab"][b]] for a, b in model["merges"]]}


def inside(words: list) -> list[str]:
    """The continuing characters in the order in which we number them."""
    return ["##" + c for c in sorted({c for word, _ in words for c in word[1:]})]


def wordpiece_words(words: list, options: dict) -> dict:
    alphabet = sorted({c for word, _ in words for c in word})
    fixed = options["special_tokens"] + alphabet + inside(words)
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trainer = trainers.WordPieceTrainer(show_progress=False, **(options | {"special_tokens": fixed}))
    tokenizer.train_from_iterator(feed(words), trainer)
    return {"pieces": pieces_of(model_of(tokenizer))}


def unigram_once(words: list, options: dict) -> dict:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.train_from_iterator(feed(words), trainers.UnigramTrainer(show_progress=False, unk_token="<unk>", **options))
    return model_of(tokenizer)


def merge_runs(runs: list[dict]) -> dict | None:
    """Scores by piece, those that are the same in all runs; the others, sorted, as a group; nothing where the pieces differ."""
    tables = [dict(map(tuple, run["vocab"])) for run in runs]
    if any(set(table) != set(tables[0]) for table in tables):
        return None
    shared_out = sorted(p for p in tables[0] if max(t[p] for t in tables) - min(t[p] for t in tables) > 1e-8)
    return {
        "unknown": runs[0]["unk_id"],
        "scores": {p: s for p, s in sorted(tables[0].items()) if p not in shared_out},
        "group": shared_out,
        "group_scores": sorted(tables[0][p] for p in shared_out),
    }


def unigram_words(words: list, options: dict) -> dict | None:
    return merge_runs([unigram_once(words, options) for _ in range(N_RUNS)])


def draw_words(rng: random.Random, alphabet: str, n_words: int, longest: int) -> list:
    words: dict[str, int] = {}
    for _ in range(n_words):
        word = "".join(rng.choice(alphabet) for _ in range(rng.randint(1, longest)))
        words[word] = words.get(word, 0) + rng.choice([1, 1, 2, 3, 5])
    return [[word, count] for word, count in words.items()]


def case(model: str, words: list, options: dict, train) -> list[dict]:
    try:
        runs = [train(words, options) for _ in range(N_RUNS)]
    except Exception:  # the reference refuses a vocabulary that is too small
        return []
    if model == "unigram":
        if runs[0] is None or any(r is None or r["group"] != runs[0]["group"] for r in runs):
            return []
    elif any(run != runs[0] for run in runs):
        return []
    return [{"model": model, "words": words, "options": options, "expected": runs[0]}]


def word_cases() -> list[dict]:
    rng = random.Random(5)
    out = []
    bpe_options = [
        {"vocab_size": 40, "special_tokens": [], "min_frequency": 0},
        {"vocab_size": 60, "special_tokens": ["<s>", "ab", "<s>"], "min_frequency": 2},
        {"vocab_size": 60, "special_tokens": ["abc"], "min_frequency": 0, "max_token_length": 4},
        {"vocab_size": 200, "special_tokens": [], "min_frequency": 0, "initial_alphabet": ["x", "y", "é"]},
        {"vocab_size": 50, "special_tokens": [], "min_frequency": 0, "limit_alphabet": 3},
    ]
    for i in range(40):
        words = draw_words(rng, rng.choice(["ab", "abc", "abcde", "aé日"]), rng.randint(2, 25), rng.choice([4, 12, 40]))
        out += case("bpe", words, bpe_options[i % len(bpe_options)], bpe_words)
    for _ in range(12):
        words = draw_words(rng, rng.choice(["ab", "abc", "abcdef"]), rng.randint(2, 25), rng.choice([4, 12]))
        out += case("wordpiece", words, {"vocab_size": 60, "special_tokens": ["[UNK]", "[CLS]"], "min_frequency": 2}, wordpiece_words)
    unigram_options = [
        {"vocab_size": 9, "special_tokens": []},
        {"vocab_size": 14, "special_tokens": ["<s>", "<unk>"]},
        {"vocab_size": 30, "special_tokens": ["<s>"], "max_piece_length": 4},
        {"vocab_size": 12, "special_tokens": [], "max_piece_length": 16},
    ]
    for i in range(40):
        words = draw_words(rng, rng.choice(["abc", "abcde", "aé日本"]), rng.randint(3, 30), rng.choice([4, 8, 20]))
        out += case("unigram", words, unigram_options[i % len(unigram_options)], unigram_words)
    return out


# --- texts ---


def byte_level(pattern: str):
    if pattern == "gpt2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    regex = LLAMA3 if pattern == "llama-bpe" else pattern
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(regex), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )


def train_bpe(path: Path, o: dict) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = byte_level(o["pattern"])
    trainer = trainers.BpeTrainer(
        vocab_size=o["vocab_size"],
        min_frequency=o["min_frequency"],
        special_tokens=o["special_tokens"],
        max_token_length=o.get("max_token_length"),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.normalizer = NORMALIZERS[o["normalizer"]]
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train([str(path)], trainer)
    return tokenizer


def train_wordpiece(path: Path, o: dict) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = NORMALIZERS[o["normalizer"]]
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    with open(path, newline="\n", encoding="utf-8") as file:
        lines = [tokenizer.normalizer.normalize_str(line) for line in file]
    words = [[word, 1] for line in lines for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(line)]
    alphabet = sorted({c for word, _ in words for c in word})
    trainer = trainers.WordPieceTrainer(
        vocab_size=o["vocab_size"],
        min_frequency=o["min_frequency"],
        special_tokens=o["special_tokens"] + alphabet + inside(words),
        show_progress=False,
    )
    tokenizer.train([str(path)], trainer)
    made = json.loads(tokenizer.to_str())
    made["added_tokens"] = [token for token in made["added_tokens"] if token["content"] in o["special_tokens"]]
    return Tokenizer.from_str(json.dumps(made))


def train_unigram(path: Path, o: dict) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = NORMALIZERS[o["normalizer"]]
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=o["vocab_size"],
        special_tokens=o["special_tokens"],
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.train([str(path)], trainer)
    return tokenizer


TRAIN = {"bpe": train_bpe, "wordpiece": train_wordpiece, "unigram": train_unigram}


def text_case(root: Path, path: str, model: str, **options) -> dict:
    tokenizer = TRAIN[model](root / path, options)
    made = model_of(tokenizer)
    row = {"file": path, "model": model, "options": options}
    if model == "unigram":
        # The sum does not depend on who of a group got which of its scores.
        return row | {
            "pieces": fnv(sorted((piece for piece, _ in made["vocab"]), key=lambda piece: piece.encode())),
            "score_sum": sum(score for _, score in made["vocab"]),
        }
    row["pieces"] = fnv(pieces_of(made))
    if model == "bpe":
        row["merges"] = fnv([f"{a} {b}" for a, b in made["merges"]])
    row["encoded"] = [[text, tokenizer.encode(text).ids] for text in SENTENCES]
    return row


def own_cases() -> list[dict]:
    text, bert = "tests/data/real/text.txt", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    bpe = {"vocab_size": 500, "min_frequency": 2, "special_tokens": ["<|endoftext|>"], "pattern": "gpt2", "normalizer": "none"}
    return [
        text_case(ROOT, text, "bpe", **bpe),
        text_case(ROOT, text, "bpe", **(bpe | {"vocab_size": 5000, "min_frequency": 0, "pattern": "llama-bpe", "normalizer": "nfc"})),
        text_case(ROOT, text, "bpe", **(bpe | {"pattern": r"\w+|[^\w\s]+|\s+", "max_token_length": 5})),
        text_case(ROOT, text, "wordpiece", vocab_size=600, min_frequency=2, special_tokens=bert, normalizer="bert"),
        text_case(ROOT, text, "wordpiece", vocab_size=400, min_frequency=0, special_tokens=bert, normalizer="bert-cased"),
        text_case(ROOT, text, "unigram", vocab_size=300, special_tokens=[], normalizer="nfkc"),
        text_case(ROOT, text, "unigram", vocab_size=700, special_tokens=["<pad>", "<unk>"], normalizer="none"),
    ]


def shared_cases(shared: Path) -> list[dict]:
    out = []
    bpe = {"vocab_size": 8000, "min_frequency": 0, "special_tokens": ["<|endoftext|>"], "pattern": "gpt2", "normalizer": "none"}
    for name in ("botchan", "tinyshakespeare", "wagahaiwa_nekodearu", "wikitext2-test"):
        path = f"data/text/{name}.txt"
        out.append(text_case(shared, path, "bpe", **bpe))
        out.append(text_case(shared, path, "bpe", **(bpe | {"vocab_size": 2000, "min_frequency": 2, "pattern": "llama-bpe"})))
    for name in ("botchan", "tinyshakespeare"):
        path = f"data/text/{name}.txt"
        out.append(text_case(shared, path, "wordpiece", vocab_size=4000, min_frequency=2, special_tokens=["[UNK]"], normalizer="bert"))
        out.append(text_case(shared, path, "unigram", vocab_size=4000, special_tokens=["<s>"], normalizer="nfkc"))
    out.append(text_case(shared, "data/text/botchan.txt", "unigram", vocab_size=1000, special_tokens=[], normalizer="none"))
    for row in out:
        row.pop("encoded", None)
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    shared = parser.parse_args().shared
    made = {"words": word_cases(), "files": own_cases()}
    if shared.exists():
        made["shared"] = shared_cases(shared)
    else:
        made["shared"] = json.loads(OUT.read_text())["shared"]
    lines = [f'"{key}":[\n' + ",\n".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in rows) + "\n]" for key, rows in made.items()]
    OUT.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    print(f"{OUT}: {OUT.stat().st_size} bytes, " + ", ".join(f"{len(rows)} {key}" for key, rows in made.items()))


if __name__ == "__main__":
    main()
