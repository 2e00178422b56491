#!/usr/bin/env python3
"""Compares `vitro show` with independent counts of parameters: tools/compare_parameters.py CONFIGS [--vitro build/release/vitro]

CONFIGS holds descriptions of real models by other projects: maxtext/*.yml, llm-analysis/model_configs/*.json, hf/*/*.json and
tensor-lists/*.json. Each description of a family that Vitro knows is translated into a config.json; the program's count must be that of
the formulas below, and, where the model is published as described, the published one. Of the tensor lists (names of GGUF
files of real models) the number of tensors of every kind must be what the program shows. Of models that also see or hear, the
text decoder is counted. What is out of reach is listed by name. Exit 1 on a difference.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

# Counts of the published weights (a tied head once), by the names of the descriptions.
PUBLISHED = {
    "llama2-7b": 6738415616, "llama2-13b": 13015864320, "llama2-70b": 68976648192, "llama3-8b": 8030261248,
    "llama3-70b": 70553706496, "llama3-405b": 405853388800, "llama3.1-8b": 8030261248, "llama3.1-70b": 70553706496,
    "llama3.1-405b": 405853388800, "mistral-7b": 7241732096, "mixtral-8x7b": 46702792704, "qwen2.5-1.5b": 1543714304,
    "qwen2.5-7b": 7615616512, "qwen3-0.6b": 596049920, "qwen3-8b": 8190735360, "qwen3-30b-a3b": 30532122624,
    "qwen3-235b-a22b": 235093634560, "gpt-oss-20b": 20914757184, "gpt-oss-120b": 116829156672,
    "deepseek2-16b": 15706484224, "deepseek2-236b": 235741434880, "deepseek3-671b": 671026404352,
    "gpt2": 124439808, "gpt2-medium": 354823168, "gpt2-large": 774030080, "gpt2-xl": 1557611200, "distilgpt2": 81912576,
    "bert-base-uncased": 109482240, "bert-base-cased": 108310272, "bert-large": 335141888,
    "EleutherAI_gpt-j-6b": 6050882784, "bigscience_bloom-560m": 559214592, "bigscience_bloom-7b1": 7069016064,
    "facebook_opt-125m": 125239296, "facebook_opt-6.7b": 6658473984,
    "upstage_Llama-2-70b-instruct-v2": 68976648192,
}
MAXTEXT_TYPES = {"llama2": "llama", "mistral": "mistral", "mixtral": "mixtral", "qwen2": "qwen2", "qwen3": "qwen3",
                 "qwen3_moe": "qwen3_moe", "gemma": "gemma", "gemma2": "gemma2", "gemma3": "gemma3_text", "gpt3": "gpt2",
                 "deepseek": "deepseek_v3", "gpt_oss": "gpt_oss"}
# Parts that no family here has: sparse attention's index, several residual streams, hashed n-grams.
UNKNOWN_PARTS = ("use_indexer", "indexer_n_heads", "mhc_expansion_rate", "engram_layers")


def formula(c: dict) -> int:
    """Parameters from the sizes alone. V vocabulary, d width, L layers, H heads, G heads of keys and values, c width of a head,
    f width of the feed-forward."""
    v, d, n_layer, n_head, f = c["V"], c["d"], c["L"], c["H"], c.get("f", 0)
    n_kv, head = c.get("G", n_head), c.get("c", d // n_head)
    kind = c["kind"]
    if kind in ("gpt2", "gpt_neo"):  # LayerNorms, biases, learned positions; GPT-Neo has no biases of q, k, v
        return v * d + c["P"] * d + n_layer * (4 * d * d + 2 * d * f + f + (9 if kind == "gpt2" else 6) * d) + 2 * d
    if kind == "gptj":  # one norm, biases of the feed-forward and the head alone
        return 2 * v * d + v + n_layer * (4 * d * d + 2 * d * f + f + 3 * d) + 2 * d
    if kind == "bloom":
        return v * d + 2 * d + n_layer * (12 * d * d + 13 * d) + 2 * d
    if kind == "opt":  # two rows more of positions
        return v * d + (c["P"] + 2) * d + n_layer * (4 * d * d + 2 * d * f + f + 9 * d) + 2 * d
    if kind == "bert":  # kinds of segments, a norm of the embedding, a pooler
        return v * d + c["P"] * d + 2 * d + 2 * d + n_layer * (4 * d * d + 2 * d * f + f + 9 * d) + d * d + d
    total = v * d + d + (0 if c.get("tied") else v * d)
    return total + n_layer * (attention(c, d, n_head, n_kv, head) + c.get("norms", 2) * d) + feed_forwards(c, d, f)


def attention(c: dict, d: int, n_head: int, n_kv: int, head: int) -> int:
    if "rk" in c:  # latent attention: ranks rq and rk, n values without and r with rotation, vw values
        rq, rk, n, r, vw = c["rq"], c["rk"], c["n"], c["r"], c["vw"]
        queries = d * rq + rq + rq * n_head * (n + r) if rq else d * n_head * (n + r)
        return queries + d * (rk + r) + rk + rk * n_head * (n + vw) + n_head * vw * d
    count = 2 * d * n_head * head + 2 * d * n_kv * head
    count += {"qkv": (n_head + 2 * n_kv) * head, "qkvo": (n_head + 2 * n_kv) * head + d}.get(c.get("bias"), 0)
    return count + (2 * head if c.get("qk_norm") else 0) + (n_head if c.get("sinks") else 0)


def feed_forwards(c: dict, d: int, f: int) -> int:
    """Gated, of all layers; experts E of width fe in all but the first `dense` layers, S shared ones."""
    if "E" not in c:
        return c["L"] * 3 * d * f
    n_expert, fe, dense = c["E"], c["fe"], c.get("dense", 0)
    layer = n_expert * 3 * d * fe + d * n_expert + c.get("S", 0) * 3 * d * fe
    if c.get("expert_bias"):
        layer += n_expert * (2 * fe + d) + n_expert
    return dense * 3 * d * f + (c["L"] - dense) * layer


def read_flat_yaml(path: Path) -> dict:
    """`key: value` lines; values as JSON where they are it, else text."""
    values = {}
    for line in path.read_text().splitlines():
        match = re.match(r"([a-z_0-9]+):\s*(.*?)\s*(#.*)?$", line)
        if not match:
            continue
        text = match[2]
        number = text.replace("_", "") if re.fullmatch(r"[\d_]+", text) else text
        if re.fullmatch(r"-?\d+\.e[-+]?\d+", number):
            number = number.replace(".e", ".0e")
        try:
            values[match[1]] = json.loads(number)
        except json.JSONDecodeError:
            values[match[1]] = text.strip("\"'")
    return values


def from_maxtext(path: Path) -> tuple[dict, dict] | str:
    """(config.json, sizes for the formula), or why it is out of reach."""
    y = read_flat_yaml(path)
    kind = MAXTEXT_TYPES.get(y["decoder_block"])
    if kind is None:
        return f"decoder_block {y['decoder_block']}"
    unknown = [key for key in UNKNOWN_PARTS if y.get(key)]
    if unknown:
        return ", ".join(unknown)
    d, n_head, f = y["base_emb_dim"], y["base_num_query_heads"], y["base_mlp_dim"]
    # Gemma 2 is written as pairs of layers.
    n_layer = y["base_num_decoder_layers"] * (2 if kind == "gemma2" else 1)
    tied = bool(y.get("logits_via_embedding", False))
    c = {"kind": kind, "V": y["vocab_size"], "d": d, "L": n_layer, "H": n_head, "G": y["base_num_kv_heads"], "f": f, "tied": tied,
         "c": y.get("head_dim", 128)}
    config = {"model_type": kind, "hidden_size": d, "num_hidden_layers": n_layer, "num_attention_heads": n_head,
              "num_key_value_heads": c["G"], "intermediate_size": f, "vocab_size": c["V"], "tie_word_embeddings": tied,
              "head_dim": c["c"], "max_position_embeddings": y.get("max_position_embeddings", 2048)}
    if kind == "gpt2":
        c["P"] = y["trainable_position_size"]
        return {"model_type": "gpt2", "n_embd": d, "n_layer": n_layer, "n_head": n_head, "n_inner": f, "vocab_size": c["V"],
                "n_positions": c["P"]}, c
    if kind in ("gemma2", "gemma3_text"):
        c["norms"] = 4
    if kind == "qwen2":
        c["bias"] = "qkv"
    c["qk_norm"] = kind in ("qwen3", "qwen3_moe", "gemma3_text")
    if "num_experts" in y:
        add_experts(y, kind, config, c)
    if kind == "deepseek_v3":
        config = add_latent(y, config, c)
    if kind == "gpt_oss":
        c.update(bias="qkvo", sinks=True, expert_bias=True)
        config["rope_scaling"] = {"rope_type": "yarn", "factor": y["rope_factor"], "beta_fast": y["beta_fast"],
                                  "beta_slow": y["beta_slow"], "truncate": False,
                                  "original_max_position_embeddings": y["original_max_position_embeddings"]}
        config["sliding_window"] = y["sliding_window_size"]
    return config, c


def add_experts(y: dict, kind: str, config: dict, c: dict) -> None:
    c.update(E=y["num_experts"], fe=y["base_moe_mlp_dim"])
    config["num_experts_per_tok"] = y["num_experts_per_tok"]
    config["num_local_experts"] = c["E"]
    if kind in ("mixtral", "gpt_oss"):
        config["intermediate_size"] = c["fe"]
    else:
        config["moe_intermediate_size"] = c["fe"]


def add_latent(y: dict, config: dict, c: dict) -> dict:
    is_v3 = y["routed_score_func"] == "sigmoid"
    c.update(rq=y["q_lora_rank"], rk=y["kv_lora_rank"], n=y["qk_nope_head_dim"], r=y["qk_rope_head_dim"], vw=y["v_head_dim"],
             dense=y["first_num_dense_layers"], S=y["shared_experts"])
    config.pop("head_dim")
    config.update(model_type="deepseek_v3" if is_v3 else "deepseek_v2", q_lora_rank=c["rq"] or None, kv_lora_rank=c["rk"],
                  qk_nope_head_dim=c["n"], qk_rope_head_dim=c["r"], v_head_dim=c["vw"], first_k_dense_replace=c["dense"],
                  n_shared_experts=c["S"], n_group=1, topk_group=1)
    config["n_routed_experts"] = config.pop("num_local_experts")
    return config


def from_llm_analysis(path: Path) -> tuple[dict, dict] | str:
    """Its feed-forward of Llama is 4 d without a gate; here it has one, of the width that is written."""
    y = json.loads(path.read_text())
    name = y["name"]
    kind = y.get("model_type") or ("bert" if name.startswith("bert") else "bloom" if name.startswith("bloom") else "opt")
    if name == "bigcode_santacoder":
        return "multi-query GPT-2 (gpt_bigcode) under the name gpt2"
    if name == "facebook_opt-350m":
        return "a projected embedding that the description does not say"
    d, f, positions = y["hidden_dim"], y["ffn_embed_dim"], y.get("max_seq_len") or 2048
    c = {"kind": kind, "V": y["vocab_size"], "d": d, "L": y["num_layers"], "H": y["n_head"], "f": f, "P": positions,
         "G": y.get("num_key_value_heads", y["n_head"])}
    config = {"model_type": kind, "vocab_size": c["V"], "hidden_size": d, "num_hidden_layers": c["L"], "num_attention_heads": c["H"],
              "max_position_embeddings": positions}
    if kind == "llama":
        config["num_key_value_heads"] = c["G"]
    if kind == "gpt_neo":
        config["attention_layers"] = ["global", "local"] * (c["L"] // 2)
    if kind in ("gptj", "gpt2"):
        config["n_inner"] = f
    elif kind == "opt":
        config["ffn_dim"] = f
    elif kind != "bloom":
        config["intermediate_size"] = f
    if kind == "gptj":
        config["rotary_dim"] = 64
    return config, c


class Comparison:
    def __init__(self, vitro: Path):
        self.vitro, self.n_same, self.n_published, self.out_of_reach, self.problems = vitro, 0, 0, [], []

    def show(self, config: dict) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "config.json"
            path.write_text(json.dumps(config))
            done = subprocess.run([self.vitro, "show", path, "--json"], capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr.strip())
        return json.loads(done.stdout)

    def description(self, path: Path, translated: tuple[dict, dict] | str) -> None:
        name = f"{path.parent.name}/{path.stem}"
        if isinstance(translated, str):
            self.out_of_reach.append(f"{name}: {translated}")
            return
        config, sizes = translated
        try:
            shown = self.show(config)["parameters"]
        except ValueError as error:
            self.problems.append(f"{name}: {error}")
            return
        expected = {"formula": formula(sizes)}
        if path.stem in PUBLISHED:
            expected["published"] = PUBLISHED[path.stem]
            self.n_published += 1
        for source, count in expected.items():
            if shown != count:
                self.problems.append(f"{name}: {shown:,} parameters, {source} {count:,}")
        self.n_same += shown == expected["formula"]

    def hugging_face(self, path: Path) -> None:
        """Real config.json files as they are."""
        config = json.loads(path.read_text())
        try:
            shown = self.show(config)["parameters"]
        except ValueError as error:
            self.problems.append(f"{path.stem}: {error}")
            return
        expected = formula(from_hugging_face(config)) + extra_of_phimoe(config)
        if shown != expected:
            self.problems.append(f"{path.stem}: {shown:,} parameters, formula {expected:,}")
        self.n_same += shown == expected

    def tensor_list(self, path: Path) -> None:
        listed = json.loads(path.read_text())
        # Tables of rotary factors are no parameters, and a config.json has them in itself.
        kinds = Counter(re.sub(r"^blk\.\d+\.", "", name) for name in listed
                        if name.endswith((".weight", ".bias")) and not name.startswith("rope_"))
        config = gguf_config(listed)
        if config is None or not kinds:
            self.out_of_reach.append(f"{path.parent.name}/{path.stem}: not a whole model")
            return
        try:
            ours = to_gguf_kinds(tensor_kinds(self.show(config)["modules"]), kinds)
        except ValueError as error:
            self.problems.append(f"{path.stem}: {error}")
            return
        missing = {kind: (n, ours.get(kind)) for kind, n in kinds.items() if ours.get(kind) != n}
        unlisted = {kind: n for kind, n in ours.items() if kind not in kinds and kind not in HIDDEN_KINDS.get(path.stem, ())}
        if missing or unlisted:
            self.problems.append(f"{path.stem}: (listed, ours) {missing}, not listed {unlisted}")
        self.n_same += not missing and not unlisted


def from_hugging_face(config: dict) -> dict:
    kind = config["model_type"]
    c = {"kind": kind, "V": config["vocab_size"], "d": config["hidden_size"], "L": config["num_hidden_layers"],
         "H": config["num_attention_heads"], "G": config["num_key_value_heads"], "f": config["intermediate_size"],
         "tied": config["tie_word_embeddings"], "qk_norm": kind.startswith("qwen3")}
    c["c"] = config.get("head_dim") or c["d"] // c["H"]
    n_expert = config.get("num_local_experts") or config.get("num_experts")
    if n_expert:
        c.update(E=n_expert, fe=config.get("moe_intermediate_size", c["f"]))
    return c


def extra_of_phimoe(config: dict) -> int:
    """Biases of attention, norms and head."""
    if config["model_type"] != "phimoe":
        return 0
    d, head = config["hidden_size"], config["head_dim"]
    heads = config["num_attention_heads"] + 2 * config["num_key_value_heads"]
    return config["num_hidden_layers"] * (heads * head + d + 2 * d) + d + config["vocab_size"]


GGUF_TYPES = {"llama": "llama", "qwen2": "qwen2", "gemma": "gemma", "gemma2": "gemma2", "phi3": "phi3", "command-r": "cohere",
              "bert": "bert"}
# Our tensors by the kinds of GGUF; several of ours that one of theirs holds have its name.
GGUF_KINDS = {"embed.w": "token_embd.weight", "unembed.w": "output.weight", "final_norm.gain": "output_norm.weight",
              "attn_norm.gain": "attn_norm.weight", "attn.w_q": "attn_q.weight", "attn.w_k": "attn_k.weight",
              "attn.w_v": "attn_v.weight", "attn.b_q": "attn_q.bias", "attn.b_k": "attn_k.bias", "attn.b_v": "attn_v.bias",
              "attn.w_o": "attn_output.weight", "attn.b_o": "attn_output.bias", "ffn_norm.gain": "ffn_norm.weight",
              "ffn.w_gate": "ffn_gate.weight", "ffn.w_up": "ffn_up.weight", "ffn.w_down": "ffn_down.weight",
              "ffn.b_up": "ffn_up.bias", "ffn.b_down": "ffn_down.bias", "ffn.router.w": "ffn_gate_inp.weight",
              "ffn.experts.w_gate": "ffn_gate_exps.weight", "ffn.experts.w_up": "ffn_up_exps.weight",
              "ffn.experts.w_down": "ffn_down_exps.weight", "attn_post_norm.gain": "post_attention_norm.weight",
              "ffn_post_norm.gain": "post_ffw_norm.weight", "pos_embed.w": "position_embd.weight",
              "token_type.w": "token_types.weight", "embed_norm.gain": "token_embd_norm.weight",
              "embed_norm.bias": "token_embd_norm.bias"}
BERT_KINDS = {"attn_norm.gain": "attn_output_norm.weight", "attn_norm.bias": "attn_output_norm.bias",
              "ffn_norm.gain": "layer_output_norm.weight", "ffn_norm.bias": "layer_output_norm.bias"}
# What a list leaves out: the pooler, which converters drop; an embedding too large for the list's test data.
HIDDEN_KINDS = {"all-MiniLM-L6-v2": ("pooler.w", "pooler.b"), "c4ai-command-r-v01": ("token_embd.weight",)}
PHI3_KINDS = {"attn_q.weight": "attn_qkv.weight", "ffn_gate.weight": "ffn_up.weight"}


def gguf_config(listed: dict) -> dict | None:
    """config.json of the model that a list's metadata describe; None where they are not there."""
    arch = listed.get("general.architecture")
    if arch not in GGUF_TYPES or f"{arch}.block_count" not in listed:
        return None
    meta = {key.removeprefix(f"{arch}."): value for key, value in listed.items() if key.startswith(f"{arch}.")}
    n_expert = int(meta.get("expert_count", 0))
    is_tied = "output.weight" not in listed
    config = {"model_type": "mixtral" if n_expert else GGUF_TYPES[arch], "hidden_size": int(meta["embedding_length"]),
              "num_hidden_layers": int(meta["block_count"]), "num_attention_heads": int(meta["attention.head_count"]),
              "intermediate_size": int(meta["feed_forward_length"]), "vocab_size": 32000}
    if arch == "bert":
        return config
    config.update(num_key_value_heads=int(meta.get("attention.head_count_kv", meta["attention.head_count"])),
                  tie_word_embeddings=is_tied)
    if "attention.key_length" in meta:
        config["head_dim"] = int(meta["attention.key_length"])
    if n_expert:
        config.update(num_local_experts=n_expert, num_experts_per_tok=int(meta["expert_used_count"]))
    return config


def tensor_kinds(modules: list, prefix: str = "", copies: int = 1) -> Counter:
    """How many tensors of each kind, by GGUF's names where there is one. Each name counts once a layer."""
    kinds: Counter = Counter()
    for module in modules:
        is_fold = re.fullmatch(r"[\d, -]+", module["name"])
        inside = "" if is_fold or module["name"] == "blocks" else f"{prefix}{module['name']}."
        for tensor in module["tensors"]:
            kinds[inside + tensor["name"]] += copies * module["copies"]
        kinds += tensor_kinds(module["modules"], inside, copies * module["copies"])
    return kinds


def to_gguf_kinds(kinds: Counter, listed: Counter) -> Counter:
    names = {**GGUF_KINDS, **(BERT_KINDS if "layer_output_norm.weight" in listed else {})}
    out: Counter = Counter()
    for kind, n in kinds.items():
        name = names.get(kind, kind)
        if "attn_qkv.weight" in listed:
            name = {"attn_k.weight": None, "attn_v.weight": None, **PHI3_KINDS}.get(name, name)
        if name:
            out[name] = n
    return out


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", type=Path, help="folder with maxtext/, llm-analysis/, hf/ and tensor-lists/")
    parser.add_argument("--vitro", type=Path, default=root / "build" / "release" / "vitro", help="the program to ask")
    args = parser.parse_args()
    comparison = Comparison(args.vitro)
    for path in sorted((args.configs / "maxtext").glob("*.yml")):
        comparison.description(path, from_maxtext(path))
    for path in sorted((args.configs / "llm-analysis" / "model_configs").glob("*.json")):
        comparison.description(path, from_llm_analysis(path))
    for path in sorted((args.configs / "hf").glob("*/*.json")):
        comparison.hugging_face(path)
    for path in sorted((args.configs / "tensor-lists").glob("*.json")):
        comparison.tensor_list(path)
    for line in comparison.out_of_reach:
        print(f"out of reach: {line}")
    for line in comparison.problems:
        print(line, file=sys.stderr)
    print(f"{comparison.n_same} descriptions agree ({comparison.n_published} of them published counts), "
          f"{len(comparison.out_of_reach)} are out of reach, {len(comparison.problems)} differ")
    return 1 if comparison.problems or not comparison.n_same else 0


if __name__ == "__main__":
    sys.exit(main())
