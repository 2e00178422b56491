#!/usr/bin/env python3
"""What the reference readers find in real files, as one hash a file: make_format_expectations.py SHARED CACHE > tests/data/formats/tables.json

Needs the packages gguf, safetensors and numpy. The listing that is hashed (64-bit FNV-1a) has a line for each metadata key of a GGUF file
in the order of the file, then a line for each tensor by name: "name dtype [shape, outermost first] begin end". Offsets of safetensors,
which the library does not tell, come from the header by Python's json; names, types and shapes are compared with the library.
"""
import json
import pathlib
import struct
import sys

import gguf
import safetensors

CACHED = ["smollm2-135m-instruct-q4_1.gguf", "gemma3-270m-q4_k_m.gguf"]
ARRAY = gguf.GGUFValueType.ARRAY
STRING = gguf.GGUFValueType.STRING


def fnv(data, state=0xCBF29CE484222325):
    for byte in data:
        state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return state


def line(name, dtype, shape, begin, end):
    return f"{name} {dtype} [{', '.join(str(int(n)) for n in shape)}] {int(begin)} {int(end)}\n"


def metadata_line(field):
    """Scalars by value (reals by their bits as double), strings and arrays by length and hash of their bytes."""
    kind = field.types[0]
    values = [field.parts[i] for i in field.data]
    if kind == ARRAY:
        joined = b"".join(bytes(value.tobytes()) for value in values)
        return f"{field.name} array {field.types[-1].value} {len(values)} {fnv(joined):016x}\n"
    if kind == STRING:
        return f"{field.name} string {fnv(values[0].tobytes()):016x}\n"
    value = values[0][0]
    if kind in (gguf.GGUFValueType.FLOAT32, gguf.GGUFValueType.FLOAT64):
        return f"{field.name} real {struct.pack('>d', float(value)).hex()}\n"
    return f"{field.name} integer {int(value)}\n"


def list_gguf(path):
    reader = gguf.GGUFReader(path)
    text = "".join(metadata_line(field) for field in reader.fields.values() if not field.name.startswith("GGUF."))
    for tensor in sorted(reader.tensors, key=lambda tensor: tensor.name.encode()):
        text += line(tensor.name, tensor.tensor_type.name, tensor.shape[::-1], tensor.data_offset, tensor.data_offset + tensor.n_bytes)
    return text, len(reader.tensors)


def list_safetensors(path):
    data = path.read_bytes()
    n_header = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + n_header])
    header.pop("__metadata__", None)
    text = ""
    with safetensors.safe_open(path, framework="numpy") as library:
        assert sorted(library.keys()) == sorted(header)
        for name, entry in sorted(header.items(), key=lambda item: item[0].encode()):
            assert library.get_slice(name).get_shape() == entry["shape"] and library.get_slice(name).get_dtype() == entry["dtype"]
            begin, end = (8 + n_header + offset for offset in entry["data_offsets"])
            text += line(name, entry["dtype"], entry["shape"], begin, end)
    return text, len(header)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    shared, cache = map(pathlib.Path, sys.argv[1:])
    paths = sorted(shared.glob("goldens/gguf/*.gguf")) + sorted(shared.glob("goldens/models/*/model.safetensors"))
    paths += sorted(shared.glob("data/safetensors-samples/*.safetensors"))
    named = [(str(path.relative_to(shared)), path) for path in paths] + [(f"cache/{name}", cache / name) for name in CACHED]
    rows = []
    for name, path in named:
        text, n_tensors = (list_gguf if path.suffix == ".gguf" else list_safetensors)(path)
        rows.append(f"  {json.dumps(name)}: [{n_tensors}, \"{fnv(text.encode()):016x}\"]")
    print("{\n" + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main()
