#!/usr/bin/env bash
# Compares our answers with those of the Python package symbolic on .sym files:
# the given ones, or those below bench/symbols (see bench/README.md).
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/symbolon" ./cmd/symbolon
python3 -c 'import symbolic' 2>/dev/null || { python3 -m venv "$tmp/venv" && "$tmp/venv/bin/pip" -q install symbolic==13.9.0 && PATH="$tmp/venv/bin:$PATH"; }
[ $# -gt 0 ] || set -- bench/symbols/*/*/*.sym
python3 bench/symbolic_diff.py --symbolon "$tmp/symbolon" "$@"
