#!/usr/bin/env bash
# Runs the tests of object stores, and those of two nodes with one store, with a MinIO,
# which is built once into the user's cache.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=v0.0.0-20260212201848-7aac2a2c5b7c
cache=${XDG_CACHE_HOME:-$HOME/.cache}/symbolon/minio/$version
[ -x "$cache/minio" ] || (cd / && GOBIN=$cache GOFLAGS= CGO_ENABLED=0 go install "github.com/minio/minio@$version")

data=$(mktemp -d)
export MINIO_ROOT_USER=a-test-key MINIO_ROOT_PASSWORD=a-test-secret
mkdir "$data/symbols" # a folder is a bucket
"$cache/minio" server --quiet --address 127.0.0.1:19100 "$data" &
trap 'kill $!; wait; rm -rf "$data"' EXIT
for _ in $(seq 100); do
	curl -sf http://127.0.0.1:19100/minio/health/live && break
	sleep 0.1
done
export SYMBOLON_TEST_S3=http://$MINIO_ROOT_USER:$MINIO_ROOT_PASSWORD@127.0.0.1:19100/symbols
go test -count=1 ./internal/bucket/s3
go test -count=1 -run AnotherNode ./internal/trial/nodes
