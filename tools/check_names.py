#!/usr/bin/env python3
"""Words that may stand only in certain places.

L3  main() only in cli/, tests/, tools/, bench/, fuzz/
L6  no family's name (any name in model/arch/'s Architecture records) outside model/arch/, tests, docs and tokens/ (GGUF files call
    kinds of tokenizers by families' names)
L7  foreign names of our quantities (hidden_size, n_embd, ...) only as strings in model/arch/; formats/ may use them
L8  no throw; no printing outside cli/; no new, delete, malloc outside base/ and tensor/;
    no reinterpret_cast outside formats/, kernels/, tensor/

Comments may name anything. Excuses: tools/allow.txt.
"""
import re
from pathlib import Path

import house

ARCH = "src/model/arch/"
FOREIGN_NAMES = """
    hidden_size num_hidden_layers num_attention_heads num_key_value_heads num_kv_heads num_heads num_layers head_dim head_size
    intermediate_size max_position_embeddings rms_norm_eps layer_norm_eps layer_norm_epsilon n_embd n_inner n_heads
    n_layers n_kv_heads n_query_groups hidden_dim qkv_dim ff_hidden_dim model_dim d_mlp d_vocab embedding_length block_count
    head_count head_count_kv key_length value_length feed_forward_length context_length layer_norm_rms_epsilon freq_base
    rotary_pct rotary_emb_base partial_rotary_factor tie_word_embeddings final_logit_softcapping query_pre_attn_scalar""".split()
FOREIGN = re.compile(r"(?<![A-Za-z0-9_])(" + "|".join(FOREIGN_NAMES) + r")(?![A-Za-z0-9_])")
# Projects whose names hold a family's name; what we say about them is not about the family.
PROJECTS = re.compile(r"llama[._]?cpp|llama2[._]?c", re.IGNORECASE)

# rule, pattern, folders where it is allowed, what to say
WORDS = (
    ("L3", re.compile(r"\bint\s+main\s*\("), ("cli/", "tests/", "tools/", "bench/", "fuzz/"), "main() belongs to cli/"),
    ("L8-throw", re.compile(r"\bthrow\b"), ("python/",), "return a Result instead of throwing"),
    ("L8-print", re.compile(r"\b(printf|fprintf|puts|fputs|putchar|cout|cerr|clog)\b|\bfmt::print\b"),
     ("cli/", "tests/", "bench/", "fuzz/"), "a library never prints"),
    ("L8-new", re.compile(r"\b(malloc|calloc|realloc|free)\s*\(|\bnew\s+[A-Za-z_:(]|(?<!=)(?<!= )\bdelete\b\s*[\[A-Za-z_(*]"),
     ("src/base/", "src/tensor/", "tests/", "bench/", "fuzz/"), "memory is asked for in tensor/Buffer or a container"),
    ("L8-cast", re.compile(r"\breinterpret_cast\b"), ("src/formats/", "src/kernels/", "src/tensor/", "tests/", "bench/", "fuzz/"),
     "bytes become numbers in formats/, kernels/, tensor/"),
)


def family_names() -> list[str]:
    """Every string in the name fields of the Architecture records, longest first."""
    names: set[str] = set()
    field = re.compile(r"(?:\bname|\bhf_model_types|\bgguf_names|k[A-Z]\w*(?:Names|Types))\b[^;{=!]*=\s*(\{[^}]*\}|\"[^\"]*\")")
    for path in sorted((house.ROOT / ARCH).glob("*.cc")):
        text = house.strip(path.read_text(), "comment")
        if not house.is_test(path) and re.search(r"\bArchitecture k[A-Z]", text):
            for match in field.finditer(text):
                names.update(re.findall(r'"([a-z][a-z0-9_-]+)"', match[1]))
    return sorted(names, key=len, reverse=True)


def snake(code: str) -> str:
    """CamelCase split, so that kLlama is found as well as llama."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", code)


def check_families(path: Path, code: str, pattern: re.Pattern | None, report: house.Report) -> None:
    if pattern is None or house.relative(path).startswith((ARCH, "src/tokens/")) or house.is_test(path):
        return
    for number, line in enumerate(PROJECTS.sub("", code).splitlines(), 1):
        for match in pattern.finditer(snake(line)):
            report.add("L6", path, number, f"'{match[1]}' is a family's name; it belongs to {ARCH}")


def check_foreign(path: Path, code: str, bare: str, report: house.Report) -> None:
    if house.is_test(path) or house.relative(path).startswith(("src/formats/", "fuzz/", "bench/")):
        return
    is_arch = house.relative(path).startswith(ARCH)
    text = bare if is_arch else code
    for match in FOREIGN.finditer(text):
        where = "may stand there only as a string" if is_arch else f"belongs to {ARCH}"
        report.add("L7", path, house.line_of(text, match.start()), f"foreign name '{match[1]}' {where}")


def check_words(path: Path, bare: str, report: house.Report) -> None:
    for rule, pattern, places, advice in WORDS:
        if house.relative(path).startswith(places) or (house.is_test(path) and rule != "L3"):
            continue
        for match in pattern.finditer(bare):
            report.add(rule, path, house.line_of(bare, match.start()), f"'{match[0].strip()}': {advice}")


def main() -> None:
    report = house.Report("check_names", ("L3", "L6", "L7", "L8-throw", "L8-print", "L8-new", "L8-cast"))
    names = family_names()
    families = re.compile(r"(?i)(?<![a-z0-9])(" + "|".join(map(re.escape, names)) + r")(?![a-z0-9])") if names else None
    if (house.ROOT / ARCH / "registry.cc").exists() and not names:
        report.findings.append(f"{ARCH}: no Architecture names found; has the record changed? (family_names in this script)")
    for path in house.files(".h", ".cc"):
        code = house.strip(path.read_text(), "comment")
        bare = house.strip(code, "string", "char")
        check_families(path, code, families, report)
        check_foreign(path, code, bare, report)
        check_words(path, bare, report)
    report.finish()


if __name__ == "__main__":
    main()
