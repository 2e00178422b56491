#!/usr/bin/env python3
"""The GGUF twins of the goldens, kept as what they do not share with the safetensors files.

    tools/golden_twin.py FOLDER [NAME...]    writes FOLDER/NAME.gguf for all twins of tests/golden, or for these

A twin holds the same bfloat16 rows as tests/golden/NAME/model.safetensors in another order, so tests/golden/gguf/NAME.patch
keeps only which bytes to copy from there, and the rest: names, metadata, float32 vectors, transposed matrices. Little-endian:

    8 bytes  "VITROTWN"
    u32      size of the result, at most MAX_RESULT
    u32      CRC-32 of the result (as in zlib)
    pieces until the result is complete, each:
      u32 n_literal, u32 offset, u32 n_copied    then n_literal bytes
      appends the literal bytes, then source[offset : offset + n_copied]

A piece adds at least one byte, reads nothing outside patch and source, and nothing follows the last one. The reader of the C++
tests is tests/testing/golden_twin.cc.
"""
import argparse
import struct
import sys
import zlib
from pathlib import Path

MAGIC = b"VITROTWN"
HEAD = struct.Struct("<8sII")
PIECE = struct.Struct("<III")
MAX_RESULT = 64 << 20
# Matches are looked for by chunks of the source: 16 values, a quarter of the narrowest row of a golden.
CHUNK = 32
GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"


def common_length(a: bytes, at: int, b: bytes, bt: int) -> int:
    """How many bytes of a[at:] and b[bt:] agree."""
    limit = min(len(a) - at, len(b) - bt)
    length, step = 0, 1 << 16
    while step:
        while length + step <= limit and a[at + length:at + length + step] == b[bt + length:bt + length + step]:
            length += step
        step >>= 1
    return length


def matches(source: bytes, result: bytes):
    """(place in result, offset in source, length) of copies in order, greedily: the first chunk found is followed as far as it goes."""
    chunks = {source[offset:offset + CHUNK]: offset for offset in range(len(source) - CHUNK, -1, -CHUNK)}
    at, done = 0, 0
    while at + CHUNK <= len(result):
        offset = chunks.get(result[at:at + CHUNK])
        if offset is None:
            at += 2  # values are bfloat16
            continue
        while at > done and offset > 0 and result[at - 1] == source[offset - 1]:
            at, offset = at - 1, offset - 1
        length = common_length(result, at, source, offset)
        length -= (at + length) % 2  # half a value that agrees by chance would hide the matches behind it
        yield at, offset, length
        at = done = at + length


def make_patch(source: bytes, result: bytes) -> bytes:
    """The patch that turns `source` into `result`."""
    out, done = [HEAD.pack(MAGIC, len(result), zlib.crc32(result))], 0
    for at, offset, length in [*matches(source, result), (len(result), 0, 0)]:
        if at > done or length:
            out.append(PIECE.pack(at - done, offset, length) + result[done:at])
        done = at + length
    return b"".join(out)


def apply_patch(patch: bytes, source: bytes) -> bytes:
    """What the patch makes of `source`; ValueError where it breaks a rule of the format."""
    if len(patch) < HEAD.size or not patch.startswith(MAGIC):
        raise ValueError("not a patch of a golden twin")
    _, size, crc = HEAD.unpack_from(patch)
    if size > MAX_RESULT:
        raise ValueError(f"the result would have {size} bytes, at most {MAX_RESULT}")
    result, at = bytearray(), HEAD.size
    while len(result) < size:
        if len(patch) - at < PIECE.size:
            raise ValueError("the patch ends early")
        n_literal, offset, n_copied = PIECE.unpack_from(patch, at)
        at += PIECE.size
        if not 0 < n_literal + n_copied <= size - len(result) or n_literal > len(patch) - at or offset + n_copied > len(source):
            raise ValueError(f"the piece at byte {at - PIECE.size} reaches beyond its files")
        result += patch[at:at + n_literal] + source[offset:offset + n_copied]
        at += n_literal
    if at != len(patch) or zlib.crc32(result) != crc:
        raise ValueError("the patch does not belong to this source, or bytes follow it")
    return bytes(result)


def twin_names(golden: Path = GOLDEN) -> list[str]:
    return sorted(path.stem for path in (golden / "gguf").glob("*.patch"))


def read_twin(name: str, golden: Path = GOLDEN) -> bytes:
    """The bytes of one twin's .gguf file."""
    return apply_patch((golden / "gguf" / f"{name}.patch").read_bytes(), (golden / name / "model.safetensors").read_bytes())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the .gguf files go; made if need be")
    parser.add_argument("names", nargs="*", metavar="NAME", help="goldens (default: all that have a twin)")
    args = parser.parse_args()
    known = twin_names()
    if unknown := sorted(set(args.names) - set(known)):
        print(f"no twin of {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.names or known:
        (args.folder / f"{name}.gguf").write_bytes(read_twin(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
