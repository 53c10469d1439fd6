# streamform: `make` builds bin/streamform, `make test` checks everything, `make help` lists the rest.

GO      ?= go
PYTHON  ?= python3
TAGS    := duckdb_arrow

.PHONY: build quickstart test lint bench docs clean help
.DEFAULT_GOAL := build

build: ## bin/streamform
	$(GO) build -tags $(TAGS) -o bin/streamform ./cmd/streamform

quickstart: build ## the first example, from plan to a corrected table
	@sh examples/quickstart/run.sh bin/streamform

test: lint .venv/ready ## vet, gofmt, all tests
	$(GO) test -tags $(TAGS) -p 2 -timeout 30m ./...

lint: ## vet and gofmt
	@unformatted=$$(gofmt -l acceptance cmd graph lang runtime state); \
	if [ -n "$$unformatted" ]; then echo "not formatted with gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet -tags $(TAGS) ./...

# Tables are read back with an independent Delta library in a virtual environment of the checkout.
.venv/ready: acceptance/requirements.txt
	@if ! command -v $(PYTHON) >/dev/null 2>&1; then \
		echo "make: $(PYTHON) is not installed; tests that read tables back with another library will be skipped"; \
	elif ! { $(PYTHON) -m venv .venv && .venv/bin/python -m pip install --quiet --disable-pip-version-check -r acceptance/requirements.txt && touch .venv/ready; }; then \
		echo "make: could not set up .venv (see above); tests that read tables back with another library will be skipped"; \
	fi

bench: build ## the benchmarks of docs/performance.md at moderate sizes; BENCH="-only W8" chooses
	$(GO) build -tags $(TAGS) -o bin/bench ./acceptance/bench
	bin/bench -streamform bin/streamform -doc docs/performance.md $(BENCH)

docs: ## docs/reference and the tables generated from the source
	$(GO) test -tags $(TAGS) ./acceptance -run '^TestDocs' -update

clean: ## everything that was built
	rm -rf bin .venv

help:
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'
