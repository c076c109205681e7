#!/usr/bin/env bash
# Checks all pages by the rules of axe-core, in a browser, in both themes.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=4.14.1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && npm pack --silent "axe-core@$version" >/dev/null && tar xzf "axe-core-$version.tgz")
AXE=$folder/package/axe.min.js go test -count=1 ./internal/trial/pages
