#!/usr/bin/env python3
"""Times Vitro and the reference packages in turn on the same tokenizers and texts, so that a noisy machine is noisy for both.

  ninja -C build/release tokens_bench && python3 bench/beside_tokenizers.py --texts a.txt b.txt -- llama3/tokenizer.json ...

A model is a tokenizer.json (beside the package `tokenizers`: the better of encode and encode_batch_fast, which leaves
offsets out, while Vitro makes them) or a NAME.tiktoken of cl100k_base or o200k_base (beside `tiktoken`). All on one thread,
in seconds of the processor.
Prints medians over rounds of loading, of encoding a text whole and in documents of 2000 characters, of decoding, and the
ratios; and whether the ids are the same.
"""

import argparse
import array
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import zlib

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
CHARACTERS = 2000


def best(work, n=3):
    seconds = []
    for _ in range(n):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


class Tokenizers:
    def __init__(self, path):
        from tokenizers import Tokenizer

        self.load = best(lambda: Tokenizer.from_file(str(path)), 1)
        self.model = Tokenizer.from_file(str(path))

    def ids(self, text):
        return self.model.encode(text).ids

    def seconds(self, texts):
        plain = best(lambda: [self.model.encode(text) for text in texts])
        return min(plain, best(lambda: [self.model.encode_batch_fast([text]) for text in texts]))

    def decode(self, ids):
        self.model.decode(ids)


class Tiktoken:
    def __init__(self, path):
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe
        from tiktoken_ext import openai_public

        def make():
            os.environ["TIKTOKEN_CACHE_DIR"] = ""
            original = openai_public.load_tiktoken_bpe
            openai_public.load_tiktoken_bpe = lambda *args, **kwargs: load_tiktoken_bpe(str(path))
            try:
                return tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[path.stem]())
            finally:
                openai_public.load_tiktoken_bpe = original

        self.load = best(make, 1)
        self.model = make()

    def ids(self, text):
        return self.model.encode_ordinary(text)

    def seconds(self, texts):
        return best(lambda: [self.model.encode_ordinary(text) for text in texts])

    def decode(self, ids):
        self.model.decode(ids)


def run_reference(reference, text):
    documents = [text[i : i + CHARACTERS] for i in range(0, len(text), CHARACTERS)]
    ids = reference.ids(text)
    return {"whole": reference.seconds([text]), "documents": reference.seconds(documents),
            "decode": best(lambda: reference.decode(ids)), "checksum": zlib.crc32(array.array("i", ids).tobytes())}


def run_vitro(args, model):
    command = [args.vitro, str(model), *map(str, args.texts)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def compare(args, model):
    reference = (Tiktoken if model.suffix == ".tiktoken" else Tokenizers)(model)
    texts = [path.read_bytes().decode() for path in args.texts]
    loads, ours, theirs = [], [[] for _ in texts], [[] for _ in texts]
    for _ in range(args.rounds):
        result = run_vitro(args, model)
        loads.append(result["load"])
        for i, text in enumerate(texts):
            ours[i].append(result["files"][i])
            theirs[i].append(run_reference(reference, text))
    load = statistics.median(loads)
    print(f"{model}: load {load:.3f} s, reference {reference.load:.3f} s, {reference.load / load:.2f}x")
    for i, path in enumerate(args.texts):
        n_bytes = ours[i][0]["bytes"]
        cells = []
        for key in ("whole", "documents", "decode"):
            a, b = median(ours[i], key), median(theirs[i], key)
            cells.append(f"{key} {n_bytes / a / 1e6:6.1f} beside {n_bytes / b / 1e6:5.1f} MB/s {b / a:6.2f}x")
        same = ours[i][0]["checksum"] == theirs[i][0]["checksum"]
        print(f"  {path.name:<26}{'   '.join(cells)}   {'same ids' if same else 'IDS DIFFER'}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--texts", nargs="+", type=pathlib.Path, required=True)
    parser.add_argument("--vitro", default="build/release/bench/tokens_bench")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    for model in args.models:
        compare(args, model)


if __name__ == "__main__":
    main()
