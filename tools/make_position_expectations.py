#!/usr/bin/env python3
"""Writes tests/data/model/alibi.json and sinusoid.json: slopes of ALiBi and sinusoidal positions in NumPy float64.

From the paper and from the formulas of the code that BLOOM, MPT and Falcon were published with: independent statements of
what src/model/alibi.cc and src/model/sinusoid.cc compute; run it only to add cases:
    python3 tools/make_position_expectations.py
"""
import json
import math
import pathlib

import numpy as np


def slopes_of_bloom(n_head):
    """Two geometric series: one for the next lower power of two, of which every second one fills up the rest."""
    low = 2 ** math.floor(math.log2(n_head))
    base = 2.0 ** -(2.0 ** -(math.log2(low) - 3))
    slopes = base ** np.arange(1, 1 + low, dtype=np.float64)
    extra_base = 2.0 ** -(2.0 ** -(math.log2(2 * low) - 3))
    extra = extra_base ** np.arange(1, 1 + 2 * min(low, n_head - low), 2, dtype=np.float64)
    return np.concatenate([slopes, extra])


def slopes_of_mpt(n_head, max_bias):
    """One series for the next higher power of two, its odd members first, then the even ones, cut to n_head."""
    high = 2 ** math.ceil(math.log2(n_head))
    slopes = 1.0 / 2.0 ** (np.arange(1, high + 1, dtype=np.float64) * (max_bias / high))
    return slopes if high == n_head else np.concatenate([slopes[1::2], slopes[::2]])[:n_head]


def bf16(x):
    """Rounded to bfloat16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32)


def float32_list(x):
    """The shortest decimals that give these float32 back."""
    return [float(str(np.float32(value))) for value in np.ravel(x)]


def alibi():
    slopes = []
    for n_head in range(1, 71):
        assert np.allclose(slopes_of_bloom(n_head), slopes_of_mpt(n_head, 8), rtol=1e-14)
        slopes += [{"n_head": n_head, "max_bias": b, "slopes": float32_list(slopes_of_mpt(n_head, b))} for b in (8, 16)]
    # Falcon multiplies slopes and positions as bfloat16.
    positions = np.array([0, 1, 2, 3, 17, 255, 256, 257, 259, 1000, 2047])
    rounded = bf16(bf16(slopes_of_bloom(12))[:, None] * bf16(positions))
    return {"slopes": slopes, "bf16": {"n_head": 12, "positions": positions.tolist(),
                                       "bias": [float32_list(row) for row in rounded]}}


def sinusoid():
    """Vaswani et al. 2017, section 3.5: sin and cos of pos / 10000^(2i / d)."""
    cases = []
    for d_model in (2, 8, 64):
        for pos in (0, 1, 2, 17, 511, 1023, 100000):
            angle = pos / 10000.0 ** (np.arange(0, d_model, 2, dtype=np.float64) / d_model)
            cases.append({"d_model": d_model, "pos": pos, "sin": np.sin(angle).tolist(), "cos": np.cos(angle).tolist()})
    return cases


def write(name, text):
    path = pathlib.Path(__file__).resolve().parent.parent / "tests/data/model" / name
    path.write_text(text + "\n")


def main():
    data = alibi()
    lines = ",\n".join(json.dumps(case) for case in data["slopes"])
    write("alibi.json", f'{{"slopes": [\n{lines}\n],\n"bf16": {json.dumps(data["bf16"])}}}')
    write("sinusoid.json", "[\n" + ",\n".join(json.dumps(case) for case in sinusoid()) + "\n]")


if __name__ == "__main__":
    main()
