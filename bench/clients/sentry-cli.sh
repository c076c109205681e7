#!/usr/bin/env bash
# Runs the tests of sentry-cli against the binary, with a release of version 2 and one
# of version 3, which npm installs into the user's cache. Without npm it does nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v npm >/dev/null; then
	printf 'npm is not installed: sentry-cli was not run\n'
	exit 0
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/symbolon/sentry-cli
list=()
for version in 2.58.6 3.8.0; do
	dir=$cache/$version
	# The program is in a package for each system, which needs no script.
	[ -d "$dir/node_modules/@sentry" ] ||
		npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --loglevel=error "@sentry/cli@$version"
	list+=("$(ls "$dir"/node_modules/@sentry/cli-*/bin/sentry-cli)")
done
SYMBOLON_SENTRY_CLI=$(IFS=:; echo "${list[*]}") go test -count=1 -run 'Sentry|Symbolicator' ./internal/trial/uploaders
