#!/usr/bin/env bash
# Installs what is missing on a Debian 12 machine, and nothing else: running it again takes a fraction of a second.
#   scripts/install.sh build   compiler, CMake, Ninja and the libraries               (what `make` needs)
#   scripts/install.sh demo    build + a virtual environment in .venv for downloads   (`make demo`)
#   scripts/install.sh test    demo + the pinned packages of requirements.txt         (`make test`)
#   scripts/install.sh ci      test + Clang, its sanitizer runtime and clang-format   (`.ci/run`)
# Uses apt-get as root or through sudo. VITRO_VENV puts the environment elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(g++ cmake ninja-build ccache libfmt-dev libcli11-dev nlohmann-json3-dev libexpected-dev libedit-dev
                libcurl4-openssl-dev libssl-dev libarchive-dev ca-certificates libgtest-dev libbenchmark-dev)
demo_packages=(python3 python3-venv)
ci_packages=(clang clang-format libclang-rt-14-dev)
venv=${VITRO_VENV:-.venv}

say() { printf 'install: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Prints the given Debian packages that are not installed.
missing_packages() {
  local package
  declare -A have=()
  while read -r package; do have[$package]=1; done < <(
    dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p')
  for package in "$@"; do [[ ${have[$package]:-} ]] || printf '%s\n' "$package"; done
}

# Installs the given Debian packages where one is missing.
install_packages() {
  command -v dpkg-query >/dev/null || die "this script knows Debian only; install by hand what these are called there: $*"
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "run this as root (there is no sudo): apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get -o Acquire::Retries=3 -qq update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 -qq -y \
    --no-install-recommends install "${missing[@]}" >/dev/null
}

# Debian's own Python, so that the environment does not depend on what else is first in PATH.
make_venv() {
  [[ -x $venv/bin/pip && -x $venv/bin/python ]] && "$venv/bin/python" -c '' 2>/dev/null && return
  say "making the virtual environment $venv"
  rm -rf "$venv"
  /usr/bin/python3 -m venv "$venv"
}

# The stamp is a copy of the list that was installed.
install_requirements() {
  cmp -s scripts/requirements.txt "$venv/requirements.txt" && return
  say "installing $(grep -c == scripts/requirements.txt) Python packages into $venv"
  "$venv/bin/pip" --disable-pip-version-check install --quiet --no-deps --only-binary :all: -r scripts/requirements.txt
  cp scripts/requirements.txt "$venv/requirements.txt"
}

case ${1:-build} in
  build) install_packages "${build_packages[@]}" ;;
  demo) install_packages "${build_packages[@]}" "${demo_packages[@]}"; make_venv ;;
  test) install_packages "${build_packages[@]}" "${demo_packages[@]}"; make_venv; install_requirements ;;
  ci) install_packages "${build_packages[@]}" "${demo_packages[@]}" "${ci_packages[@]}"; make_venv; install_requirements ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
