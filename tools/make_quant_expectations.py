#!/usr/bin/env python3
"""Makes tests/data/tensor/quant_blocks.bin: random rows of every type that the engine reads, and their values as float32.

Needs numpy and gguf (made with gguf 0.19.0 and numpy 2.4.6; the formats are frozen).
The file is a sequence of records, little-endian:
  8 bytes   name of the type, padded with zeros
  4 bytes   number of elements, uint32
  the blocks, exactly as a file has them
  the elements, float32, as gguf.quants.dequantize gives them (plain numbers: as NumPy converts them)
"""

import argparse
import struct
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

SEED = 20240611
# Byte offsets of the float16 scales in a block; they are set to finite values, all other bytes are random.
SCALES_AT = {
    "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "IQ4_NL": [0], "MXFP4": [],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_XS": [0],
}
# Zeros of both signs, the smallest and the largest subnormal, the smallest normal, one, the largest finite.
SPECIAL_SCALES = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF]
# Of MXFP4: both subnormal scales, the smallest normal one, the largest with which 12 times the scale is finite.
SPECIAL_EXPONENTS = [0, 1, 2, 3, 100, 252]

SMALL = [0.0, -0.0, 1e-40, -1e-40]
FLOATS = {"F32": np.float32, "F16": np.float16, "F64": np.float64}
INTEGERS = {"I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64,
            "U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64}


def random_scales(rng, count):
    scales = np.concatenate([np.array(SPECIAL_SCALES, np.uint16),
                             rng.normal(0, 0.02, max(count, 16)).astype(np.float16).view(np.uint16)])
    return rng.permutation(scales)[:count]


def make_blocks(rng, name):
    """Blocks [n_blocks, block_bytes] of a quantised type."""
    block_elements, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    n_blocks = 16 if block_elements == 32 else 6
    blocks = rng.integers(0, 256, (n_blocks, block_bytes), dtype=np.uint8)
    for at in SCALES_AT[name]:
        blocks[:, at:at + 2] = random_scales(rng, n_blocks).view(np.uint8).reshape(n_blocks, 2)
    if name == "MXFP4":
        blocks[:, 0] = rng.integers(110, 135, n_blocks)
        blocks[:len(SPECIAL_EXPONENTS), 0] = SPECIAL_EXPONENTS
    return blocks


def quantised(rng, name):
    blocks = make_blocks(rng, name)
    values = np.ascontiguousarray(dequantize(blocks.reshape(1, -1), GGMLQuantizationType[name]), np.float32).ravel()
    assert np.isfinite(values).all()
    return blocks.tobytes(), values


def ties(bits):
    """Integers of so many bits around the places where float32 rounds: halfway between neighbours, and next to that."""
    return [sign * (mantissa * (1 << shift) + half + step)
            for shift in range(1, bits - 23) for mantissa in (0x800001, 0xFFFFFF) for half in [1 << (shift - 1)]
            for step in (-1, 0, 1) for sign in (1, -1)]


def plain_numbers(rng, name):
    if name in FLOATS:
        stored = np.concatenate([SMALL, rng.normal(0, 1, 124)]).astype(FLOATS[name])
    if name == "F16":
        stored = random_scales(rng, 128).view(np.float16)
    if name == "F64":  # halfway cases, what float32 has no room for, what is subnormal there
        stored = np.concatenate([stored, [1 + 2.0**-24, 1 + 3 * 2.0**-24, 1e300, -1e300, 2.0**-149, 2.0**-150, 3e-42]])
    if name in INTEGERS:
        info = np.iinfo(INTEGERS[name])
        numbers = [info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max, *ties(info.bits - 1)]
        numbers = [number for number in numbers if info.min <= number <= info.max]
        stored = np.concatenate([np.array(numbers, info.dtype), rng.integers(info.min, info.max, 16, info.dtype)])
    if name == "BOOL":
        stored = np.array([True, False, False, True])
    return stored.tobytes(), stored.astype(np.float32)


def bfloat16(rng):
    stored = np.concatenate([SMALL, rng.normal(0, 1, 124)]).astype(np.float32).view(np.uint16)[1::2].copy()
    return stored.tobytes(), dequantize(stored.view(np.uint8).reshape(1, -1), GGMLQuantizationType.BF16).ravel()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--out", type=Path, default=root / "tests/data/tensor/quant_blocks.bin")
    out = parser.parse_args().out
    rng = np.random.default_rng(SEED)
    with np.errstate(all="ignore"):
        rows = {name: quantised(rng, name) for name in SCALES_AT}
        rows |= {name: plain_numbers(rng, name) for name in [*FLOATS, *INTEGERS, "BOOL"]}
        rows["BF16"] = bfloat16(rng)
    records = b"".join(struct.pack("<8sI", name.encode(), values.size) + stored + values.tobytes()
                       for name, (stored, values) in rows.items())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(records)
    print(f"{out}: {len(records)} bytes, {len(rows)} types")


if __name__ == "__main__":
    main()
