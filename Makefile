# Runs common tasks. `make demo` and `make test` work on a fresh Debian 12. Each target installs the
# packages that it needs (scripts/packages.txt), builds with CMake, and does one thing.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test simulate bench bench-growth bench-scaling bench-shapes bench-peers bench-inference fuzz format api coverage fresh clean

RELEASE := build/release
FUZZ_SECONDS ?= 60
BENCH_FLAGS ?=
# With pages of 4 KiB, benchmarks with many small objects would measure the system's page tables.
HUGE_PAGES := GLIBC_TUNABLES=glibc.malloc.hugetlb=1

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 23

demo:  ## clone a model that Keras cannot, learn digits, and train replicas on several devices
	@scripts/setup build
	@cmake --preset release
	@cmake --build --preset release --target example_clone_story example_digits example_replicas
	@$(RELEASE)/bin/clone_story
	@$(RELEASE)/bin/digits data/digits/digits.csv
	@mkdir -p build/demo && cd build/demo && $(CURDIR)/$(RELEASE)/bin/replicas && \
	  echo "The files of the demo are in build/demo."

test:  ## run all tests
	@scripts/setup build
	@cmake --preset release
	@cmake --build --preset release
	@ctest --preset release --parallel "$$(nproc)"

simulate:  ## run the tests for GPUs on simulated GPUs
	@scripts/setup build
	@cmake --preset release
	@cmake --build --preset release --target simulated_tests
	@ctest --preset release -C long -L '^simulated$$' --parallel "$$(nproc)"

bench:  ## run the benchmarks; BENCH_FLAGS are passed to Google Benchmark
	@scripts/setup build bench
	@cmake --preset release -DKERATIN_BENCH=ON
	@cmake --build --preset release --target keratin_bench
	@$(HUGE_PAGES) $(RELEASE)/bin/keratin_bench $(BENCH_FLAGS)

bench-growth:  ## measure how compiling and cloning grow with size, into bench/GROWTH.md
	@scripts/setup build bench growth
	@cmake --preset release -DKERATIN_BENCH=ON
	@cmake --build --preset release --target keratin_bench
	@$(HUGE_PAGES) python3 bench/growth.py

bench-scaling:  ## measure how training scales with devices, into bench/SCALING.md
	@scripts/setup build bench
	@cmake --preset release -DKERATIN_BENCH=ON
	@cmake --build --preset release --target keratin_scaling
	@{ echo '# How training scales with devices'; echo; $(RELEASE)/bin/keratin_scaling; } | tee bench/SCALING.md

bench-shapes:  ## measure models whose inputs change their shape, into bench/SHAPES.md
	@scripts/setup build bench
	@cmake --preset release -DKERATIN_BENCH=ON
	@cmake --build --preset release --target keratin_shapes
	@{ echo '# Inputs that change their shape'; echo; $(RELEASE)/bin/keratin_shapes; } | tee bench/SHAPES.md

bench-peers:  ## compare Keratin with other frameworks, into bench/RESULTS.md
	@scripts/setup build bench peers
	@cmake --preset release -DKERATIN_BENCH=ON
	@cmake --build --preset release
	@python3 bench/peers/run.py
	@python3 bench/peers/graph.py --python bench/.venv/bin/python --out bench/GRAPH.md

bench-inference:  ## compare inference with other runtimes, into bench/INFERENCE.md
	@scripts/setup build bench inference
	@cmake --preset release -DKERATIN_BENCH=ON
	@cmake --build --preset release --target keratin_inference_worker
	@python3 bench/inference/run.py

fuzz:  ## run every fuzz target for FUZZ_SECONDS
	@scripts/setup build fuzz
	@cmake --preset fuzz
	@cmake --build --preset fuzz --target fuzzers
	@scripts/fuzz $(FUZZ_SECONDS)

api:  ## list every public name in docs/api.txt, from the headers
	@scripts/api

coverage:  ## list what of Keras is here in docs/coverage.md
	@scripts/setup build keras
	@cmake --preset release
	@cmake --build --preset release --target keratin_known
	@scripts/coverage

format:  ## format the code
	@scripts/setup format
	@scripts/check-format --fix

fresh:  ## run make demo and make test on a bare Debian 12 (needs root)
	@scripts/setup fresh
	@scripts/fresh

clean:  ## delete the build folder
	@rm -rf build
