.PHONY: build generate pages test lint bench fuzz oracle names llvm workload clients container release

build:
	CGO_ENABLED=0 go build -trimpath -o symbolon ./cmd/symbolon

# The version of the generator is that of go.mod.
generate:
	go run github.com/a-h/templ/cmd/templ@$$(go list -m -f '{{.Version}}' github.com/a-h/templ) generate -path internal/api/ui

# Pictures of all pages, in both themes.
pages:
	mkdir -p pages && PAGES=$$PWD/pages go test -count=1 ./internal/trial/pages

test:
	go test ./...

lint:
	test -z "$$(gofmt -l .)" && go vet ./...

bench:
	go test -run '^$$' -bench . ./...

fuzz:
	.ci/fuzz 60s

oracle:
	go run ./bench oracle $(FILES)
	if [ -d bench/symbols ]; then bench/oracle.sh; fi

names:
	go run ./bench names $(SUITES)

llvm:
	bench/llvm/run.py $(SUITE)

workload:
	go run ./bench mozilla --symbols $(or $(SYMBOLS),bench/symbols)

clients:
	go test -count=1 -v ./internal/trial/debuggers
	go test -count=1 -v -run "Firefox|Curl|Mozilla" ./internal/trial/uploaders
	bench/clients/sentry-cli.sh
	bench/clients/axe.sh
	bench/clients/minio.sh
	bench/clients/otelcol.sh
	go test -count=1 -v -run ABrowser ./cmd/symbolon
	bench/clients/engines.py
	bench/clients/profiler.py $(PROFILER) $(RECORD)

container:
	tool=$$(command -v podman || command -v buildah || command -v docker) && \
	$$tool build -f docs/operate/container/Containerfile -t symbolon .

release:
	.ci/release --check $(or $(DIR),dist)
