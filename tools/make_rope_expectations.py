#!/usr/bin/env python3
"""Writes tests/data/model/rope.json: rotary inverse frequencies and cos/sin multipliers in NumPy float64.

From the formulas of the papers: an independent statement of what src/model/rope.cc computes; run it only to add cases:
    python3 tools/make_rope_expectations.py
"""
import json
import math
import pathlib

import numpy as np


def base(theta, d_rot):
    return theta ** (-np.arange(0, d_rot, 2, dtype=np.float64) / d_rot)


def linear(c):
    return base(c["theta"], c["d_rot"]) / c["factor"], 1.0


def ntk(c):
    """NTK-aware scaling by a constant factor: the slowest pair is slowed by it, the fastest not at all."""
    r = c["d_rot"]
    return base(c["theta"] * c["factor"] ** (r / (r - 2)), r), 1.0


def dynamic(c):
    """NTK-aware scaling by the length at hand."""
    trained, r, s = c["n_ctx_original"], c["d_rot"], c["factor"]
    length = max(c["seq_len"], trained)
    return base(c["theta"] * (s * length / trained - (s - 1)) ** (r / (r - 2)), r), 1.0


def yarn(c):
    """YaRN, arXiv 2309.00071, section 3.2 and the published code's rounding of the ramp."""
    trained, r, theta, s = c["n_ctx_original"], c["d_rot"], c["theta"], c["factor"]

    def pair(turns):
        return r * math.log(trained / (2 * math.pi * turns)) / (2 * math.log(theta))

    low, high = pair(c.get("beta_fast", 32.0)), pair(c.get("beta_slow", 1.0))
    if c.get("is_truncated", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, r - 1)
    if low == high:
        high += 0.001
    ramp = np.clip((np.arange(r // 2) - low) / (high - low), 0, 1)
    f = base(theta, r)
    m, m_all = c.get("mscale", 0.0), c.get("mscale_all_dim", 0.0)

    def mscale(k):
        return 1.0 if s <= 1 else 0.1 * k * math.log(s) + 1

    factor = c.get("attention_factor") or (mscale(m) / mscale(m_all) if m and m_all else mscale(1.0))
    return f / s * ramp + f * (1 - ramp), factor


def longrope(c):
    """LongRoPE, arXiv 2402.13753, as Phi-3 uses it."""
    is_long = c["seq_len"] > c["n_ctx_original"]
    factors = np.array(c["long_factors"] if is_long else c["short_factors"])
    scale = 1.0 if c["factor"] <= 1 else math.sqrt(1 + math.log(c["factor"]) / math.log(c["n_ctx_original"]))
    return base(c["theta"], c["d_rot"]) / factors, scale


def llama3(c):
    """Llama 3.1: wavelengths against the trained length."""
    f, trained, s = base(c["theta"], c["d_rot"]), c["n_ctx_original"], c["factor"]
    low, high = c["low_freq_factor"], c["high_freq_factor"]
    turns = trained * f / (2 * np.pi)
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    return (1 - smooth) * f / s + smooth * f, 1.0


def factors(c):
    return base(c["theta"], c["d_rot"]) / np.array(c["factors"]), 1.0


KINDS = {"none": lambda c: (base(c["theta"], c["d_rot"]), 1.0), "linear": linear, "ntk": ntk,
         "dynamic": dynamic, "yarn": yarn, "longrope": longrope, "llama3": llama3, "factors": factors}

CASES = [
    dict(kind="none", d_rot=16, theta=10000.0),
    dict(kind="none", d_rot=2, theta=500000.0),
    dict(kind="linear", d_rot=12, theta=10000.0, factor=4.0),
    dict(kind="ntk", d_rot=128, theta=10000.0, factor=2.0),
    dict(kind="ntk", d_rot=128, theta=10000.0, factor=4.0),
    dict(kind="ntk", d_rot=128, theta=10000.0, factor=32.0),
    dict(kind="ntk", d_rot=16, theta=500000.0, factor=1.5),
    dict(kind="ntk", d_rot=4, theta=10000.0, factor=8.0),
    dict(kind="dynamic", d_rot=16, theta=10000.0, factor=2.0, n_ctx_original=32, seq_len=7),
    dict(kind="dynamic", d_rot=16, theta=10000.0, factor=2.0, n_ctx_original=32, seq_len=33),
    dict(kind="dynamic", d_rot=16, theta=10000.0, factor=4.0, n_ctx_original=2048, seq_len=30000),
    dict(kind="yarn", d_rot=32, theta=10000.0, factor=4.0, n_ctx_original=2048),
    dict(kind="yarn", d_rot=32, theta=150000.0, factor=32.0, n_ctx_original=4096, is_truncated=False),
    dict(kind="yarn", d_rot=64, theta=10000.0, factor=40.0, n_ctx_original=4096, mscale=1.0, mscale_all_dim=0.707),
    dict(kind="yarn", d_rot=64, theta=10000.0, factor=40.0, n_ctx_original=4096, mscale=0.707),
    dict(kind="yarn", d_rot=16, theta=1e6, factor=4.0, n_ctx_original=32768, beta_fast=16.0, beta_slow=2.0,
         attention_factor=1.25),
    dict(kind="yarn", d_rot=16, theta=10000.0, factor=8.0, n_ctx_original=6),
    dict(kind="longrope", d_rot=8, theta=10000.0, factor=32.0, n_ctx_original=4096, seq_len=4096,
         short_factors=[1.0, 1.1, 1.25, 1.5], long_factors=[1.5, 3.0, 17.5, 64.0]),
    dict(kind="longrope", d_rot=8, theta=10000.0, factor=32.0, n_ctx_original=4096, seq_len=4097,
         short_factors=[1.0, 1.1, 1.25, 1.5], long_factors=[1.5, 3.0, 17.5, 64.0]),
    dict(kind="llama3", d_rot=64, theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
         n_ctx_original=8192),
    dict(kind="llama3", d_rot=32, theta=500000.0, factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0,
         n_ctx_original=64),
    dict(kind="factors", d_rot=8, theta=500000.0, factors=[1.0, 2.5, 8.0, 8.0]),
]


def main():
    out = []
    for case in CASES:
        frequencies, attention_factor = KINDS[case["kind"]](case)
        out.append({**case, "expected_frequencies": frequencies.tolist(),
                    "expected_attention_factor": attention_factor})
    path = pathlib.Path(__file__).resolve().parent.parent / "tests/data/model/rope.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(case) for case in out) + "\n]\n")


if __name__ == "__main__":
    main()
