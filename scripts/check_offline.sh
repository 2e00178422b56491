#!/usr/bin/env bash
# With the network cut off and no model anywhere, the program still does its main job: `make demo` falls back to the model in the
# binary, and `vitro run` works from an empty folder with no environment. Everything must be installed and built.
set -euo pipefail
cd "$(dirname "$0")/.."
vitro=$PWD/build/release/vitro
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT

offline() { unshare --map-root-user --net "$@"; }
expect() { grep -q -- "$1" "$2" || { printf "check_offline: no '%s' in:\n" "$1"; cat "$2"; exit 1; }; }

offline cat /proc/net/dev >"$empty/interfaces"
[[ $(grep -c : "$empty/interfaces") == 1 ]] || { echo "check_offline: the network is not cut off"; exit 1; }

VITRO_CACHE=$empty/cache offline make demo >"$empty/demo" 2>"$empty/talk"
expect '^embedded$' "$empty/demo"
expect 'the same text' "$empty/demo"
expect 'much smaller model' "$empty/talk"
expect 'the one in this program' "$empty/talk"

mkdir "$empty/folder"
cd "$empty/folder"
offline env -i "$vitro" run >"$empty/run" 2>"$empty/talk" </dev/null
expect '[a-z] [a-z]' "$empty/run"
expect 'the one in this program' "$empty/talk"
[[ -z $(ls -A .) ]] || { echo "check_offline: vitro run left files behind"; ls -A; exit 1; }
