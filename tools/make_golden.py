#!/usr/bin/env python3
"""Trims the shared goldens to what the repository carries: tools/make_golden.py --shared ../shared

Writes tests/golden/ anew, byte for byte the same each time:

    NAME/           tiny checkpoints with what transformers says about them; weights as bfloat16, which loses nothing
                    here (every value is representable; asserted)
    gguf/NAME.gguf  the same weights as llama.cpp's converter writes them
    real/NAME/      expected ids, likely next tokens and greedy text of the two real models
    sampling.json   probabilities after each sampling rule
    plan/NAME/      configurations of real models with their exact parameter counts
    MANIFEST.json   source, size and SHA-256 of every file

The full goldens come from transformers in float32 (versions in MANIFEST.json); they are never made from our own output.
What quotes text of others (the WikiText passage and loss of real/) stays in the shared folder.
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

import numpy as np

MODELS = ("gpt2", "gpt2-scaled", "gpt-neox", "gpt-neox-serial", "llama-mha", "llama-gqa", "llama-mqa",
          "llama-rope-linear", "llama-rope-dynamic", "llama-rope-yarn", "llama-rope-llama3", "mistral-sliding", "qwen3",
          "gemma3", "phi3")
REAL = ("smollm2-135m-instruct-q4_1", "gemma3-270m-q4_k_m")
PLAN_TYPES = {"gpt2", "gpt_neox", "llama", "qwen3", "gemma3_text", "phi3"}
COPIED = ("config.json", "generation_config.json", "expected.json", "expected.safetensors", "rope.safetensors")
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


def write_safetensors_bf16(path: Path, tensors: dict[str, np.ndarray]) -> None:
    header, offset, blobs = {"__metadata__": {"format": "pt"}}, 0, []
    for name, values in tensors.items():
        blob = to_bf16(name, values).tobytes()
        header[name] = {"dtype": "BF16", "shape": list(values.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % HEADER_ALIGNMENT)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


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
        write_safetensors_bf16(target, read_safetensors(source))
        expected = json.loads((self.goldens / "models" / name / "expected.json").read_text())
        self.versions.update(transformers=expected["transformers"], torch=expected["torch"])

    def twin(self, name: str) -> None:
        if (self.goldens / "gguf" / f"{name}.gguf").exists():
            self.copy(f"gguf/{name}.gguf", f"gguf/{name}.gguf")

    def real(self, name: str) -> None:
        source, target = self._target(f"real/{name}/expected.json", f"real/{name}/expected.json")
        write_json(target, trim_real(json.loads(source.read_text())))

    def plan(self, folder: Path) -> None:
        if json.loads((folder / "config.json").read_text())["model_type"] in PLAN_TYPES:
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
        for folder in sorted((self.goldens / "plan").iterdir()):
            self.plan(folder)
        self.manifest()


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_manifest(golden: Path) -> list[str]:
    """Differences between the folder and its own manifest."""
    files = json.loads((golden / "MANIFEST.json").read_text())["files"]
    present = {str(path.relative_to(golden)) for path in golden.rglob("*") if path.is_file()} - {"MANIFEST.json"}
    problems = [f"{name}: not in MANIFEST.json" for name in sorted(present - set(files))]
    problems += [f"{name}: missing" for name in sorted(set(files) - present)]
    problems += [f"{name}: bytes changed" for name in sorted(present & set(files))
                 if sha256(golden / name) != files[name]["sha256"]]
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
