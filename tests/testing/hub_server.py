#!/usr/bin/env python3
"""A server on this machine that behaves like the Hugging Face hub, and misbehaves where the address says so.

    hub_server.py FOLDER [CERTIFICATE_AND_KEY.pem]     prints "PORT TLS_PORT" and serves until its stdin is closed

FOLDER/owner/name/... are the repositories, all at one commit. Endpoint: http://127.0.0.1:PORT/~BEHAVIOUR, with BEHAVIOUR words such
as "id=a,cut=4096" (see Behaviour); http://localhost:PORT is the other host, where weights are stored. GET /log/ID tells
what was asked under that id: a line for each request, fields between tabs.
"""
import functools
import hashlib
import json
import re
import ssl
import sys
import threading
import time
import urllib.parse
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GOOD_TOKEN = "hf_good"
STORED_ELSEWHERE = (".safetensors", ".gguf", ".bin")
PAGE = b"<!DOCTYPE html><html><body>Please log in to the network</body></html>"
FLOOD = 64 << 20


class Behaviour:
    """Words of an address.

    id=NAME        what the log and the counters go by
    cut=N          each answer of the store ends after N bytes, as if the cable had been pulled
    stall=N        each answer of the store stops after N bytes, and waits
    rate=N         bytes a second of each connection to the store
    hash=wrong     the announced hash is another one
    longer=N       the announced length is N more
    hole=N         ranges of the store are answered with N bytes less than were asked for
    html=1         the store sends a web page; html=all: everything is one
    plain=1        the store knows no ranges
    fail=S:N       the first N requests to the store are answered with status S; wait=T adds Retry-After: T
    deny=S         requests to the hub are answered with status S
    expire=N       addresses of the store are good for N requests
    evil=NAME      the list of files has this name too
    flood=headers  endless headers; flood=body: an endless list of files
    to=URL         the hub redirects there
    loop=1         the hub redirects to itself
    page=N         redirects of the hub have a body of N bytes
    mirror=1       the hub at 127.0.0.1 sends whoever wants a file to the one at localhost, without a word of the file
    """

    def __init__(self, text: str):
        self.text = text
        self.words = dict(word.split("=", 1) for word in text.split(",") if "=" in word)

    def get(self, name: str) -> str:
        return urllib.parse.unquote(self.words.get(name, ""))

    def number(self, name: str) -> int:
        return int(self.words.get(name, 0))


@functools.lru_cache(maxsize=16)
def cached(path: Path, _mtime_ns: int) -> tuple[bytes, str]:
    data = path.read_bytes()
    return data, hashlib.sha256(data).hexdigest()


def contents(path: Path) -> tuple[bytes, str]:
    """Bytes and sha256."""
    return cached(path, path.stat().st_mtime_ns)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer()

    def do_HEAD(self):
        self.answer()

    def log_message(self, *_):
        pass

    # --- answers

    def send_response(self, code: int, message: str | None = None) -> None:
        """Noted before the client can know of the answer."""
        if hasattr(self, "behaviour"):
            fields = [self.command, self.headers.get("Host", "").split(":")[0], self.path, str(code),
                      self.headers.get("Authorization", ""), self.headers.get("Range", ""), str(self.client_address[1])]
            self.server.log[self.behaviour.get("id")].append("\t".join(fields) + "\n")
        super().send_response(code, message)

    def send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error_code(self, status: int, code: str) -> None:
        self.send(status, code.encode(), X_Error_Code=code)

    def send_page(self) -> None:
        self.send(200, PAGE, Content_Type="text/html; charset=utf-8")

    def send_flood(self, first: bytes, block: bytes) -> None:
        self.close_connection = True
        try:
            self.wfile.write(first)
            for _ in range(FLOOD // len(block)):
                self.wfile.write(block)
        except OSError:
            self.server.count("flood stopped")

    # --- who asks for what

    def answer(self) -> None:
        self.path = re.sub(r"^http://[^/]*", "", self.path)  # a proxy is asked for whole addresses
        match = re.fullmatch(r"/~([^/]*)(/.*)", self.path)
        if self.path.startswith("/log/"):
            return self.send(200, "".join(self.server.log[self.path[5:]]).encode())
        self.behaviour = Behaviour(match[1] if match else "")
        path = match[2] if match else self.path
        try:
            self.route(path.partition("?")[0])
        except OSError:
            self.close_connection = True  # the client went away

    def route(self, path: str) -> None:
        behaviour = self.behaviour
        if path.startswith("/store/"):
            return self.answer_store(path[len("/store/"):])
        if behaviour.get("html") == "all":
            return self.send_page()
        if behaviour.get("flood") == "headers":
            return self.send_flood(b"HTTP/1.1 200 OK\r\n", b"X-Flood: " + b"x" * 1000 + b"\r\n")
        if behaviour.number("deny"):
            return self.send(behaviour.number("deny"), b"denied", **self.wait())
        if behaviour.get("to") or behaviour.get("loop"):
            return self.send(302, Location=behaviour.get("to") or self.path)
        listing = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?", path)
        if listing:
            return self.answer_listing(listing[1], listing[2] or "main")
        resolve = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if resolve:
            return self.answer_resolve(resolve[1], resolve[2], urllib.parse.unquote(resolve[3]))
        self.send_error_code(404, "EntryNotFound")

    def is_at(self, host: str) -> bool:
        return self.headers.get("Host", "").split(":")[0] == host

    def wait(self) -> dict:
        return {"Retry_After": self.behaviour.get("wait")} if self.behaviour.get("wait") else {}

    def refuses(self, repo: str, revision: str) -> bool:
        """Answers, and returns True, where the repository or revision is not for this client."""
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if repo.startswith("gated/") and token != GOOD_TOKEN:
            self.send_error_code(403 if token else 401, "GatedRepo")
        elif not (self.server.folder / repo).is_dir() or (repo.startswith("private/") and token != GOOD_TOKEN):
            self.send_error_code(404 if token else 401, "RepoNotFound")
        elif urllib.parse.unquote(revision) not in ("main", "refs/pr/1", COMMIT):
            self.send_error_code(404, "RevisionNotFound")
        else:
            return False
        return True

    def answer_listing(self, repo: str, revision: str) -> None:
        if self.refuses(repo, revision):
            return
        if self.behaviour.get("flood") == "body":
            return self.send_flood(b'HTTP/1.1 200 OK\r\n\r\n{"siblings":[', b'{"rfilename":"x"},' * 1000)
        folder = self.server.folder / repo
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        siblings = [{"rfilename": str(path.relative_to(folder)), "size": path.stat().st_size} for path in files]
        if self.behaviour.get("evil"):
            siblings.append({"rfilename": self.behaviour.get("evil"), "size": 1})
        answer = {"id": repo, "sha": COMMIT, "tags": ["license:apache-2.0"], "siblings": siblings}
        self.send(200, json.dumps(answer).encode(), Content_Type="application/json; charset=utf-8")

    def answer_resolve(self, repo: str, revision: str, name: str) -> None:
        if self.refuses(repo, revision):
            return
        if self.behaviour.get("mirror") and not self.is_at("localhost"):
            return self.send(307, Location=f"http://localhost:{self.server.server_port}{self.path}")
        path = self.server.folder / repo / name
        if not path.is_file():
            return self.send_error_code(404, "EntryNotFound")
        data, digest = contents(path)
        n_said = str(len(data) + self.behaviour.number("longer"))
        if not name.endswith(STORED_ELSEWHERE):
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            return self.send_range(data, ETag=f'"{blob}"', X_Repo_Commit=COMMIT)
        if self.behaviour.get("hash") == "wrong":
            digest = "0" * 64
        signature = self.server.count("signed")
        other = "127.0.0.1" if self.is_at("localhost") else "localhost"
        self.send(302, b"x" * self.behaviour.number("page"), X_Linked_Etag=f'"{digest}"', X_Linked_Size=n_said, X_Repo_Commit=COMMIT, ETag='"of-the-redirect"',
                  Location=f"http://{other}:{self.server.server_port}/~{self.behaviour.text}/store/{repo}/{name}?sig={signature}")

    # --- the store

    def answer_store(self, name: str) -> None:
        behaviour = self.behaviour
        signature = self.path.partition("?sig=")[2]
        if behaviour.number("expire") and self.server.count("used " + signature) > behaviour.number("expire"):
            return self.send(403, b"expired")
        status, _, n_failing = behaviour.get("fail").partition(":")
        if status and self.server.count("fail " + behaviour.get("id")) <= int(n_failing):
            return self.send(int(status), b"failing", **self.wait())
        if behaviour.get("html"):
            return self.send_page()
        self.send_range(contents(self.server.folder / name)[0], ETag='"of-the-store"')

    def send_range(self, data: bytes, **headers: str) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not wanted or self.behaviour.get("plain"):
            return self.send_slowly(200, data, headers)
        begin, end = int(wanted[1]), min(int(wanted[2] or len(data)) + 1, len(data))
        if begin >= len(data):
            return self.send(416, Content_Range=f"bytes */{len(data)}")
        end -= self.behaviour.number("hole")
        headers["Content_Range"] = f"bytes {begin}-{end - 1}/{len(data)}"
        self.send_slowly(206, memoryview(data)[begin:end], headers)

    def send_slowly(self, status: int, body: bytes | memoryview, headers: dict) -> None:
        behaviour, rate = self.behaviour, self.behaviour.number("rate")
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Content-Type": "application/octet-stream", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command == "HEAD":
            return
        stop = behaviour.number("cut") or behaviour.number("stall") or len(body)
        block = max(1, rate // 50) if rate else 1 << 16
        start = time.monotonic()
        for begin in range(0, min(stop, len(body)), block):
            self.wfile.write(body[begin:min(begin + block, stop)])
            if rate:
                time.sleep(max(0.0, start + (begin + block) / rate - time.monotonic()))
        if stop < len(body):
            self.close_connection = True
            time.sleep(20 if behaviour.number("stall") else 0)


class Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def __init__(self, folder: Path, certificate: str = ""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.log = defaultdict(list)
        self.counter = Counter()
        self.lock = threading.Lock()
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def count(self, what: str) -> int:
        with self.lock:
            self.counter[what] += 1
            return self.counter[what]

    def handle_error(self, *_):
        pass  # clients of these tests go away at any moment


def main() -> None:
    folder = Path(sys.argv[1])
    servers = [Server(folder)] + [Server(folder, certificate) for certificate in sys.argv[2:]]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(*(server.server_port for server in servers), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
