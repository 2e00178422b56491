#!/usr/bin/env bash
# Runs every check of the house rules and goes on after a failure. One line a check, "ok NAME" or "FAILED NAME", with what was
# found above it; exit 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.."
python=${VITRO_VENV:-.venv}/bin/python
failed=0

check() {
  local name=$1 output start=$SECONDS
  shift
  if output=$("$@" 2>&1); then
    printf 'ok %s (%s s)\n' "$name" $((SECONDS - start))
  else
    printf '%s\nFAILED %s\n' "$output" "$name"
    failed=1
  fi
}

# Names the files only: `make format` mends them. Includes the sources that git does not know yet.
check_format() {
  git ls-files -co --exclude-standard -z -- '*.h' '*.cc' | xargs -0 -r clang-format --dry-run -Werror 2>&1 |
    sed -n 's/^\([^: ]*\):.*: error: .*/\1: not as clang-format writes it/p' | sort -u | { ! grep .; }
}

check format check_format
check house_test python3 tools/house_test.py
for script in tools/check_layers.py tools/check_names.py tools/check_sizes.py tools/check_docs.py tools/check_headers.py; do
  check "$(basename "$script" .py)" python3 "$script"
done
check knob_goldens "$python" tools/make_knob_goldens.py --check
check goldens "$python" tools/make_golden.py --check --shared "${VITRO_SHARED:-../shared}"
exit $failed
