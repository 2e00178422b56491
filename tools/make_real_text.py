#!/usr/bin/env python3
"""Expected numbers for the real models on a text of our own: tests/data/real/NAME/expected.json, read by `vitro verify`.

    tools/make_real_text.py --shared ../shared [smollm2] [gemma3-270m]

A prompt beyond Gemma's window of 512 with its twenty most likely next tokens, and the mean loss over windows of 512 tokens of
tests/data/real/text.txt. The numbers come from the witness of the shared folder (oracle/witness.py: NumPy float64, from the vendors' own
code) on the weights as the gguf package de-quantises them, the ids from the tokenizers package. Before anything is written the witness
must agree with what transformers said about the stored prompts. About two minutes for both models.
"""
import argparse
import hashlib
import json
import lzma
import os
import sys
from pathlib import Path

import gguf
import numpy as np
import tokenizers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("VITRO_CACHE") or Path.home() / ".cache" / "vitro")  # filled by `vitro pull`
DATA = ROOT / "tests" / "data" / "real"
FOLDERS = {"smollm2": "smollm2-135m-instruct-q4_1", "gemma3-270m": "gemma3-270m-q4_k_m"}
WINDOW = 512
N_NLL = 3 * WINDOW
N_PROMPT_CHARS = 3000  # about 650 tokens
N_TOP = 20
MAX_DISAGREEMENT = 2e-4  # log-probabilities; transformers' float32 noise on these models is below 1e-4

# GGUF tensor -> Hugging Face's; the witness speaks the latter.
NAMES = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
NORMS = {"llama": {"ffn_norm": "post_attention_layernorm"},
         "gemma3": {"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
                    "post_ffw_norm": "post_feedforward_layernorm"}}


def unpermute(weight: np.ndarray, n_head: int) -> np.ndarray:
    """The converter put the two halves of each head's rows into adjacent pairs; this puts them back."""
    return weight.reshape(n_head, -1, 2, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


class GgufModel:
    """Configuration and weights under Hugging Face's names, as the witness wants them."""

    def __init__(self, path: Path):
        self.reader = gguf.GGUFReader(path)
        self.arch = self.field("general.architecture")
        self.config = self._config()
        self.weights = {name: values for name, values in map(self._tensor, self.reader.tensors) if name}

    def field(self, key: str, default=None):
        field = self.reader.fields.get(key)
        return default if field is None else field.contents()

    def _key(self, key: str, default=None):
        return self.field(f"{self.arch}.{key}", default)

    def _config(self) -> dict:
        n_layer, n_head = self._key("block_count"), self._key("attention.head_count")
        base = {"rope_type": "default", "rope_theta": self._key("rope.freq_base", 10000.0)}
        config = {"hidden_size": self._key("embedding_length"), "num_hidden_layers": n_layer, "num_attention_heads": n_head,
                  "num_key_value_heads": self._key("attention.head_count_kv"), "rms_norm_eps": self._key("attention.layer_norm_rms_epsilon"),
                  "head_dim": self._key("attention.key_length", self._key("embedding_length") // n_head),
                  "max_position_embeddings": self._key("context_length"), "tie_word_embeddings": True, "hidden_act": "silu",
                  "model_type": "llama", "rope_parameters": base}
        if self.arch == "gemma3":
            config.update(model_type="gemma3_text", sliding_window=self._key("attention.sliding_window"),
                          rope_parameters={"full_attention": base, "sliding_attention": {**base, "rope_theta": 10000.0}})
        return config

    def _tensor(self, tensor) -> tuple[str, np.ndarray]:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float64)
        name = tensor.name.removesuffix(".weight")
        if self.arch == "gemma3" and name.endswith("norm"):
            values = values - 1  # the converter folded the 1 of (1 + gain) into the gain
        if name in ("token_embd", "output_norm"):
            return {"token_embd": "model.embed_tokens.weight", "output_norm": "model.norm.weight"}[name], values
        _, layer, part = name.split(".")
        if self.arch == "llama" and part in ("attn_q", "attn_k"):
            values = unpermute(values, self.config["num_attention_heads" if part == "attn_q" else "num_key_value_heads"])
        return f"model.layers.{layer}.{ {**NAMES, **NORMS[self.arch]}[part]}.weight", values

    def tokenizer(self, shared: Path) -> Tokenizer:
        if self.arch == "gemma3":
            with lzma.open(shared / "data" / "tokenizers" / "hf" / "gemma3" / "tokenizer.json.xz", "rt") as file:
                return Tokenizer.from_str(file.read())
        vocab = {piece: i for i, piece in enumerate(self.field("tokenizer.ggml.tokens"))}
        merges = [tuple(merge.split(" ")) for merge in self.field("tokenizer.ggml.merges")]
        tokenizer = Tokenizer(models.BPE(vocab, merges))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)])
        tokenizer.decoder = decoders.ByteLevel()
        return tokenizer


def log_probabilities(witness, model: GgufModel, ids: list[int]) -> np.ndarray:
    logits = witness.decoder(model.config, witness.Weights(model.weights), np.array(ids))["logits"]
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def check_witness(witness, model: GgufModel, tokenizer: Tokenizer, expected: dict) -> None:
    """The stored short prompts: same ids, same log-probabilities as transformers."""
    rows = [row for row in expected["rows"] if len(row["ids"]) < 40 and "<|" not in row["prompt"]]
    for row in rows:
        ids = tokenizer.encode(row["prompt"]).ids
        assert ids == row["ids"], (row["prompt"], ids, row["ids"])
        last = log_probabilities(witness, model, ids)[-1]
        worst = max(abs(last[token] - value) for token, _, value in row["top"])
        assert worst < MAX_DISAGREEMENT, (row["prompt"], worst)
        print(f"  {row['prompt']!r}: {worst:.1e}", file=sys.stderr)


def top_row(witness, model: GgufModel, tokenizer: Tokenizer, prompt: str) -> dict:
    ids = tokenizer.encode(prompt).ids
    assert len(ids) > WINDOW, len(ids)
    last = log_probabilities(witness, model, ids)[-1]
    best = np.argsort(-last, kind="stable")[:N_TOP]
    return {"prompt": prompt, "ids": ids, "top": [[int(i), tokenizer.decode([int(i)]), round(float(last[i]), 7)] for i in best],
            "greedy": [], "gaps": []}


def nll(witness, model: GgufModel, ids: list[int]) -> dict:
    losses = []
    for first in range(0, len(ids), WINDOW):
        window = ids[first:first + WINDOW]
        table = log_probabilities(witness, model, window)
        losses += [-table[i, window[i + 1]] for i in range(len(window) - 1)]
    return {"ids": ids, "window": WINDOW, "text": "tests/data/real/text.txt", "tokens": len(losses), "mean_nll": float(np.mean(losses))}


def generate(name: str, shared: Path) -> None:
    print(name, file=sys.stderr)
    sys.path.insert(0, str(shared / "oracle"))
    import witness
    file = CACHE / f"{FOLDERS[name]}.gguf"
    model = GgufModel(file)
    tokenizer = model.tokenizer(shared)
    check_witness(witness, model, tokenizer, json.loads((shared / "goldens" / "real" / FOLDERS[name] / "expected.json").read_text()))
    text = (DATA / "text.txt").read_text()
    row = top_row(witness, model, tokenizer, text[:N_PROMPT_CHARS])
    ids = tokenizer.encode(text).ids[:N_NLL]
    assert len(ids) == N_NLL, len(ids)
    value = {"generator": "tools/make_real_text.py", "reference": "NumPy float64", "numpy": np.__version__,
             "tokenizers": tokenizers.__version__, "file": file.name,
             "file_sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
             "rows": [row], "nll": nll(witness, model, ids)}
    target = DATA / FOLDERS[name] / "expected.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"  {target}: loss {value['nll']['mean_nll']:.6f}, then {row['top'][0]}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="smollm2, gemma3-270m (default: both)")
    parser.add_argument("--shared", type=Path, default=ROOT / ".." / "shared", help="folder with goldens/ and oracle/")
    args = parser.parse_args()
    for name in args.models or FOLDERS:
        generate(name, args.shared.resolve())


if __name__ == "__main__":
    main()
