#!/usr/bin/env python3
"""Expected numbers for the embedded model: tests/data/embedded/expected.json, read by `vitro verify`.

    apt-get install python3-torch libopenblas0-pthread
    .venv/bin/python tools/make_embedded_expectations.py

From assets/embedded as it is committed: ids by the tokenizers package, log-probabilities, greedy texts and the mean loss of a text by
PyTorch in float64 on the bfloat16 weights. .venv has the tokenizers package, Debian's own folder PyTorch. To be run after every
training; a minute.
"""
import hashlib
import json
import struct
import sys
from pathlib import Path

import tokenizers

sys.path.append("/usr/lib/python3/dist-packages")
import torch  # noqa: E402  (Debian's)

import train_embedded  # noqa: E402  (beside this script; it needs PyTorch)

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "assets" / "embedded"
TARGET = ROOT / "tests" / "data" / "embedded" / "expected.json"
TEXT = ROOT / "tests" / "data" / "real" / "text.txt"
PROMPTS = ["And God said, Let there be", "She had not been long in the room before", "KING RICHARD:\nMy lord,", "The capital of France is",
           "Zwölf Boxkämpfer jagten 12 große Sylter: 天气 🙂\t\n\n  x", "a"]
N_TOP = 20
N_GREEDY = 48
N_WINDOWS = 4


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    data = path.read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    weights = {}
    for name, entry in header.items():
        first, last = (8 + size + offset for offset in entry["data_offsets"])
        values = torch.frombuffer(bytearray(data[first:last]), dtype=torch.bfloat16)
        weights[name] = values.reshape(entry["shape"]).double()
    return weights


def read_model(folder: Path) -> train_embedded.Llama:
    config = json.loads((folder / "config.json").read_text())
    keys = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size")
    shape = train_embedded.Shape(*(config[key] for key in keys))
    return train_embedded.Llama(shape, read_weights(folder / "model.safetensors"), torch.float64)


def log_probabilities(model: train_embedded.Llama, ids: list[int]) -> torch.Tensor:
    return model(torch.tensor([ids]))[0].log_softmax(-1)


def row(model: train_embedded.Llama, tokenizer: tokenizers.Tokenizer, prompt: str) -> dict:
    ids = tokenizer.encode(prompt).ids
    best = log_probabilities(model, ids)[-1].topk(N_TOP)
    greedy, gaps = [], []
    for _ in range(N_GREEDY):
        two = log_probabilities(model, ids + greedy)[-1].topk(2)
        greedy.append(int(two.indices[0]))
        gaps.append(round(float(two.values[0] - two.values[1]), 6))
    return {"prompt": prompt, "ids": ids, "greedy": greedy, "gaps": gaps, "greedy_text": tokenizer.decode(greedy),
            "top": [[int(i), tokenizer.decode([int(i)]), round(float(p), 9)] for p, i in zip(best.values, best.indices)]}


def nll(model: train_embedded.Llama, tokenizer: tokenizers.Tokenizer) -> dict:
    n_ctx = train_embedded.N_CTX
    ids = tokenizer.encode(TEXT.read_text("utf-8")).ids[:N_WINDOWS * n_ctx]
    losses = []
    for first in range(0, len(ids), n_ctx):
        window = ids[first:first + n_ctx]
        table = log_probabilities(model, window)
        losses += [-float(table[i, window[i + 1]]) for i in range(len(window) - 1)]
    return {"ids": ids, "window": n_ctx, "text": str(TEXT.relative_to(ROOT)), "tokens": len(losses), "mean_nll": sum(losses) / len(losses)}


@torch.no_grad()
def main() -> None:
    model, tokenizer = read_model(MODEL), tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    value = {"generator": f"tools/{Path(__file__).name}", "reference": "PyTorch float64", "torch": torch.__version__,
             "tokenizers": tokenizers.__version__, "file": "assets/embedded/model.safetensors",
             "file_sha256": hashlib.sha256((MODEL / "model.safetensors").read_bytes()).hexdigest(),
             "rows": [row(model, tokenizer, prompt) for prompt in PROMPTS], "nll": nll(model, tokenizer)}
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
    for one in value["rows"]:
        print(repr(one["prompt"]), "->", repr(one["greedy_text"]))


if __name__ == "__main__":
    main()
