# The everyday words; the build itself is CMakeLists.txt.

PREFIX ?= /usr/local
BUILD ?= build/release
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# The build below this one takes its own number of jobs, not flags of this make.
CMAKE_BUILD = MAKEFLAGS= MAKELEVEL= cmake --build $(BUILD) --parallel $(JOBS)

.PHONY: all configure help demo test check-long coverage bench bench-deps install clean

all: configure ## build the library, the tests and the examples (what plain `make` does)
	@$(CMAKE_BUILD)

configure:
	@command -v cmake >/dev/null || { \
	  echo "cmake is missing; on Debian: apt-get install gcc make cmake"; exit 1; }
	@mkdir -p $(BUILD)
	@cmake -S . -B $(BUILD) $(CMAKE_ARGS) >$(BUILD)/configure.log || \
	  { cat $(BUILD)/configure.log; exit 1; }

help: ## list these words
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12

demo: configure ## build and run the tour
	@$(CMAKE_BUILD) --target example_tour
	@$(BUILD)/examples/tour

test: all ## run the tests
	@ctest --test-dir $(BUILD) -LE long --parallel $$(nproc 2>/dev/null || echo 2) --output-on-failure

check-long: all ## run the long tests
	@ctest --test-dir $(BUILD) -L long --output-on-failure
	@.ci/run dev-clang release-gcc asan-gcc tsan-gcc msan delays static platforms fuzz reproducible

coverage: ## which lines the tests run; fails below the goals
	@tools/coverage

bench: ## measure, against other libraries where they are installed
	@bench/run

bench-deps: ## install what the comparison needs
	@bench/run --deps

install: all ## install to PREFIX (/usr/local), under DESTDIR if set
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## remove everything built
	@rm -rf build
