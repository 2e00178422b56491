#!/usr/bin/env python3
"""Times `vitro run` and llama.cpp (PyPI llama-cpp-python) in turn on the same file, so that a noisy machine is noisy for both.

  python3 bench/beside_llama_cpp.py ~/.cache/vitro/smollm2-135m-instruct-q4_1.gguf

Prints medians of prompt and generated tokens/s, peak memory, and the ratios. Needs a Python that has llama_cpp.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time

PROMPT = "Once upon a time there was a small village at the foot of a mountain, and in that village lived an old clockmaker. " * 8


def run_vitro(args):
    out = subprocess.run(
        [args.vitro, "run", args.model, PROMPT, "--max-tokens", str(args.tokens), "--ignore-end", "--json", "--threads", str(args.threads)],
        check=True, capture_output=True, text=True).stdout
    result = json.loads(out)
    return result["prompt_tokens_per_second"], result["generated_tokens_per_second"], result["peak_rss_bytes"]


def run_llama_cpp(args):
    code = [sys.executable, __file__, args.model, "--child", "--threads", str(args.threads), "--tokens", str(args.tokens)]
    return tuple(json.loads(subprocess.run(code, check=True, capture_output=True, text=True).stdout))


def child(args):
    from llama_cpp import Llama

    llama = Llama(args.model, n_ctx=1024, n_threads=args.threads, n_threads_batch=args.threads, verbose=False)
    ids = llama.tokenize(PROMPT.encode())
    start = time.perf_counter()
    llama.eval(ids)
    prompt_seconds = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(args.tokens):
        llama.eval([llama.sample(temp=0.0)])
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([len(ids) / prompt_seconds, args.tokens / seconds, peak]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--vitro", default="build/release/vitro")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child(args)
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(run_vitro(args))
        theirs.append(run_llama_cpp(args))
    rows = [("prompt tokens/s", 0, 1.0), ("generated tokens/s", 1, 1.0), ("peak memory, MiB", 2, 1 / 2**20)]
    print(f"{'':<20}{'vitro':>10}{'llama.cpp':>12}{'ratio':>8}   median of {args.rounds}, {args.threads} threads")
    for name, column, unit in rows:
        a = statistics.median(r[column] for r in ours) * unit
        b = statistics.median(r[column] for r in theirs) * unit
        print(f"{name:<20}{a:>10.1f}{b:>12.1f}{a / b:>8.2f}")


if __name__ == "__main__":
    main()
