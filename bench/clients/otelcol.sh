#!/usr/bin/env bash
# Sends profiles through two collectors of OpenTelemetry with a server between them. The
# collector is built once into the user's cache, by its builder.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=0.165.0 stable=1.71.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/symbolon/otelcol/$version
if [ ! -x "$cache/otelcol/otelcol" ]; then
	mkdir -p "$cache"
	cat >"$cache/builder.yaml" <<-END
		dist: {name: otelcol, output_path: $cache/otelcol}
		receivers: [{gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v$version}]
		exporters:
		- {gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter v$version}
		- {gomod: go.opentelemetry.io/collector/exporter/debugexporter v$version}
		providers:
		- {gomod: go.opentelemetry.io/collector/confmap/provider/envprovider v$stable}
		- {gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider v$stable}
	END
	(cd / && GOBIN=$cache GOFLAGS= CGO_ENABLED=0 go install "go.opentelemetry.io/collector/cmd/builder@v$version")
	(cd "$cache" && GOFLAGS= ./builder --config builder.yaml)
fi
SYMBOLON_OTELCOL=$cache/otelcol/otelcol go test -count=1 -v ./internal/trial/collectors
