#!/usr/bin/env python3
"""Writes small sound files for the fuzz targets to start from: make_fuzz_seeds.py FOLDER makes FOLDER/gguf, /safetensors, /config, /tokenizer,
/split_pattern, /sentencepiece and /template.

Only the standard library; the bytes follow the specifications of GGUF and safetensors. The goldens' descriptions are seeds too.
"""
import json
import pathlib
import struct
import sys

import golden_twin

MAX_SEED = 8192  # the fuzzers cut longer inputs; a twin's description and tensor table fit
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def scalar(kind, value):
    return struct.pack("<" + SCALARS[kind], value)


def array(kind, items):
    encode = text if kind == 8 else (lambda item: item) if kind == 9 else (lambda item: scalar(kind, item))
    return struct.pack("<IQ", kind, len(items)) + b"".join(encode(item) for item in items)


def gguf(pairs, tensors, version=3, alignment=32):
    """pairs: (key, kind, encoded value); tensors: (name, dims innermost first, type, bytes)."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs))
    for key, kind, value in pairs:
        head += text(key) + struct.pack("<I", kind) + value
    data = b""
    for name, dims, kind, contents in tensors:
        head += text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, len(data))
        data += contents + bytes(-len(contents) % alignment)
    return head + bytes(-len(head) % alignment) + data


def safetensors(tensors, metadata=None):
    """tensors: (name, dtype, shape, bytes)."""
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, dtype, shape, contents in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(contents)]}
        data += contents
    packed = json.dumps(header).encode()
    return struct.pack("<Q", len(packed)) + packed + data


def gguf_seeds():
    every_kind = [(f"k{kind}", kind, scalar(kind, 1)) for kind in SCALARS] + [("k8", 8, text("llama"))]
    arrays = [(f"a{kind}", 9, array(kind, [1, 0])) for kind in SCALARS]
    arrays += [("tokenizer.ggml.tokens", 9, array(8, ["a", "", "bc"])), ("nested", 9, array(9, [array(4, [1]), array(8, ["x"])]))]
    tensors = [("a", [3, 2], 0, bytes(24)), ("b", [32, 2], 2, bytes(36)), ("c", [256], 12, bytes(144)), ("d", [], 28, bytes(8))]
    yield "scalars", gguf(every_kind, [])
    yield "arrays", gguf(arrays, [])
    yield "tensors", gguf([], tensors)
    yield "version2", gguf([("general.architecture", 8, text("llama"))], tensors, version=2)
    yield "aligned", gguf([("general.alignment", 4, scalar(4, 64))], tensors, alignment=64)
    for name in golden_twin.twin_names():
        yield name, golden_twin.read_twin(name)[:MAX_SEED]


def safetensors_seeds():
    yield "empty", safetensors([])
    yield "two", safetensors([("a", "F32", [2, 3], bytes(24)), ("b", "BF16", [], bytes(2))], {"format": "pt"})
    yield "kinds", safetensors([(f"t{i}", kind, [0], b"") for i, kind in enumerate(["F64", "I8", "BOOL", "F8_E4M3", "U16"])])
    yield "index", json.dumps({"metadata": {"total_size": 1}, "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}).encode()


def config_seeds():
    llama = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 2, "vocab_size": 128, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "hidden_act": "silu",
             "rope_theta": 10000.0, "rope_scaling": None, "tie_word_embeddings": True, "eos_token_id": [1, 2]}
    yield "llama", json.dumps(llama).encode()
    yield "yarn", json.dumps({**llama, "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                                                        "original_max_position_embeddings": 64}}).encode()
    gpt2 = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 128,
            "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}
    yield "gpt2", json.dumps(gpt2).encode()
    flat = {"general.architecture": "llama", "llama.block_count": 2, "llama.embedding_length": 64, "llama.attention.head_count": 4,
            "llama.feed_forward_length": 96, "llama.context_length": 256, "llama.vocab_size": 128,
            "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": 16}
    yield "gguf", json.dumps(flat).encode()
    for path in sorted([*golden_twin.GOLDEN.glob("*/config.json"), *golden_twin.GOLDEN.glob("plan/*/config.json")]):
        yield path.parent.name, path.read_bytes()
    yield "llama2c", json.dumps({"dim": 64, "hidden_dim": 96, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "vocab_size": 128,
                                 "seq_len": 64, "shared_classifier": True}).encode()


def tokenizer_seeds():
    """The trained files of the tests, and one that is short enough to be changed everywhere."""
    yield "small", json.dumps({
        "version": "1.0", "added_tokens": [{"id": 4, "content": "<s>", "rstrip": True, "special": True}],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Prepend", "prepend": "a"},
                                                           {"type": "Replace", "pattern": {"String": " "}, "content": "b"}]},
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\s+|\\d"}, "behavior": "Isolated", "invert": False},
        "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
                           "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "b"}, "content": " "},
                                                     {"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "ab": 3}, "merges": ["a b"]}}).encode()
    for path in sorted((pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens").glob("*.tokenizer.json")):
        yield path.stem, json.dumps(json.loads(path.read_text()), ensure_ascii=False, separators=(",", ":")).encode()


def split_pattern_seeds():
    """Published patterns and every construct, each with a text."""
    folder = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens"
    for row in json.loads((folder / "splits.json").read_text()):
        yield row["name"], (row["pattern"] + "\0" + row["texts"][-1][0]).encode()
    for i, row in enumerate(json.loads((folder / "random-splits.json").read_text())):
        yield f"random-{i}", (row["pattern"] + "\0" + row["texts"][0][0]).encode()


def sentencepiece_seeds():
    """The trained models of the tests."""
    for path in sorted((pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokens/sources").glob("*.model")):
        yield path.stem, path.read_bytes()


def template_seeds():
    """The small templates of the tests, one for every construct."""
    path = pathlib.Path(__file__).resolve().parent.parent / "tests/data/text/templates.jsonl"
    for i, line in enumerate(path.read_text().splitlines()[1:]):
        yield f"template-{i}", json.loads(line)["template"].encode()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for target, seeds in (("gguf", gguf_seeds()), ("safetensors", safetensors_seeds()), ("config", config_seeds()),
                          ("tokenizer", tokenizer_seeds()), ("split_pattern", split_pattern_seeds()),
                          ("sentencepiece", sentencepiece_seeds()), ("template", template_seeds())):
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, contents in seeds:
            (folder / name).write_bytes(contents)


if __name__ == "__main__":
    main()
