#!/usr/bin/env python3
"""Trains the model that the binary carries: Llama family, byte-level BPE, about a million parameters, public-domain English.

    apt-get install python3-torch libopenblas0-pthread
    /usr/bin/python3 tools/train_embedded.py --output build/embedded/model   # about an hour on one core

Writes a Hugging Face folder: config.json, tokenizer.json (made by `vitro tokenizer train` on the training part), and
model.safetensors in bfloat16. The texts: tools/embedded_corpus.py. What was tried, and what came out: docs/embedded-model.md.
The same seed, options and PyTorch give the same weights on the same kind of processor with one thread.

Muon (Jordan 2024) for the matrices of the blocks, AdamW for the rest; the learning rate warms up, stays, and falls linearly to
zero. Products are computed in bfloat16 and summed in float32; weights and optimizer states are float32.
"""
import argparse
import json
import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F

import embedded_corpus

END = "<|endoftext|>"
ROPE_BASE = 10000.0
NORM_EPS = 1e-5
N_CTX = 256


@dataclass
class Shape:
    vocab_size: int
    d_model: int
    n_layer: int
    n_head: int
    n_kv_head: int
    d_ff: int

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_head


# ---- texts to ids

def tokenizer_path(args) -> Path:
    return args.work / f"tokenizer-{args.vocab}.json"


def make_tokenizer(vitro: Path, documents: list[str], vocab_size: int, path: Path) -> None:
    text = path.with_suffix(".txt")
    text.write_text("\n".join(documents), "utf-8")
    subprocess.run([vitro, "tokenizer", "train", text, "--vocab-size", str(vocab_size), "--special", END, "--output", path, "--force"],
                   check=True, stdout=subprocess.DEVNULL)


def encode(vitro: Path, tokenizer: Path, documents: list[str]) -> torch.Tensor:
    """The ids of all documents, each followed by END, which is id 0."""
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    out = subprocess.run([vitro, "tokenize", tokenizer, "--jsonl"], input=lines, text=True, capture_output=True, check=True).stdout
    return torch.tensor([id for line in out.splitlines() for id in json.loads(line)["ids"] + [0]])


# ---- model: names of Hugging Face's Llama

def init_weights(shape: Shape) -> dict[str, torch.Tensor]:
    """Normal, 1/sqrt(width in); what is added to the stream is smaller by the number of additions."""
    def matrix(n_out: int, n_in: int, scale: float = 1.0) -> torch.Tensor:
        return torch.randn(n_out, n_in) * (scale / math.sqrt(n_in))

    d, d_kv, quiet = shape.d_model, shape.n_kv_head * shape.d_head, 1 / math.sqrt(2 * shape.n_layer)
    weights = {"model.embed_tokens.weight": torch.randn(shape.vocab_size, d) * 0.02, "model.norm.weight": torch.ones(d)}
    for layer in range(shape.n_layer):
        at = f"model.layers.{layer}."
        weights |= {
            at + "input_layernorm.weight": torch.ones(d),
            at + "self_attn.q_proj.weight": matrix(d, d),
            at + "self_attn.k_proj.weight": matrix(d_kv, d),
            at + "self_attn.v_proj.weight": matrix(d_kv, d),
            at + "self_attn.o_proj.weight": matrix(d, d, quiet),
            at + "post_attention_layernorm.weight": torch.ones(d),
            at + "mlp.gate_proj.weight": matrix(shape.d_ff, d),
            at + "mlp.up_proj.weight": matrix(shape.d_ff, d),
            at + "mlp.down_proj.weight": matrix(d, shape.d_ff, quiet),
        }
    return weights


class Llama:
    """The forward pass on given weights; `dtype` is that of the products' inputs."""

    def __init__(self, shape: Shape, weights: dict[str, torch.Tensor], dtype: torch.dtype):
        self.shape, self.weights, self.dtype = shape, weights, dtype
        frequency = ROPE_BASE ** (-torch.arange(0, shape.d_head, 2).double() / shape.d_head)
        angle = torch.outer(torch.arange(N_CTX).double(), torch.cat([frequency, frequency]))
        self.cos, self.sin = angle.cos().to(dtype), angle.sin().to(dtype)
        self.mask = torch.full((N_CTX, N_CTX), -torch.inf, dtype=dtype).triu(1)

    def linear(self, x: torch.Tensor, *names: str) -> torch.Tensor:
        """x W^T; several matrices of the same input as one product."""
        weight = torch.cat([self.weights[name] for name in names]) if len(names) > 1 else self.weights[names[0]]
        return F.linear(x, weight.to(self.dtype))

    def norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + NORM_EPS)
        return (x * scale * self.weights[name]).to(self.dtype)

    def rotate(self, x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        n = x.shape[-2]
        return x * self.cos[:n] + torch.cat([-b, a], -1) * self.sin[:n]

    def attend(self, x: torch.Tensor, at: str) -> torch.Tensor:
        s, (n_batch, n, _) = self.shape, x.shape
        d_kv = s.n_kv_head * s.d_head
        qkv = self.linear(x, *(f"{at}self_attn.{c}_proj.weight" for c in "qkv"))
        q, k, v = (t.view(n_batch, n, -1, s.d_head).transpose(1, 2) for t in qkv.split([s.d_model, d_kv, d_kv], -1))
        q, k = self.rotate(q) * (1 / math.sqrt(s.d_head)), self.rotate(k)
        if s.n_kv_head < s.n_head:
            k, v = (t.repeat_interleave(s.n_head // s.n_kv_head, 1) for t in (k, v))
        probs = (q @ k.transpose(-1, -2) + self.mask[:n, :n]).softmax(-1)
        return self.linear((probs @ v).transpose(1, 2).reshape(n_batch, n, -1), at + "self_attn.o_proj.weight")

    def feed_forward(self, x: torch.Tensor, at: str) -> torch.Tensor:
        gate, up = self.linear(x, at + "mlp.gate_proj.weight", at + "mlp.up_proj.weight").chunk(2, -1)
        return self.linear(F.silu(gate) * up, at + "mlp.down_proj.weight")

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        """[n_batch, n_tokens] -> logits [n_batch, n_tokens, vocab_size]; the stream itself is float32."""
        x = F.embedding(ids, self.weights["model.embed_tokens.weight"])
        for layer in range(self.shape.n_layer):
            at = f"model.layers.{layer}."
            x = x + self.attend(self.norm(x, at + "input_layernorm.weight"), at)
            x = x + self.feed_forward(self.norm(x, at + "post_attention_layernorm.weight"), at)
        return self.linear(self.norm(x, "model.norm.weight"), "model.embed_tokens.weight")


# ---- training

def orthogonalise(update: torch.Tensor) -> torch.Tensor:
    """Five steps of Newton-Schulz: all singular values of the matrix become about one, which bfloat16 is good enough for."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = (update / (update.norm() + 1e-7)).bfloat16()
    x = x.T if update.shape[0] > update.shape[1] else x
    for _ in range(5):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.T if update.shape[0] > update.shape[1] else x).float()


class Muon(torch.optim.Optimizer):
    """Momentum (Nesterov), orthogonalised, scaled by sqrt(max(1, rows / columns)); weight decay as in AdamW."""

    def __init__(self, parameters, lr: float, weight_decay: float, momentum: float = 0.95):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                mean.lerp_(p.grad, 1 - group["momentum"])
                update = orthogonalise(p.grad.lerp(mean, group["momentum"]))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(update, alpha=-group["lr"] * math.sqrt(max(1, p.shape[0] / p.shape[1])))


def make_optimizers(weights: dict[str, torch.Tensor], args) -> list[torch.optim.Optimizer]:
    blocks = [w for name, w in weights.items() if w.ndim == 2 and "layers" in name]
    embedding = weights["model.embed_tokens.weight"]
    gains = [w for w in weights.values() if w.ndim == 1]
    if args.optimizer == "adamw":
        groups = [{"params": [*blocks, embedding], "weight_decay": args.weight_decay}, {"params": gains, "weight_decay": 0.0}]
        return [torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.95))]
    groups = [{"params": [embedding], "weight_decay": args.weight_decay}, {"params": gains, "weight_decay": 0.0}]
    return [Muon(blocks, args.lr, args.weight_decay), torch.optim.AdamW(groups, lr=args.embedding_lr, betas=(0.9, 0.95))]


class Schedule:
    """How far the run is, 0 to 1: by steps or, where --minutes ends it sooner, by the clock (such a run cannot be repeated exactly)."""

    def __init__(self, args):
        self.args, self.start = args, time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self.start

    def progress(self, step: int) -> float:
        by_clock = self.seconds() / (60 * self.args.minutes) if self.args.minutes else 0
        return max(step / self.args.steps, by_clock)

    def factor(self, step: int, progress: float) -> float:
        """Of the learning rate: linear warm-up, level, linear to zero over the last part."""
        return min((step + 1) / self.args.warm_up, 1.0, (1 - progress) / self.args.decay)


def batches(ids: torch.Tensor, n_batch: int, generator: torch.Generator):
    """Endless [n_batch, N_CTX + 1]: each pass cuts the text at other places and sees every token once, in random order."""
    while True:
        first = int(torch.randint(N_CTX, (), generator=generator))
        starts = torch.arange(first, len(ids) - N_CTX - 1, N_CTX)
        starts = starts[torch.randperm(len(starts), generator=generator)]
        for some in starts.split(n_batch):
            if len(some) == n_batch:
                yield ids[some[:, None] + torch.arange(N_CTX + 1)]


def loss_of(model: Llama, rows: torch.Tensor) -> torch.Tensor:
    logits = model(rows[:, :-1]).float()
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


@torch.no_grad()
def evaluate(shape: Shape, weights: dict[str, torch.Tensor], ids: torch.Tensor) -> float:
    """Mean loss in nats a token on independent windows, float32 products, weights as they will be stored."""
    stored = {name: w.bfloat16().float() for name, w in weights.items()}
    model = Llama(shape, stored, torch.float32)
    n = (len(ids) - 1) // N_CTX
    rows = ids[torch.arange(n)[:, None] * N_CTX + torch.arange(N_CTX + 1)]
    return sum(loss_of(model, some).item() * len(some) for some in rows.split(32)) / n


def train(shape: Shape, train_ids: torch.Tensor, args) -> dict[str, torch.Tensor]:
    torch.manual_seed(args.seed)
    weights = {name: w.requires_grad_() for name, w in init_weights(shape).items()}
    optimizers = make_optimizers(weights, args)
    base_lr = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]
    model = Llama(shape, weights, torch.bfloat16)
    rows = batches(train_ids, args.batch, torch.Generator().manual_seed(args.seed))
    schedule, step = Schedule(args), 0
    while (progress := schedule.progress(step)) < 1:
        factor = schedule.factor(step, progress)
        loss = loss_of(model, next(rows))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        for optimizer, lrs in zip(optimizers, base_lr):
            for group, lr in zip(optimizer.param_groups, lrs):
                group["lr"] = lr * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        step += 1
        if step % args.log_every == 0:
            print(f"step {step} loss {loss.item():.4f} rate {factor:.3f} {schedule.seconds():.0f} s", flush=True)
            write_folder(args, shape, weights)
    return weights


# ---- the folder

def write_safetensors(path: Path, weights: dict[str, torch.Tensor]) -> None:
    header, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, weight in sorted(weights.items()):
        blob = weight.detach().bfloat16().contiguous().view(torch.int16).numpy().astype("<i2").tobytes()
        header[name] = {"dtype": "BF16", "shape": list(weight.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def config_of(shape: Shape) -> dict:
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "torch_dtype": "bfloat16",
        "vocab_size": shape.vocab_size, "hidden_size": shape.d_model, "num_hidden_layers": shape.n_layer,
        "num_attention_heads": shape.n_head, "num_key_value_heads": shape.n_kv_head, "intermediate_size": shape.d_ff,
        "max_position_embeddings": N_CTX, "rope_theta": ROPE_BASE, "rms_norm_eps": NORM_EPS, "tie_word_embeddings": True,
        "attention_bias": False, "mlp_bias": False, "bos_token_id": None, "eos_token_id": 0,
    }


def write_folder(args, shape: Shape, weights: dict[str, torch.Tensor]) -> None:
    args.output.mkdir(parents=True, exist_ok=True)
    write_safetensors(args.output / "model.safetensors", weights)
    (args.output / "config.json").write_text(json.dumps(config_of(shape), indent=2) + "\n")
    (args.output / "tokenizer.json").write_bytes(tokenizer_path(args).read_bytes())


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--output", type=Path, required=True, help="the folder to write")
    add("--work", type=Path, default=Path("build/embedded"), help="downloads and tokenizers (default: %(default)s)")
    add("--text", type=Path, default=Path("../shared/data/text"), help="botchan.txt, tinyshakespeare.txt (default: %(default)s)")
    add("--vitro", type=Path, default=Path("build/release/vitro"))
    add("--vocab", type=int, default=4096)
    add("--width", type=int, default=112)
    add("--depth", type=int, default=3)
    add("--heads", type=int, default=4)
    add("--kv-heads", type=int, default=4)
    add("--d-ff", type=int, default=320)
    add("--steps", type=int, default=7500)
    add("--minutes", type=float, default=0, help="end by the clock, if that comes before --steps")
    add("--batch", type=int, default=8, help="windows of 256 tokens a step")
    add("--optimizer", choices=["muon", "adamw"], default="muon")
    add("--lr", type=float, default=0.02)
    add("--embedding-lr", type=float, default=0.003)
    add("--weight-decay", type=float, default=0.01)
    add("--warm-up", type=int, default=100)
    add("--decay", type=float, default=0.5, help="the last part of the steps, in which the rate falls")
    add("--seed", type=int, default=1)
    add("--threads", type=int, default=1)
    add("--log-every", type=int, default=100)
    return parser.parse_args()


def main() -> int:
    args = parse_args()
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    train_texts, held_out = embedded_corpus.split(embedded_corpus.read_corpus(args.work, args.text))
    tokenizer = tokenizer_path(args)
    make_tokenizer(args.vitro, train_texts, args.vocab, tokenizer)
    train_ids, held_out_ids = encode(args.vitro, tokenizer, train_texts), encode(args.vitro, tokenizer, held_out)
    shape = Shape(args.vocab, args.width, args.depth, args.heads, args.kv_heads, args.d_ff)
    n_bytes = sum(len(document.encode()) for document in held_out)
    print(f"PyTorch {torch.__version__}; {len(train_ids)} tokens to learn from, {len(held_out_ids)} held out ({n_bytes} bytes)")
    weights = train(shape, train_ids, args)
    loss = evaluate(shape, weights, held_out_ids)
    bits = loss * len(held_out_ids) / n_bytes / math.log(2)
    print(f"{sum(w.numel() for w in weights.values())} parameters; held out: {loss:.4f} nats a token, {bits:.4f} bits a byte")
    write_folder(args, shape, weights)
    return 0


if __name__ == "__main__":
    sys.exit(main())
