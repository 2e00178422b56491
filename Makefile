# The commands of this project; CMakePresets.json holds the builds. `make help` lists them.
JOBS   ?= $(shell nproc)
PYTHON := $(or $(VITRO_VENV),.venv)/bin/python
# The model of `make demo`; empty: SmolLM2-135M-Instruct from the model cache.
MODEL  ?=

.PHONY: build demo test check format clean help models

build:  ## build/release/vitro (the default)
	@scripts/install.sh build
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build build/release --target vitro -j $(JOBS)

demo:  ## install what is missing, build, fetch a small model, show it at work; with no network, the model in the program
	@scripts/install.sh demo
	@$(MAKE) --no-print-directory build
	@if [ -z "$(MODEL)" ]; then $(PYTHON) scripts/fetch_models.py smollm2 || [ $$? -eq 3 ]; fi
	@build/release/vitro demo $(if $(MODEL),'$(MODEL)')

test:  ## install what is missing, build, fetch the real models, run every test
	@scripts/install.sh test
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build build/release -j $(JOBS)
	@$(MAKE) --no-print-directory models
	@$(PYTHON) scripts/run_tests.py build/release $(TEST_ARGS)

models:  # a model that cannot be had (status 3) is said and skipped
	@$(PYTHON) scripts/fetch_models.py smollm2 gemma3-270m || [ $$? -eq 3 ]

check:  ## house rules: layers, names, sizes, docs, headers, format
	@scripts/install.sh ci
	@tools/check_all.sh

format:  ## clang-format over all sources
	@scripts/install.sh ci
	@git ls-files -co --exclude-standard -- '*.h' '*.cc' | xargs -r clang-format -i

clean:  ## removes build/ (downloaded models and .venv stay)
	rm -rf build

help:
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16
