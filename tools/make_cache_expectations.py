#!/usr/bin/env python3
"""Makes tests/data/kernels/cache_encode.bin: heads of numbers as each type of the key-value cache stores them.

Needs numpy and gguf (made with gguf 0.19.0 and numpy 2.4.6; the formats are frozen). float16 is NumPy's, bfloat16 and Q8_0 are the gguf
package's; int8 over a whole head is Q8_0's rule with another block; FP8 E4M3 is searched for in the table of its values.
The file is a sequence of records, little-endian:
  8 bytes    name of the type, padded with zeros
  12 bytes   numbers n, numbers that share a scale (0: no scales), bytes of an element (uint32 each)
  n float32  the numbers
  the elements, then the float16 scales, then n float32: the numbers that they stand for (NaN wherever there is a NaN)
"""

import argparse
import struct
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

SEED = 20240823
WIDTHS = [1, 16, 32, 64, 80, 96, 128]
E4M3_LARGEST = np.float32(448)


def e4m3_values():
    """The value of each code 0x00 .. 0x7E, by the definition: exponent 4 bits (bias 7), fraction 3 bits."""
    codes = np.arange(0x7F)
    exponent, fraction = codes >> 3, (codes & 7) / 8
    return np.where(exponent == 0, fraction * 2.0**-6, (1 + fraction) * 2.0 ** (exponent - 7))


def encode_e4m3(x):
    """The nearest code, of two equally near ones the even; beyond 448 the code of 448."""
    distance = np.abs(np.abs(x.astype(np.float64))[:, None] - e4m3_values())
    nearest = distance.min(axis=1, keepdims=True)
    candidates = np.where(distance == nearest, np.arange(0x7F) % 2, 2)  # even codes win
    return np.where(np.signbit(x), 0x80, 0).astype(np.uint8) | candidates.argmin(axis=1).astype(np.uint8)


def decode_e4m3(codes):
    return (np.where(codes & 0x80, -1.0, 1.0) * e4m3_values()[codes & 0x7F]).astype(np.float32)


def round_half_away(x):
    magnitude = np.abs(x.astype(np.float64))
    return np.copysign(np.floor(magnitude + 0.5), x).astype(np.int8)


def encode_scaled(x, largest, encode, decode):
    """One scale for all of x: EncodeArgs in src/kernels/table.h says the arithmetic, float32 at each step."""
    step = np.abs(x).max() / np.float32(largest) if np.isfinite(x).all() else np.float32(np.nan)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / step
        scale = np.float16(step)
    elements = encode(x * inverse) if np.isfinite(inverse) else encode(np.zeros_like(x))
    with np.errstate(all="ignore"):
        return elements.tobytes(), np.array([scale]), np.float32(scale) * decode(elements)


def encode_head(name, x):
    """(elements, scales, values) of a head."""
    none = np.zeros(0, np.float16)
    with np.errstate(all="ignore"):
        if name == "f16":
            halves = x.astype(np.float16)
            return halves.tobytes(), none, halves.astype(np.float32)
        if name == "bf16":
            rows = quantize(x.reshape(1, -1), GGMLQuantizationType.BF16)
            return rows.tobytes(), none, dequantize(rows, GGMLQuantizationType.BF16)
        if name == "q8_0":
            rows = quantize(x.reshape(1, -1), GGMLQuantizationType.Q8_0)
            blocks = rows.reshape(-1, 34)
            return blocks[:, 2:].tobytes(), blocks[:, :2].copy().view(np.float16), dequantize(rows, GGMLQuantizationType.Q8_0)
    if name == "int8":
        return encode_scaled(x, 127, round_half_away, lambda e: e.astype(np.float32))
    return encode_scaled(x, E4M3_LARGEST, encode_e4m3, decode_e4m3)


def has_inverse_step(x):
    with np.errstate(all="ignore"):
        return np.isfinite(np.float32(1) / (np.abs(x).max() / np.float32(127)))


def fill(head, width):
    """The numbers of `head` over and over, `width` in all."""
    return np.resize(np.array(head, np.float32), width)


def special_heads(name, width):
    """Zeros, subnormal numbers, extremes, and numbers that lie in the middle between two that can be stored."""
    heads = [[0.0, -0.0], [1e-40, -3e-42, 0.0], [1e-30, -2e-30, 5e-31]]
    if name in ("f16", "bf16"):
        halves = np.arange(1, 0x7BFF, 977, dtype=np.uint16).view(np.float16).astype(np.float32)
        following = np.arange(2, 0x7BFF + 1, 977, dtype=np.uint16).view(np.float16).astype(np.float32)
        heads += [(halves + following) / 2, -(halves + following) / 2]
        heads += [[1.00390625, 1.01171875, -1.00390625, 1.0 + 2.0**-8 + 2.0**-20]]  # ties of bfloat16
        heads += [[65504, 65519.996, 65520, -65520, 1e30, 3.4e38], [2.0**-24, 2.0**-25, 1.5 * 2.0**-24, 2.5 * 2.0**-24, 2.0**-14]]
        heads += [[np.inf, -np.inf, 1.0, np.nan]]
        return [fill(head, width) for head in heads]
    # The first number makes the step 1 (int8) or 1 (FP8), so that the others are rounded as they are.
    heads += [[127] + [k + 0.5 for k in range(-127, 127, 9)] + [0.49999997, -0.49999997, 126.49999]]
    values = e4m3_values()
    middles = (values[:-1] + values[1:]) / 2
    heads += [[448] + list(middles[start::4]) for start in range(4)] + [[-448] + list(-middles[start::4]) for start in range(4)]
    heads += [[448, np.nextafter(np.float32(448), np.float32(0)), 440, 432, 2.0**-9, 2.0**-10, 2.0**-11, 3 * 2.0**-10]]
    heads += [[1e30, -3e29, 1e28, 0.5], [60000 * 127.0, -1.0, 1e6], [1e-5, -3e-6, 1e-9]]
    if name != "q8_0":
        heads += [[np.nan, 1.0, -2.0], [np.inf, 1.0], [1.0, -np.inf, 0.0]]
    return [np.concatenate([np.array(head[:1], np.float32), fill(head, width)])[:width] for head in heads]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--out", type=Path, default=root / "tests/data/kernels/cache_encode.bin")
    out = parser.parse_args().out
    rng = np.random.default_rng(SEED)
    records = b""
    for name, block, element_bytes in [("f16", 0, 2), ("bf16", 0, 2), ("q8_0", 32, 1), ("int8", -1, 1), ("fp8", -1, 1)]:
        for width in WIDTHS:
            if block > 0 and width % block != 0:
                continue
            heads = [(rng.normal(0, 1, width) * 10.0 ** rng.integers(-6, 4)).astype(np.float32) for _ in range(4)]
            for x in heads + (special_heads(name, width) if width in (32, 80) else []):
                if name == "q8_0" and x.any() and not has_inverse_step(x):
                    continue  # the gguf package has no defined answer
                elements, scales, values = encode_head(name, x)
                values = np.where(np.isnan(values), np.float32(np.nan), values).astype(np.float32)
                records += struct.pack("<8sIII", name.encode(), width, width if block < 0 else block, element_bytes)
                records += x.tobytes() + elements + scales.astype(np.float16).tobytes() + values.tobytes()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(records)
    print(f"{out}: {len(records)} bytes")


if __name__ == "__main__":
    main()
