#!/usr/bin/env python3
"""Checks that no code outside an instruction set's namespace needs more than x86-64-v2.

    tools/check_isa.py BUILD_DIR

Looks at every function of libvitro_kernels.a and of the `vitro` program (where it was built). AVX and AVX2 code may be only in functions
whose name lies in vitro::avx2 or vitro::avx512, AVX-512 code only in vitro::avx512. Anything else, above all a std:: function that was
compiled inside a target region, is what the linker may hand to a processor that cannot run it. Exit 0: clean; 1: findings; 2: usage.
"""

import pathlib
import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
# Instructions with a VEX or EVEX prefix: AVX mnemonics begin with v (the six that do and are older are left out), mask registers k0-k7
# are loaded by k..., and BMI1/BMI2 have a VEX prefix too.
AVX = re.compile(r"^(v(?!err|erw|mcall|mmcall|mlaunch|mresume)[a-z0-9]+|andn|bextr|blsi|blsmsk|blsr|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx)$")
AVX512 = re.compile(r"%zmm|%k[0-7]|%[xy]mm(1[6-9]|2[0-9]|3[01])\b")
# Mangled, as in _ZN5vitro6avx5124rope...: a name inside the namespace always spells it out once.
NAMESPACES = {"avx512": "5vitro6avx512", "avx2": "5vitro4avx2"}


def allowed_level(symbol):
    """2 for AVX-512 code, 1 for AVX2 code, 0 for x86-64-v2."""
    if NAMESPACES["avx512"] in symbol:
        return 2
    return 1 if NAMESPACES["avx2"] in symbol else 0


def needed_level(mnemonic, line):
    if AVX512.search(line):
        return 2
    return 1 if AVX.match(mnemonic) else 0


def functions_beyond(path):
    """Yields (symbol, instruction) for the first instruction of each function that its name does not allow."""
    command = ["objdump", "-d", "--no-show-raw-insn", "-w", str(path)]
    symbol, allowed, is_reported = "", 0, False
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as objdump:
        for line in objdump.stdout:
            start = FUNCTION.match(line)
            if start:
                symbol, is_reported = start.group(1), False
                allowed = allowed_level(symbol)
                continue
            fields = line.split(None, 2)
            if is_reported or allowed == 2 or len(fields) < 2 or not fields[0].endswith(":"):
                continue
            if needed_level(fields[1], line) > allowed:
                is_reported = True
                yield symbol, " ".join(fields[1:]).strip()
    if objdump.returncode != 0:
        raise OSError(f"objdump failed on {path}")


def tables_beyond(path):
    """Tables must be data that the compiler filled in: a start-up function could run a region's code before the processor is asked."""
    symbols = subprocess.run(["nm", str(path)], check=True, capture_output=True, text=True).stdout
    return [line.split()[-1] for line in symbols.splitlines() if "_GLOBAL__sub_I" in line]


def demangle(symbol):
    return subprocess.run(["c++filt", symbol], check=True, capture_output=True, text=True).stdout.strip()


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1])
    archive = build / "libvitro_kernels.a"
    if not archive.exists():
        print(f"check_isa: {archive} does not exist; build the target vitro_kernels first", file=sys.stderr)
        return 2
    paths = [path for path in (archive, build / "vitro") if path.exists()]
    findings = [
        f"{path}: {demangle(symbol)}: has `{instruction}`"
        for path in paths
        for symbol, instruction in functions_beyond(path)
    ]
    findings += [f"{archive}: {symbol}: runs before main; make the table constinit" for symbol in tables_beyond(archive)]
    for finding in findings:
        print(finding)
    print(f"check_isa: {len(findings)} finding(s) in {', '.join(str(path) for path in paths)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
