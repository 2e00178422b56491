#!/usr/bin/env python3
"""Makes tests/data/sample/*.json: what distribution each engine's sampling chain gives on fixed logits.

chains.json        computed here, with NumPy in float64, from the documented formulas of transformers, llama.cpp, vLLM:
                   each chain is written out on its own, in its engine's own style (sort ascending or descending, mask
                   or cut), sharing nothing with the C++ code. A case whose outcome hangs on rounding (an id within 1e-6
                   of an edge) is refused.
transformers.json  shortened from the reference probabilities of transformers (one row per rule and set of logits),
                   given by --goldens.

    python3 tools/make_sampling_expectations.py [--goldens sampling.json]
"""
import argparse
import json
import math
import pathlib

import numpy as np

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "sample"
EDGE = 1e-6


def softmax(x):
    e = np.where(np.isneginf(x), 0.0, np.exp(x - x.max()))
    return e / e.sum()


def far_from(values, edge):
    """Refuses a case that rounding could decide."""
    values = np.asarray(values)
    assert np.all(np.abs(values - edge) > EDGE), f"a value is at the edge {edge}: {values}"


# ---- transformers: generation/logits_process.py ----


def hf_repetition(x, ids, penalty):
    x = x.copy()
    for i in set(ids):
        x[i] = x[i] * penalty if x[i] < 0 else x[i] / penalty
    return x


def openai_presence_frequency(x, generated, presence, frequency):
    x = x.copy()
    for i in set(generated):
        x[i] -= presence + frequency * generated.count(i)
    return x


def hf_no_repeat_ngram(x, ids, n):
    x = x.copy()
    if len(ids) + 1 < n:
        return x
    seen = {}
    for start in range(len(ids) - n + 1):
        gram = ids[start : start + n]
        seen.setdefault(tuple(gram[:-1]), []).append(gram[-1])
    for banned in seen.get(tuple(ids[len(ids) + 1 - n :]), []):
        x[banned] = -np.inf
    return x


def hf_top_k(x, k):
    kth = np.sort(x)[-min(k, len(x))]
    return np.where(x < kth, -np.inf, x)


def hf_top_p(x, p):
    order = np.argsort(x, kind="stable")
    below = np.cumsum(softmax(x)[order])
    far_from(below, 1 - p)
    drop = below <= 1 - p
    drop[-1] = False
    x = x.copy()
    x[order[drop]] = -np.inf
    return x


def hf_min_p(x, min_p):
    p = softmax(x)
    return np.where(p < min_p * p.max(), -np.inf, x)


def hf_typical(x, mass):
    p = softmax(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(p)
        entropy = -np.nansum(np.where(p > 0, p * log_p, 0.0))
    shifted = np.abs(-log_p - entropy)
    order = np.argsort(shifted, kind="stable")
    cumulative = np.cumsum(p[order])
    far_from(cumulative, mass)
    last = min(int((cumulative < mass).sum()), len(x) - 1)
    return np.where(shifted > shifted[order[last]], -np.inf, x)


def hf_epsilon(x, epsilon):
    p = softmax(x)
    return np.where((p < epsilon) & (x < x.max()), -np.inf, x)


def run_hf(x, case):
    o, ids, generated = case["options"], case["history"], case["history"][case["n_prompt"] :]
    for i, bias in case["options"].get("logit_bias", []):
        x[i] += -np.inf if bias is None else bias
    x = hf_repetition(x, ids, o.get("repetition_penalty", 1.0))
    x = openai_presence_frequency(x, generated, o.get("presence_penalty", 0.0), o.get("frequency_penalty", 0.0))
    if "no_repeat_ngram" in o:
        x = hf_no_repeat_ngram(x, ids, o["no_repeat_ngram"])
    x = x / o["temperature"]
    for name, rule in [("top_k", hf_top_k), ("top_p", hf_top_p), ("min_p", hf_min_p), ("typical_p", hf_typical),
                       ("epsilon_cutoff", hf_epsilon)]:
        if name in o:
            x = rule(x, o[name])
    return softmax(x)


# ---- llama.cpp: src/llama-sampler.cpp: an array of (id, logit) that is sorted downwards and cut ----


def cpp_softmax(tokens):
    top = max(logit for _, logit in tokens)
    exps = [math.exp(logit - top) for _, logit in tokens]
    return [e / sum(exps) for e in exps]


def cpp_sorted(tokens):
    return sorted(tokens, key=lambda t: (-t[1], t[0]))


def cpp_penalties(tokens, ids, o):
    window = ids[-o.get("penalty_last_n", 64) :]
    out = []
    for i, logit in tokens:
        count = window.count(i)
        if count:
            repeat = o.get("repetition_penalty", 1.0)
            logit = logit * repeat if logit <= 0 else logit / repeat
            logit -= count * o.get("frequency_penalty", 0.0) + o.get("presence_penalty", 0.0)
        out.append((i, logit))
    return out


def cpp_typical(tokens, p):
    probabilities = cpp_softmax(tokens)
    entropy = -sum(q * math.log(q) for q in probabilities)
    ranked = sorted(range(len(tokens)), key=lambda j: abs(-math.log(probabilities[j]) - entropy))
    kept, total = [], 0.0
    for j in ranked:
        kept.append(tokens[j])
        total += probabilities[j]
        far_from(total, p)
        if total > p:
            break
    return kept


def cpp_top_p(tokens, p):
    tokens = cpp_sorted(tokens)
    total = 0.0
    for n, q in enumerate(cpp_softmax(tokens)):
        total += q
        far_from(total, p)
        if total >= p:
            return tokens[: n + 1]
    return tokens


def run_llama_cpp(x, case):
    o = case["options"]
    biases = [(i, -math.inf if b is None else b) for i, b in o.get("logit_bias", [])]
    tokens = [(i, float(logit) + sum(b for j, b in biases if j == i)) for i, logit in enumerate(x)]
    tokens = [t for t in cpp_penalties(tokens, case["history"], o) if t[1] > -math.inf]
    if "top_k" in o:
        tokens = cpp_sorted(tokens)[: o["top_k"]]
    if "typical_p" in o:
        tokens = cpp_typical(cpp_sorted(tokens), o["typical_p"])
    if "top_p" in o:
        tokens = cpp_top_p(tokens, o["top_p"])
    if "min_p" in o:
        edge = max(logit for _, logit in tokens) + math.log(o["min_p"])
        far_from([logit for _, logit in tokens], edge)
        tokens = [t for t in tokens if t[1] >= edge]
    tokens = [(i, logit / o["temperature"]) for i, logit in tokens]
    out = np.zeros(len(x))
    for (i, _), q in zip(tokens, cpp_softmax(tokens)):
        out[i] = q
    return out


# ---- vLLM: v1/sample: dense tensors with masks ----


def run_vllm(x, case):
    o, n_prompt = case["options"], case["n_prompt"]
    n = len(x)
    for i, bias in o.get("logit_bias", []):
        x[i] += -np.inf if bias is None else bias
    prompt_mask = np.bincount(case["history"][:n_prompt], minlength=n) > 0
    output_counts = np.bincount(np.array(case["history"][n_prompt:], dtype=np.int64), minlength=n)
    output_mask = output_counts > 0
    factor = np.where(prompt_mask | output_mask, o.get("repetition_penalty", 1.0), 1.0)
    x = np.where(x > 0, x / factor, x * factor)
    x = x - o.get("frequency_penalty", 0.0) * output_counts - o.get("presence_penalty", 0.0) * output_mask
    x = x / o["temperature"]
    if "min_p" in o:
        p = softmax(x)
        x[p < o["min_p"] * p.max()] = -np.inf
    if "top_k" in o:
        x[x < np.sort(x)[n - o["top_k"]]] = -np.inf
    if "top_p" in o:
        order = np.argsort(x, kind="stable")
        cumulative = np.cumsum(softmax(x)[order])
        far_from(cumulative, 1 - o["top_p"])
        mask = cumulative <= 1 - o["top_p"]
        mask[-1] = False
        x[order[mask]] = -np.inf
    return softmax(x)


RUN = {"hf": run_hf, "llama.cpp": run_llama_cpp, "vllm": run_vllm}

# ---- cases ----

N = 24
TRUNCATE = {"temperature": 1.6, "top_k": 12, "top_p": 0.8, "min_p": 0.05}
PENALTIES = {"temperature": 0.9, "repetition_penalty": 1.3, "presence_penalty": 0.4, "frequency_penalty": 0.25}
BIAS = {"temperature": 1.0, "repetition_penalty": 1.5, "logit_bias": [[3, 2.5], [0, None], [17, -4.0], [3, 0.5]]}
HISTORY, N_PROMPT = [5, 5, 2, 9, 2, 7, 5, 2, 9], 4


def cases():
    rng = np.random.default_rng(20240607)
    logits = np.round(rng.normal(0, 1.3, N), 3)
    ties = np.round(np.repeat(rng.normal(0, 1.5, N // 3), 3), 2)
    long_history = [int(i) for i in rng.integers(0, N - 4, 100)] + [21] * 3 + [22] * 60
    for preset in RUN:
        def case(name, options, x=logits, history=HISTORY, n_prompt=N_PROMPT):
            fields = {"name": name, "preset": preset, "options": options, "logits": x.tolist()}
            return fields | {"history": history, "n_prompt": n_prompt}

        yield case("truncate", TRUNCATE)
        yield case("low temperature", {"temperature": 0.4, "top_k": 8, "top_p": 0.95, "min_p": 0.02})
        yield case("min-p and top-p", {"temperature": 1.1, "top_p": 0.9, "min_p": 0.06})
        yield case("penalties", PENALTIES)
        yield case("prompt A A, nothing generated", PENALTIES, history=[6, 6], n_prompt=2)
        yield case("bias", BIAS)
        yield case("everything", TRUNCATE | PENALTIES | {"logit_bias": BIAS["logit_bias"]})
        yield case("long history", PENALTIES, history=long_history, n_prompt=80)
        yield case("ties at the edge of top-k", {"temperature": 1.0, "top_k": 4}, x=ties)
        yield case("negative penalties", {"temperature": 1.0, "presence_penalty": -1.0, "frequency_penalty": -0.5})
        if preset != "vllm":
            yield case("typical", {"temperature": 1.3, "top_k": 20, "typical_p": 0.6, "top_p": 0.9})
        if preset == "llama.cpp":
            yield case("window of 3", PENALTIES | {"penalty_last_n": 3})
        if preset == "hf":
            for n in (1, 2, 3, 4, 12):
                yield case(f"no repeated {n}-gram", {"temperature": 1.0, "no_repeat_ngram": n})
            yield case("epsilon", {"temperature": 1.2, "top_k": 18, "epsilon_cutoff": 0.04})


def round_all(values, digits=12):
    return [float(f"{v:.{digits}g}") for v in values]


def make_chains():
    out = []
    for case in cases():
        probabilities = RUN[case["preset"]](np.array(case["logits"]), case)
        assert abs(probabilities.sum() - 1) < 1e-12
        out.append(case | {"probs": round_all(probabilities)})
    return out


def shorten_goldens(rows):
    """Each set's logits once; probabilities as [id, probability] of what is above 0, at the precision of float32."""
    sets, out = {}, []
    for row in rows:
        sets[row["set"]] = row["logits"]
        probs = [[i, float(f"{p:.9g}")] for i, p in enumerate(row["probs"]) if p > 0]
        out.append({key: row[key] for key in ("rule", "args", "set", "history")} | {"probs": probs})
    return {"sets": sets, "rows": out}


def dump(path, value, rows):
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    text = value.replace('"ROWS"', "[\n" + lines + "\n]")
    path.write_text(text + "\n")
    print(f"{path}: {len(rows)} rows, {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goldens", help="the reference's sampling.json")
    args = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    dump(OUT / "chains.json", '"ROWS"', make_chains())
    if args.goldens:
        short = shorten_goldens(json.loads(pathlib.Path(args.goldens).read_text()))
        dump(OUT / "transformers.json", json.dumps(short | {"rows": "ROWS"}), short["rows"])


if __name__ == "__main__":
    main()
