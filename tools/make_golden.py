#!/usr/bin/env python3
"""Trims the shared goldens to what the repository carries: tools/make_golden.py --shared ../shared

Writes tests/golden/ anew, byte for byte the same each time:

    NAME/           tiny checkpoints with what transformers says about them; weights as bfloat16, which loses nothing
                    here (every value is representable; asserted)
    gguf/NAME.patch the same weights as llama.cpp's converter writes them, as a patch of NAME/model.safetensors (golden_twin.py)
    real/NAME/      expected ids, likely next tokens and greedy text of the two real models
    sampling.json   probabilities after each sampling rule
    plan/NAME/      configurations of real models with their exact parameter counts
    MANIFEST.json   source, size and SHA-256 of every file

The full goldens come from transformers in float32 (versions in MANIFEST.json); they are never made from our own output.
What quotes text of others (the WikiText passage and loss of real/) stays in the shared folder, and so do the attention maps
that the longest input of a golden has between the first and the last layer: a tenth of all bytes.
--check compares instead of writing and exits 1 on a difference.
"""
import argparse
import hashlib
import json
import shutil
import struct
import sys
import tempfile
from pathlib import Path

import golden_twin
import numpy as np

MODELS = ("gpt2", "gpt2-scaled", "gpt-neox", "gpt-neox-serial", "llama-mha", "llama-gqa", "llama-mqa",
          "llama-rope-linear", "llama-rope-dynamic", "llama-rope-yarn", "llama-rope-llama3", "mistral-sliding", "qwen3",
          "gemma3", "phi3", "bloom", "cohere", "falcon-alibi", "falcon-gqa", "falcon-mqa", "gemma", "gemma2", "glm", "glm4",
          "gpt-neo-alternating", "gpt1", "gptj", "granite", "mpt", "olmo2", "opt", "opt-postnorm", "phi2", "phi3-longrope",
          "qwen2", "qwen2-sliding", "smollm3", "stablelm", "starcoder2")
REAL = ("smollm2-135m-instruct-q4_1", "gemma3-270m-q4_k_m")
COPIED = ("config.json", "generation_config.json", "expected.json", "rope.safetensors")
MAX_OWN_PROMPT = 128  # tokens; the longer prompts of real/ are passages of WikiText
HEADER_ALIGNMENT = 8


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Name -> array, in file order; float32 only, which is all the goldens hold."""
    data = path.read_bytes()
    n_header, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + n_header])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert entry["dtype"] == "F32", (path, name, entry["dtype"])
        begin, end = (8 + n_header + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return tensors


def to_bf16(name: str, values: np.ndarray) -> np.ndarray:
    """The upper halves; the lower ones must be zero."""
    bits = values.view("<u4")
    assert not (bits & 0xFFFF).any(), f"{name} is not representable in bfloat16"
    return (bits >> 16).astype("<u2")


def write_safetensors(path: Path, dtype: str, tensors: dict[str, np.ndarray]) -> None:
    header, offset, blobs = {"__metadata__": {"format": "pt"}}, 0, []
    for name, values in tensors.items():
        blob = (to_bf16(name, values) if dtype == "BF16" else values).tobytes()
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % HEADER_ALIGNMENT)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def trim_maps(expected: dict, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Without the maps attn.INPUT.LAYER of the longest input but those of the first and the last layer."""
    lengths = [len(ids) for ids in expected["inputs"]]
    maps = [f"attn.{lengths.index(max(lengths))}.{layer}" for layer in range(len(tensors))]
    maps = [name for name in maps if name in tensors]
    return {name: values for name, values in tensors.items() if name not in maps[1:-1]}


def trim_real(expected: dict) -> dict:
    """Without the passage of WikiText, the loss over it and the model's chat template."""
    kept = {key: value for key, value in expected.items() if key not in ("chat_template", "nll")}
    kept["rows"] = [row for row in expected["rows"] if len(row["ids"]) <= MAX_OWN_PROMPT]
    return kept


def write_json(path: Path, value) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


class Trimmer:
    """Writes one golden folder and remembers where each file came from."""

    def __init__(self, goldens: Path, out: Path):
        self.goldens, self.out = goldens, out
        self.sources: dict[str, str] = {}
        self.versions: dict[str, str] = {}

    def _target(self, source: str, target: str) -> tuple[Path, Path]:
        self.sources[target] = source
        path = self.out / target
        path.parent.mkdir(parents=True, exist_ok=True)
        return self.goldens / source, path

    def copy(self, source: str, target: str) -> None:
        shutil.copyfile(*self._target(source, target))

    def model(self, name: str) -> None:
        for file in COPIED:
            if (self.goldens / "models" / name / file).exists():
                self.copy(f"models/{name}/{file}", f"{name}/{file}")
        source, target = self._target(f"models/{name}/model.safetensors", f"{name}/model.safetensors")
        write_safetensors(target, "BF16", read_safetensors(source))
        expected = json.loads((self.goldens / "models" / name / "expected.json").read_text())
        self.versions.update(transformers=expected["transformers"], torch=expected["torch"])
        source, target = self._target(f"models/{name}/expected.safetensors", f"{name}/expected.safetensors")
        write_safetensors(target, "F32", trim_maps(expected, read_safetensors(source)))

    def twin(self, name: str) -> None:
        if not (self.goldens / "gguf" / f"{name}.gguf").exists():
            return
        source, target = self._target(f"gguf/{name}.gguf", f"gguf/{name}.patch")
        weights, twin = (self.out / name / "model.safetensors").read_bytes(), source.read_bytes()
        patch = golden_twin.make_patch(weights, twin)
        assert golden_twin.apply_patch(patch, weights) == twin, name
        target.write_bytes(patch)

    def real(self, name: str) -> None:
        source, target = self._target(f"real/{name}/expected.json", f"real/{name}/expected.json")
        write_json(target, trim_real(json.loads(source.read_text())))

    def plans(self) -> None:
        for folder in sorted((self.goldens / "plan").iterdir()):
            for file in ("config.json", "expected.json"):
                self.copy(f"plan/{folder.name}/{file}", f"plan/{folder.name}/{file}")

    def manifest(self) -> None:
        files = {}
        for target, source in sorted(self.sources.items()):
            data = (self.out / target).read_bytes()
            files[target] = {"source": source, "source_sha256": sha256(self.goldens / source),
                             "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        value = {"generator": "tools/make_golden.py", "versions": self.versions, "files": files}
        (self.out / "MANIFEST.json").write_text(json.dumps(value, indent=1) + "\n")

    def run(self) -> None:
        for name in MODELS:
            self.model(name)
            self.twin(name)
        for name in REAL:
            self.real(name)
        self.copy("sampling/sampling.json", "sampling.json")
        self.plans()
        self.manifest()


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_manifest(golden: Path) -> list[str]:
    """Differences between the folder and its own manifest; twins must be what the converter wrote, to the bit."""
    files = json.loads((golden / "MANIFEST.json").read_text())["files"]
    present = {str(path.relative_to(golden)) for path in golden.rglob("*") if path.is_file()} - {"MANIFEST.json"}
    problems = [f"{name}: not in MANIFEST.json" for name in sorted(present - set(files))]
    problems += [f"{name}: missing" for name in sorted(set(files) - present)]
    problems += [f"{name}: bytes changed" for name in sorted(present & set(files))
                 if sha256(golden / name) != files[name]["sha256"]]
    for name in golden_twin.twin_names(golden) if not problems else ():
        if hashlib.sha256(golden_twin.read_twin(name, golden)).hexdigest() != files[f"gguf/{name}.patch"]["source_sha256"]:
            problems.append(f"gguf/{name}.patch: does not give the original")
    return problems


def check(golden: Path, goldens: Path) -> int:
    """The committed files are those of the manifest and, where the full goldens are, what would be written today."""
    problems = check_manifest(golden)
    if goldens.is_dir():
        with tempfile.TemporaryDirectory() as folder:
            Trimmer(goldens, Path(folder)).run()
            if (Path(folder) / "MANIFEST.json").read_bytes() != (golden / "MANIFEST.json").read_bytes():
                problems.append("MANIFEST.json: not what this script writes from the shared goldens now")
    for problem in problems:
        print(f"tests/golden/{problem}", file=sys.stderr)
    return 1 if problems else 0


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=root / ".." / "shared", help="folder with goldens/ (default: ../shared)")
    parser.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    args = parser.parse_args()
    golden = root / "tests" / "golden"
    if args.check:
        return check(golden, args.shared / "goldens")
    shutil.rmtree(golden, ignore_errors=True)
    Trimmer(args.shared / "goldens", golden).run()
    n_bytes = sum(path.stat().st_size for path in golden.rglob("*") if path.is_file())
    print(f"{golden}: {n_bytes / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
