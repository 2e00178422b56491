#!/usr/bin/env python3
"""Writes tests/data/own/: tiny checkpoints for knobs that no golden of the reference turns.

    tools/make_knob_goldens.py [--check]

Each folder is laid out like the other goldens (config.json, model.safetensors in bfloat16, expected.json,
expected.safetensors), with random weights and with results computed here in NumPy float64, from the papers and the
formulas of the vendors' published code, independently of the engine:

    bloom-residual   apply_residual_connection_post_layernorm; ALiBi for 6 heads (not a power of two)
    falcon-alibi-12  slopes, positions and products of ALiBi rounded to bfloat16, added before the scale; 12 heads
    stablelm-qknorm  a LayerNorm of its own for every head of q and k; both halves in parallel behind one norm
    cohere-qknorm    the same norms in one tensor [n_head, d_head]; adjacent rotary pairs
    phi-qknorm       one LayerNorm with bias shared by the heads of q and k
    opt-plain        norms without gain and bias, no biases anywhere
    llama-relu2      squared ReLU;  llama-quick-gelu  x sigmoid(1.702 x)
    llama-yarn       YaRN with mscale, mscale_all_dim, its own ramp, no truncation;  llama-yarn-factor  attention_factor
    llama-ntk        the rotary base stretched by a constant factor

--check compares with what is there, writes nothing, and exits 1 on a difference.
"""
import argparse
import json
import math
import struct
import sys
from pathlib import Path

import numpy as np

D_MODEL, D_FF, VOCAB, N_LAYER = 32, 48, 64, 2
LONG, SHORT, N_GREEDY = 24, 5, 4


# ---- pieces, float64 ----

def layer_norm(x, gain, bias, eps):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain + bias


def rms_norm(x, gain, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu_erf(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {"silu": lambda x: x * sigmoid(x), "relu": lambda x: np.maximum(x, 0),
               "relu2": lambda x: np.maximum(x, 0)**2, "quick_gelu": lambda x: x * sigmoid(1.702 * x)}


def attend(q, k, v, scale, before_scale=0.0, after_scale=0.0):
    """q, k, v [n_head, T, d] -> rows [T, n_head * d], probabilities [n_head, T, T]; two ways to add a bias."""
    scores = scale * (q @ k.transpose(0, 2, 1) + before_scale) + after_scale
    n = scores.shape[-1]
    probs = softmax(np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf))
    return (probs @ v).transpose(1, 0, 2).reshape(n, -1), probs


def heads(x, n):
    return x.reshape(len(x), n, -1).transpose(1, 0, 2)


def repeat_kv(x, n_head):
    return np.repeat(x, n_head // len(x), 0)


def rotate(x, frequencies, factor=1.0, is_adjacent=False):
    """x [n_head, T, d]; the first 2 len(frequencies) values of each head turn."""
    angle = np.arange(x.shape[1])[:, None] * frequencies
    c, s, n = factor * np.cos(angle), factor * np.sin(angle), len(frequencies)
    out = x.copy()
    first, second = (slice(0, 2 * n, 2), slice(1, 2 * n, 2)) if is_adjacent else (slice(0, n), slice(n, 2 * n))
    a, b = x[..., first], x[..., second]
    out[..., first], out[..., second] = a * c - b * s, b * c + a * s
    return out


def frequencies(theta, d):
    return theta**(-np.arange(0, d, 2) / d)


def alibi_slopes(n_head):
    """Press et al. 2021 and its published code: geometric for powers of two, else every second one of the next."""
    low = 2**int(math.floor(math.log2(n_head)))
    slopes = [2**(-8 * (i + 1) / low) for i in range(low)]
    return np.array(slopes + [2**(-8 * (i + 1) / (2 * low)) for i in range(0, 2 * (n_head - low), 2)])


def bf16(x):
    """Rounded to nearest even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def yarn_frequencies(rope, d):
    """Peng et al. 2023, section 3.2: pairs below `low` keep their frequency, above `high` it is divided."""
    base, length, factor = rope["rope_theta"], rope["original_max_position_embeddings"], rope["factor"]

    def pair(turns):
        return d * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))
    low, high = max(pair(rope["beta_fast"]), 0), min(pair(rope["beta_slow"]), d - 1)
    ramp = np.clip((np.arange(d // 2) - low) / (high - low), 0, 1)
    f = frequencies(base, d)
    return f / factor * ramp + f * (1 - ramp)


def yarn_attention_factor(rope):
    if "attention_factor" in rope:
        return rope["attention_factor"]

    def m(scale):
        return 0.1 * scale * math.log(rope["factor"]) + 1
    return m(rope["mscale"]) / m(rope["mscale_all_dim"])


# ---- families: (config, weights, ids) -> logits, hidden states, attention maps ----

class Weights(dict):
    def linear(self, x, name):
        return x @ self[name + ".weight"].T + self.get(name + ".bias", 0.0)

    def norm(self, x, name, eps):
        return layer_norm(x, self.get(name + ".weight", 1.0), self.get(name + ".bias", 0.0), eps)


def bloom(c, w, ids):
    n, d, eps = c["n_head"], c["hidden_size"] // c["n_head"], c["layer_norm_epsilon"]
    distance = np.arange(len(ids))[None, :] - np.arange(len(ids))[:, None]
    bias = alibi_slopes(n)[:, None, None] * distance
    x = w.norm(w["transformer.word_embeddings.weight"][ids], "transformer.word_embeddings_layernorm", eps)
    hidden, maps = [x], []
    for i in range(c["n_layer"]):
        p = f"transformer.h.{i}."
        y = w.norm(x, p + "input_layernorm", eps)
        q, k, v = w.linear(y, p + "self_attention.query_key_value").reshape(len(ids), n, 3, d).transpose(2, 1, 0, 3)
        z, probs = attend(q, k, v, d**-0.5, after_scale=bias)
        x = (y if c["apply_residual_connection_post_layernorm"] else x) + w.linear(z, p + "self_attention.dense")
        y = w.norm(x, p + "post_attention_layernorm", eps)
        residual = y if c["apply_residual_connection_post_layernorm"] else x
        x = residual + w.linear(gelu_tanh(w.linear(y, p + "mlp.dense_h_to_4h")), p + "mlp.dense_4h_to_h")
        hidden.append(x)
        maps.append(probs)
    hidden[-1] = w.norm(x, "transformer.ln_f", eps)
    return hidden[-1] @ w["transformer.word_embeddings.weight"].T, hidden, maps


def falcon(c, w, ids):
    n, d, eps = c["num_attention_heads"], c["hidden_size"] // c["num_attention_heads"], c["layer_norm_epsilon"]
    bias = bf16(bf16(alibi_slopes(n))[:, None] * bf16(np.arange(len(ids))))[:, None, :]
    x = w["transformer.word_embeddings.weight"][ids]
    hidden, maps = [x], []
    for i in range(c["num_hidden_layers"]):
        p = f"transformer.h.{i}."
        y = w.norm(x, p + "input_layernorm", eps)
        q, k, v = w.linear(y, p + "self_attention.query_key_value").reshape(len(ids), n, 3, d).transpose(2, 1, 0, 3)
        z, probs = attend(q, k, v, d**-0.5, before_scale=bias)
        x = x + w.linear(z, p + "self_attention.dense")
        y = w.norm(x, p + "post_attention_layernorm", eps)
        x = x + w.linear(gelu_erf(w.linear(y, p + "mlp.dense_h_to_4h")), p + "mlp.dense_4h_to_h")
        hidden.append(x)
        maps.append(probs)
    hidden[-1] = w.norm(x, "transformer.ln_f", eps)
    return hidden[-1] @ w["transformer.word_embeddings.weight"].T, hidden, maps


def stack_heads(w, name, n, suffix=".weight"):
    return np.stack([w[f"{name}.{h}{suffix}"] for h in range(n)])[:, None, :]


def parallel_block(c, w, x, p, qk):
    """Both halves read one norm (GPT-J's order): x + attention(norm x) + ffn(norm x). qk(q, k) norms and turns."""
    n, n_kv, eps = c["num_attention_heads"], c["num_key_value_heads"], c["layer_norm_eps"]
    a = p + "self_attn."
    y = w.norm(x, p + "input_layernorm", eps)
    q, k = qk(heads(w.linear(y, a + "q_proj"), n), heads(w.linear(y, a + "k_proj"), n_kv))
    v = heads(w.linear(y, a + "v_proj"), n_kv)
    z, probs = attend(q, repeat_kv(k, n), repeat_kv(v, n), q.shape[-1]**-0.5)
    out = w.linear(z, a + ("dense" if a + "dense.weight" in w else "o_proj"))
    m = p + "mlp."
    if m + "fc1.weight" in w:
        ffn = w.linear(gelu_tanh(w.linear(y, m + "fc1")), m + "fc2")
    else:
        ffn = w.linear(ACTIVATIONS["silu"](w.linear(y, m + "gate_proj")) * w.linear(y, m + "up_proj"), m + "down_proj")
    return x + out + ffn, probs


def parallel_decoder(c, w, ids, make_qk, final_norm):
    x = w["model.embed_tokens.weight"][ids]
    hidden, maps = [x], []
    for i in range(c["num_hidden_layers"]):
        x, probs = parallel_block(c, w, x, f"model.layers.{i}.", make_qk(f"model.layers.{i}.self_attn."))
        hidden.append(x)
        maps.append(probs)
    hidden[-1] = w.norm(x, final_norm, c["layer_norm_eps"])
    head = "lm_head" if "lm_head.weight" in w else "model.embed_tokens"
    return w.linear(hidden[-1], head) * c.get("logit_scale", 1.0), hidden, maps


def d_rot(c):
    d = c["hidden_size"] // c["num_attention_heads"]
    return int(d * c["rope_parameters"].get("partial_rotary_factor", 1.0))


def stablelm(c, w, ids):
    f = frequencies(c["rope_parameters"]["rope_theta"], d_rot(c))

    def make_qk(a):
        gains = [stack_heads(w, a + f"{name}_layernorm.norms", n)
                 for name, n in (("q", c["num_attention_heads"]), ("k", c["num_key_value_heads"]))]
        return lambda *qk: [rotate(layer_norm(x, g, 0.0, c["layer_norm_eps"]), f) for x, g in zip(qk, gains)]
    return parallel_decoder(c, w, ids, make_qk, "model.norm")


def cohere(c, w, ids):
    f = frequencies(c["rope_parameters"]["rope_theta"], d_rot(c))

    def make_qk(a):
        gains = [w[a + f"{name}_norm.weight"][:, None, :] for name in "qk"]
        return lambda *qk: [rotate(layer_norm(x, g, 0.0, c["layer_norm_eps"]), f, is_adjacent=True)
                            for x, g in zip(qk, gains)]
    return parallel_decoder(c, w, ids, make_qk, "model.norm")


def phi(c, w, ids):
    f = frequencies(c["rope_parameters"]["rope_theta"], d_rot(c))

    def make_qk(a):
        return lambda *qk: [rotate(w.norm(x, a + f"{name}_layernorm", c["layer_norm_eps"]), f)
                            for x, name in zip(qk, "qk")]
    return parallel_decoder(c, w, ids, make_qk, "model.final_layernorm")


def opt(c, w, ids):
    n, p0 = c["num_attention_heads"], "model.decoder."
    x = w[p0 + "embed_tokens.weight"][ids] + w[p0 + "embed_positions.weight"][2 + np.arange(len(ids))]
    hidden, maps = [x], []
    for i in range(c["num_hidden_layers"]):
        p = f"{p0}layers.{i}."
        y = layer_norm(x, 1.0, 0.0, 1e-5)
        q, k, v = (heads(w.linear(y, p + f"self_attn.{name}_proj"), n) for name in "qkv")
        z, probs = attend(q, k, v, q.shape[-1]**-0.5)
        x = x + w.linear(z, p + "self_attn.out_proj")
        x = x + w.linear(ACTIVATIONS["relu"](w.linear(layer_norm(x, 1.0, 0.0, 1e-5), p + "fc1")), p + "fc2")
        hidden.append(x)
        maps.append(probs)
    hidden[-1] = layer_norm(x, 1.0, 0.0, 1e-5)
    return hidden[-1] @ w[p0 + "embed_tokens.weight"].T, hidden, maps


def llama(c, w, ids):
    n, n_kv, eps, rope = c["num_attention_heads"], c["num_key_value_heads"], c["rms_norm_eps"], c["rope_parameters"]
    d = c["hidden_size"] // n
    f, factor = frequencies(rope["rope_theta"], d), 1.0
    if rope["rope_type"] == "yarn":
        f, factor = yarn_frequencies(rope, d), yarn_attention_factor(rope)
    if rope["rope_type"] == "ntk":
        f = frequencies(rope["rope_theta"] * rope["factor"]**(d / (d - 2)), d)
    x = w["model.embed_tokens.weight"][ids]
    hidden, maps = [x], []
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        y = rms_norm(x, w[p + "input_layernorm.weight"], eps)
        q, k = (rotate(heads(w.linear(y, p + f"self_attn.{name}_proj"), m), f, factor) for name, m in (("q", n), ("k", n_kv)))
        v = heads(w.linear(y, p + "self_attn.v_proj"), n_kv)
        z, probs = attend(q, repeat_kv(k, n), repeat_kv(v, n), d**-0.5)
        x = x + w.linear(z, p + "self_attn.o_proj")
        y = rms_norm(x, w[p + "post_attention_layernorm.weight"], eps)
        gate = ACTIVATIONS[c["hidden_act"]](w.linear(y, p + "mlp.gate_proj"))
        x = x + w.linear(gate * w.linear(y, p + "mlp.up_proj"), p + "mlp.down_proj")
        hidden.append(x)
        maps.append(probs)
    hidden[-1] = rms_norm(x, w["model.norm.weight"], eps)
    return hidden[-1] @ w["lm_head.weight"].T, hidden, maps


# ---- checkpoints ----

def fused_shapes(n_layer, d):
    """BLOOM and Falcon-RW: q, k, v in one tensor, biases everywhere."""
    shapes = {"transformer.word_embeddings.weight": (VOCAB, d)}
    for i in range(n_layer):
        p = f"transformer.h.{i}."
        for name, shape in (("self_attention.query_key_value", (3 * d, d)), ("self_attention.dense", (d, d)),
                            ("mlp.dense_h_to_4h", (4 * d, d)), ("mlp.dense_4h_to_h", (d, 4 * d))):
            shapes[p + name + ".weight"], shapes[p + name + ".bias"] = shape, shape[:1]
        for name in ("input_layernorm", "post_attention_layernorm"):
            shapes[p + name + ".weight"] = shapes[p + name + ".bias"] = (d,)
    shapes["transformer.ln_f.weight"] = shapes["transformer.ln_f.bias"] = (d,)
    return shapes


def decoder_shapes(c, o_name="o_proj", has_biases=False, is_plain=False):
    """Llama's names; phi's with biases and a plain feed-forward layer."""
    d, n, n_kv = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"]
    d_head, d_ff = d // n, c["intermediate_size"]
    shapes = {"model.embed_tokens.weight": (VOCAB, d)}
    for i in range(c["num_hidden_layers"]):
        a, m = f"model.layers.{i}.self_attn.", f"model.layers.{i}.mlp."
        linears = {a + "q_proj": (n * d_head, d), a + "k_proj": (n_kv * d_head, d), a + "v_proj": (n_kv * d_head, d),
                   a + o_name: (d, n * d_head)}
        if is_plain:
            linears |= {m + "fc1": (d_ff, d), m + "fc2": (d, d_ff)}
        else:
            linears |= {m + "gate_proj": (d_ff, d), m + "up_proj": (d_ff, d), m + "down_proj": (d, d_ff)}
        for name, shape in linears.items():
            shapes[name + ".weight"] = shape
            if has_biases:
                shapes[name + ".bias"] = shape[:1]
        shapes[f"model.layers.{i}.input_layernorm.weight"] = (d,)
    return shapes


def own_bloom():
    d = 48
    c = {"model_type": "bloom", "architectures": ["BloomForCausalLM"], "hidden_size": d, "n_head": 6, "n_layer": N_LAYER,
         "layer_norm_epsilon": 1e-5, "vocab_size": VOCAB, "apply_residual_connection_post_layernorm": True}
    shapes = fused_shapes(N_LAYER, d)
    shapes |= {f"transformer.word_embeddings_layernorm.{kind}": (d,) for kind in ("weight", "bias")}
    return c, shapes, bloom


def own_falcon():
    d = 48
    c = {"model_type": "falcon", "architectures": ["FalconForCausalLM"], "hidden_size": d, "num_attention_heads": 12,
         "num_hidden_layers": N_LAYER, "layer_norm_epsilon": 1e-5, "vocab_size": VOCAB, "alibi": True, "bias": True,
         "multi_query": False, "new_decoder_architecture": False, "parallel_attn": False}
    return c, fused_shapes(N_LAYER, d), falcon


def sizes(model_type, architecture, **more):
    return {"model_type": model_type, "architectures": [architecture], "hidden_size": D_MODEL, "intermediate_size": D_FF,
            "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": N_LAYER, "vocab_size": VOCAB,
            "max_position_embeddings": 64} | more


def own_stablelm():
    c = sizes("stablelm", "StableLmForCausalLM", layer_norm_eps=1e-5, qk_layernorm=True, use_parallel_residual=True,
              use_qkv_bias=False, tie_word_embeddings=False,
              rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5})
    shapes = decoder_shapes(c) | {"lm_head.weight": (VOCAB, D_MODEL)}
    for i in range(N_LAYER):
        shapes[f"model.layers.{i}.input_layernorm.bias"] = (D_MODEL,)
        for name, n in (("q", 4), ("k", 2)):
            shapes |= {f"model.layers.{i}.self_attn.{name}_layernorm.norms.{h}.weight": (8,) for h in range(n)}
    return c, shapes | {f"model.norm.{kind}": (D_MODEL,) for kind in ("weight", "bias")}, stablelm


def own_cohere():
    c = sizes("cohere", "CohereForCausalLM", layer_norm_eps=1e-5, use_qk_norm=True, logit_scale=0.25,
              tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
    shapes = decoder_shapes(c)
    for i in range(N_LAYER):
        shapes |= {f"model.layers.{i}.self_attn.{name}_norm.weight": (n, 8) for name, n in (("q", 4), ("k", 2))}
    return c, shapes | {"model.norm.weight": (D_MODEL,)}, cohere


def own_phi():
    c = sizes("phi", "PhiForCausalLM", layer_norm_eps=1e-5, qk_layernorm=True, tie_word_embeddings=False,
              hidden_act="gelu_new",
              rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5})
    shapes = decoder_shapes(c, "dense", True, True)
    shapes |= {"lm_head.weight": (VOCAB, D_MODEL), "lm_head.bias": (VOCAB,)}
    for i in range(N_LAYER):
        shapes[f"model.layers.{i}.input_layernorm.bias"] = (D_MODEL,)
        shapes |= {f"model.layers.{i}.self_attn.{name}_layernorm.{kind}": (8,)
                   for name in "qk" for kind in ("weight", "bias")}
    return c, shapes | {f"model.final_layernorm.{kind}": (D_MODEL,) for kind in ("weight", "bias")}, phi


def own_opt():
    c = {"model_type": "opt", "architectures": ["OPTForCausalLM"], "hidden_size": D_MODEL, "ffn_dim": D_FF,
         "num_attention_heads": 4, "num_hidden_layers": N_LAYER, "vocab_size": VOCAB, "max_position_embeddings": 64,
         "word_embed_proj_dim": D_MODEL, "do_layer_norm_before": True, "enable_bias": False,
         "layer_norm_elementwise_affine": False, "activation_function": "relu", "tie_word_embeddings": True}
    p0 = "model.decoder."
    shapes = {p0 + "embed_tokens.weight": (VOCAB, D_MODEL), p0 + "embed_positions.weight": (66, D_MODEL)}
    for i in range(N_LAYER):
        p = f"{p0}layers.{i}."
        shapes |= {p + f"self_attn.{name}.weight": (D_MODEL, D_MODEL) for name in ("q_proj", "k_proj", "v_proj", "out_proj")}
        shapes |= {p + "fc1.weight": (D_FF, D_MODEL), p + "fc2.weight": (D_MODEL, D_FF)}
    return c, shapes, opt


def own_llama(activation="silu", **rope):
    def make():
        c = sizes("llama", "LlamaForCausalLM", rms_norm_eps=1e-5, hidden_act=activation, tie_word_embeddings=False,
                  rope_parameters={"rope_type": "default", "rope_theta": 10000.0} | rope)
        shapes = decoder_shapes(c) | {"lm_head.weight": (VOCAB, D_MODEL), "model.norm.weight": (D_MODEL,)}
        return c, shapes | {f"model.layers.{i}.post_attention_layernorm.weight": (D_MODEL,) for i in range(N_LAYER)}, llama
    return make


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 2.0, "beta_slow": 0.25,
        "truncate": False}
CASES = {"bloom-residual": own_bloom, "falcon-alibi-12": own_falcon, "stablelm-qknorm": own_stablelm,
         "cohere-qknorm": own_cohere, "phi-qknorm": own_phi, "opt-plain": own_opt,
         "llama-relu2": own_llama("relu2"), "llama-quick-gelu": own_llama("quick_gelu"),
         "llama-yarn": own_llama(**YARN, mscale=1.4, mscale_all_dim=0.4),
         "llama-yarn-factor": own_llama(**YARN, attention_factor=1.3),
         "llama-ntk": own_llama(rope_type="ntk", factor=4.0)}


def random_weights(rng, shapes):
    """Values that bfloat16 holds; gains around 1."""
    weights = Weights()
    for name, shape in sorted(shapes.items()):
        is_gain = "norm" in name and name.endswith(".weight") or name.endswith("ln_f.weight")
        spread = 0.2 if len(shape) == 1 or is_gain else 1.2 / math.sqrt(shape[-1]) if "embed" not in name else 1.0
        weights[name] = bf16(rng.standard_normal(shape) * spread + (1.0 if is_gain else 0.0))
    return weights


def write_safetensors(path, tensors, dtype):
    header, offset, blobs = {}, 0, []
    for name, values in sorted(tensors.items()):
        narrow = np.ascontiguousarray(values, np.float32)
        blob = (narrow.view(np.uint32) >> 16).astype("<u2").tobytes() if dtype == "BF16" else narrow.astype("<f4").tobytes()
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def greedy(run, c, w, ids):
    ids = list(ids)
    for _ in range(N_GREEDY):
        ids.append(int(np.argmax(run(c, w, np.array(ids))[0][-1])))
    return ids[-N_GREEDY:]


def write_case(folder, name, seed):
    rng = np.random.default_rng(seed)
    c, shapes, run = CASES[name]()
    w = random_weights(rng, shapes)
    inputs = [rng.integers(0, VOCAB, n) for n in (LONG, SHORT)]
    expected = {}
    for i, ids in enumerate(inputs):
        logits, hidden, maps = run(c, w, ids)
        expected[f"logits.{i}"] = logits
        expected |= {f"hidden.{i}.{layer}": x for layer, x in enumerate(hidden)}
        expected |= {f"attn.{i}.{layer}": x for layer, x in enumerate(maps)}
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(folder / "model.safetensors", w, "BF16")
    write_safetensors(folder / "expected.safetensors", expected, "F32")
    (folder / "config.json").write_text(json.dumps(c, indent=1) + "\n")
    (folder / "expected.json").write_text(json.dumps(
        {"kind": "decoder", "model_type": c["model_type"], "reference": "NumPy float64, tools/make_knob_goldens.py",
         "inputs": [ids.tolist() for ids in inputs], "greedy": [None, greedy(run, c, w, inputs[1])]}) + "\n")


def read_tensors(path):
    data = path.read_bytes()
    n, = struct.unpack_from("<Q", data)
    for name, entry in json.loads(data[8:8 + n]).items():
        begin, end = (8 + n + offset for offset in entry["data_offsets"])
        yield name, np.frombuffer(data[begin:end], "<u2" if entry["dtype"] == "BF16" else "<f4")


def differences(old, new):
    """What is not the same; results may differ by the last bit of libm's."""
    for name in ("config.json", "expected.json", "model.safetensors"):
        if not (old / name).exists() or (old / name).read_bytes() != (new / name).read_bytes():
            yield f"{old / name}: not what this script writes"
            return
    for (name, a), (other, b) in zip(read_tensors(old / "expected.safetensors"), read_tensors(new / "expected.safetensors")):
        if name != other or not np.allclose(a, b, rtol=1e-6, atol=1e-7):
            yield f"{old / 'expected.safetensors'}: {name} differs"


def main():
    root = Path(__file__).resolve().parent.parent / "tests" / "data" / "own"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    args = parser.parse_args()
    if not args.check:
        for seed, name in enumerate(CASES):
            write_case(root / name, name, seed)
        return 0
    import tempfile
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for seed, name in enumerate(CASES):
            write_case(Path(folder) / name, name, seed)
            problems += differences(root / name, Path(folder) / name)
    print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
