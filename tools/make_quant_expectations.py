#!/usr/bin/env python3
"""Makes tests/data/tensor/quant_blocks.bin: random weight blocks of every panel type and their values by the gguf package.

Needs numpy and gguf (made with gguf 0.19.0 and numpy 2.4.6; the formats are frozen).
The file is a sequence of records, little-endian:
  8 bytes   GGUF type number, number of elements (uint32 each)
  the blocks, exactly as a GGUF file has them
  the elements, float32, as gguf.quants.dequantize gives them
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
    GGMLQuantizationType.F32: [],
    GGMLQuantizationType.F16: [0],
    GGMLQuantizationType.BF16: [],
    GGMLQuantizationType.Q8_0: [0],
    GGMLQuantizationType.Q4_1: [0, 2],
    GGMLQuantizationType.Q5_0: [0],
    GGMLQuantizationType.Q4_K: [0, 2],
    GGMLQuantizationType.Q6_K: [208],
}
# Zeros of both signs, the smallest and the largest subnormal, the smallest normal, one, the largest finite.
SPECIAL_SCALES = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF]


def random_scales(rng, count):
    scales = np.concatenate([np.array(SPECIAL_SCALES, np.uint16),
                             rng.normal(0, 0.02, max(count, 16)).astype(np.float16).view(np.uint16)])
    return rng.permutation(scales)[:count]


def make_blocks(rng, qtype, n_blocks):
    block_bytes = GGML_QUANT_SIZES[qtype][1]
    blocks = rng.integers(0, 256, (n_blocks, block_bytes), dtype=np.uint8)
    for at in SCALES_AT[qtype]:
        blocks[:, at:at + 2] = random_scales(rng, n_blocks).view(np.uint8).reshape(n_blocks, 2)
    if qtype in (GGMLQuantizationType.F32, GGMLQuantizationType.BF16):
        values = rng.normal(0, 1, n_blocks).astype(np.float32)
        values[:4] = [0.0, -0.0, 1e-40, -1e-40]
        blocks = values.view(np.uint8).reshape(n_blocks, 4)[:, 4 - block_bytes:]
    return np.ascontiguousarray(blocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--out", type=Path, default=root / "tests/data/tensor/quant_blocks.bin")
    out = parser.parse_args().out
    rng = np.random.default_rng(SEED)
    records = b""
    for qtype in SCALES_AT:
        block_elements = GGML_QUANT_SIZES[qtype][0]
        n_blocks = max(12, 1024 // block_elements)
        blocks = make_blocks(rng, qtype, n_blocks)
        with np.errstate(all="ignore"):
            values = np.ascontiguousarray(dequantize(blocks.reshape(1, -1), qtype), np.float32).ravel()
        assert np.isfinite(values).all() and values.size == n_blocks * block_elements
        records += struct.pack("<II", qtype.value, values.size) + blocks.tobytes() + values.tobytes()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(records)
    print(f"{out}: {len(records)} bytes")


if __name__ == "__main__":
    main()
