#!/usr/bin/env python3
"""Holds `vitro pull` and `vitro models` against huggingface_hub, over a server on this machine (tests/testing/hub_server.py).

    tools/check_hub.py build/release/vitro [--kills 200]

Each reads the cache that the other wrote; what either removes the other no longer sees; and a puller that is killed (-9) at any moment
leaves a cache in which both find whole files or none. One line a check; exit 1 if one failed.
"""
import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"  # of all repositories of the server
REPO = "owner/toy"
GOLDEN = ROOT / "tests" / "golden" / "llama-gqa"


class Failed(Exception):
    """A check that did not hold."""


def expect(is_true: bool, what: str) -> None:
    if not is_true:
        raise Failed(what)


@contextmanager
def hub_server(folder: Path):
    """The server's address as other programs see it, for a folder of repositories."""
    server = subprocess.Popen([sys.executable, ROOT / "tests" / "testing" / "hub_server.py", folder],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().split()[0]}"
    finally:
        server.stdin.close()
        server.wait()


def make_repositories(folder: Path) -> None:
    """A model that runs, with a file in a folder, and one that is only a large file."""
    repo = folder / REPO
    (repo / "additional_chat_templates").mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (repo / name).write_bytes((GOLDEN / name).read_bytes())
    (repo / "README.md").write_text("---\nlicense: mit\n---\n# A toy\n")
    (repo / "additional_chat_templates" / "x.jinja").write_text("x")
    (repo / "pytorch_model.bin").write_bytes(b"not wanted")
    (folder / "owner" / "large").mkdir()
    (folder / "owner" / "large" / "model-Q4_1.gguf").write_bytes(random.Random(1).randbytes(3_000_000))


class Caches:
    """An empty cache, and both programs working in it."""

    def __init__(self, vitro: Path, folder: Path, endpoint: str):
        self.vitro_path = vitro
        self.hub = folder / "hub"
        self.environment = {**os.environ, "HF_HOME": str(folder), "VITRO_CACHE": str(folder / "vitro"), "HF_ENDPOINT": endpoint,
                            "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE", "XDG_CACHE_HOME",
                     "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            self.environment.pop(name, None)

    def vitro(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.vitro_path, *arguments], env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def pull(self, name: str) -> dict:
        done = self.vitro("pull", "--json", name)
        expect(done.returncode == 0, f"pull {name}: {done.stderr}")
        return json.loads(done.stdout)

    def models(self) -> dict[str, dict]:
        return {model["name"]: model for model in json.loads(self.vitro("models", "--json").stdout)["models"]}

    def hugging_face(self, statements: str, **environment: str) -> str:
        """What huggingface_hub prints; it reads the environment once, so each time in a process of its own."""
        code = "from huggingface_hub import *\nimport os\n" + statements
        done = subprocess.run([sys.executable, "-c", code], env={**self.environment, **environment}, capture_output=True, text=True,
                              timeout=120, check=False)
        expect(done.returncode == 0, f"huggingface_hub: {done.stderr[-2000:]}")
        return done.stdout.strip()

    def warnings(self) -> str:
        return self.hugging_face("print([str(w) for w in scan_cache_dir().warnings])")


def check_they_read_ours(caches: Caches) -> None:
    pulled = caches.pull(REPO)
    expect(pulled["is_new"], "nothing was fetched")
    found = caches.hugging_face(f"print(try_to_load_from_cache({REPO!r}, 'model.safetensors'))")
    expect(found == f"{pulled['path']}/model.safetensors", f"try_to_load_from_cache: {found}")
    for name in ("config.json", "additional_chat_templates/x.jinja", "README.md"):
        path = caches.hugging_face(f"print(hf_hub_download({REPO!r}, {name!r}, local_files_only=True))", HF_HUB_OFFLINE="1")
        expect(path == f"{pulled['path']}/{name}", f"hf_hub_download({name}): {path}")
    folder = caches.hugging_face(f"print(snapshot_download({REPO!r}, local_files_only=True))", HF_HUB_OFFLINE="1")
    expect(folder == pulled["path"], f"snapshot_download: {folder}")
    scanned = caches.hugging_face("info = scan_cache_dir()\nrepo, = info.repos\nrevision, = repo.revisions\n"
                                  "print(repo.repo_id, revision.commit_hash, *revision.refs, repo.size_on_disk)")
    size = sum(path.stat().st_size for path in Path(pulled["path"]).rglob("*") if path.is_file())
    expect(scanned == f"{REPO} {COMMIT} main {size}", f"scan_cache_dir: {scanned}, expected {size} bytes")
    expect(caches.models()[REPO]["bytes"] == size, "our size differs from theirs")
    expect(caches.warnings() == "[]", caches.warnings())
    expect(not (Path(pulled["path"]) / "pytorch_model.bin").exists(), "more than needed was fetched")
    again = caches.hugging_face(f"print(hf_hub_download({REPO!r}, 'model.safetensors'))")  # asks the server; the blob is there
    expect(again == f"{pulled['path']}/model.safetensors", f"online: {again}")


def check_we_read_theirs(caches: Caches) -> None:
    for name in ("config.json", "README.md", "model.safetensors"):
        path = caches.hugging_face(f"print(hf_hub_download({REPO!r}, {name!r}))")
    model = caches.models()[REPO]
    expect(model["path"] == str(Path(path).parent) and model["problem"] == "", f"listed as {model}")
    expect((model["type"], model["license"], model["commit"]) == ("safetensors BF16", "mit", COMMIT), f"listed as {model}")
    ran = caches.vitro("run", REPO, "--ids", "1,2,3", "--max-tokens", "2", HF_HUB_OFFLINE="1")
    expect(ran.returncode == 0, f"run: {ran.stderr}")
    blobs = sorted((path.name, path.stat().st_mtime_ns) for path in (caches.hub / "models--owner--toy" / "blobs").iterdir())
    pulled = caches.pull(REPO)  # brings the template that they were not asked for, and leaves the rest as it is
    expect(pulled["path"] == model["path"], f"pull: {pulled}")
    after = sorted((path.name, path.stat().st_mtime_ns) for path in (caches.hub / "models--owner--toy" / "blobs").iterdir())
    expect(set(blobs) <= set(after), "a blob of theirs was written again")
    expect(not caches.pull(REPO)["is_new"], "fetched again")


def check_removing(caches: Caches) -> None:
    caches.pull(REPO)
    caches.pull("owner/large")
    expect(caches.vitro("models", "rm", REPO).returncode == 1, "removed without asking")
    expect(caches.vitro("models", "rm", REPO, "--yes").returncode == 0, "rm failed")
    expect(caches.hugging_face("print(*(repo.repo_id for repo in scan_cache_dir().repos))") == "owner/large", "still there")
    expect(caches.warnings() == "[]", caches.warnings())
    caches.hugging_face(f"scan_cache_dir().delete_revisions({COMMIT!r}).execute()")
    expect(caches.models() == {}, f"removed by them, listed by us: {caches.models()}")


def check_offline(caches: Caches) -> None:
    absent = caches.vitro("run", REPO, "--ids", "1", "--pull", HF_HUB_OFFLINE="1")
    expect(absent.returncode == 1 and "HF_HUB_OFFLINE" in absent.stderr, f"offline: {absent.stderr}")
    unasked = caches.vitro("run", REPO, "--ids", "1")
    expect(unasked.returncode == 1 and f"vitro pull {REPO}" in unasked.stderr, f"without --pull: {unasked.stderr}")
    asked = caches.vitro("run", REPO, "--ids", "1", "--max-tokens", "1", "--pull")
    expect(asked.returncode == 0, f"--pull: {asked.stderr}")
    here = caches.vitro("pull", REPO, HF_HUB_OFFLINE="1")
    expect(here.returncode == 0 and "taking what is here" in here.stderr, f"offline, but here: {here.stderr}")
    gone = caches.vitro("pull", REPO, HF_ENDPOINT="http://127.0.0.1:9")
    expect(gone.returncode == 0 and "taking what is here" in gone.stderr, f"no server, but here: {gone.stderr}")


def check_names(caches: Caches) -> None:
    for name, words, status in (("owner/none", "no such repository", 3), (f"{REPO}@v9", "no such revision", 3),
                                ("owner/large:Q8_0", "model-Q4_1.gguf", 3), ("smolm2", "did you mean smollm2?", 3),
                                ("owner/../x", "neither a file nor a model's name", 1)):
        done = caches.vitro("pull", name)
        is_one_message = done.stderr.startswith("vitro pull: ") and done.stderr.count("vitro pull: ") == 1
        expect(done.returncode == status and is_one_message and words in done.stderr, f"{name}: {done.returncode} {done.stderr}")
    expect(not caches.hub.exists() or not any(caches.hub.glob("models--*/snapshots/*")), "something was written")


def check_kills(caches: Caches, n_kills: int) -> None:
    """At any moment there is the whole file under its name, or none; in the end a pull brings it."""
    expected = hashlib.sha256(random.Random(1).randbytes(3_000_000)).hexdigest()
    draw = random.Random(2)
    n_whole = 0
    start = time.monotonic()
    caches.pull("owner/large")
    duration = time.monotonic() - start
    caches.vitro("models", "rm", "owner/large", "--yes")
    for i in range(n_kills):
        puller = subprocess.Popen([caches.vitro_path, "pull", "owner/large"], env=caches.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0, 1.5 * duration) if i > 0 else 0)
        if i < n_kills - 1:  # the first is killed at once, the last one ends, however slow the machine is
            puller.send_signal(signal.SIGKILL)
        puller.wait()
        for path in caches.hub.glob("models--owner--large/snapshots/*/*"):
            expect(hashlib.sha256(path.read_bytes()).hexdigest() == expected, f"kill {i}: {path} is not whole")
        if not any(caches.hub.glob("models--owner--large/refs/main")):
            continue
        n_whole += 1
        expect(caches.vitro("models", "path", "owner/large").returncode == 0, f"kill {i}: a ref, but no model")
        expect(caches.vitro("models", "rm", "owner/large", "--yes").returncode == 0, f"kill {i}: cannot be removed")
        expect(not (caches.hub / "models--owner--large").exists(), f"kill {i}: something stayed")
    expect(caches.pull("owner/large")["path"].endswith("model-Q4_1.gguf"), "the last pull")
    expect(caches.warnings() == "[]", caches.warnings())
    expect(0 < n_whole < n_kills, f"whole after {n_whole} of {n_kills} kills: nothing was tried")
    print(f"  {n_kills} kills, {n_whole} times it was whole already")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vitro", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    args = parser.parse_args()
    n_failed = 0
    checks = [check_they_read_ours, check_we_read_theirs, check_removing, check_offline, check_names,
              lambda caches: check_kills(caches, args.kills)]
    with tempfile.TemporaryDirectory(prefix="vitro-hub-") as name:
        folder = Path(name)
        make_repositories(folder / "repositories")
        with hub_server(folder / "repositories") as server:
            for i, check in enumerate(checks):
                title = check.__name__ if check.__name__ != "<lambda>" else "check_kills"
                endpoint = f"{server}/~id={i}" + (",rate=20000000" if title == "check_kills" else "")
                try:
                    check(Caches(args.vitro.resolve(), folder / str(i), endpoint))
                    print(f"ok {title}")
                except (Failed, subprocess.TimeoutExpired) as error:
                    print(f"FAILED {title}: {error}")
                    n_failed += 1
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
