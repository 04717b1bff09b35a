# The everyday commands. The build itself is CMakeLists.txt.

PREFIX ?= /usr/local
# Sources that cannot be written to are built in the user's cache.
BUILD ?= $(if $(shell mkdir -p build 2>/dev/null && test -w build && echo yes),build/release,$(\
  )$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/weft/release)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Tests to run at once: most of them wait half of their time.
TESTS ?= $(shell echo $$((2 * $(JOBS))))

# CMake's build gets its own number of jobs, not the flags of this make.
CMAKE_BUILD = MAKEFLAGS= MAKELEVEL= cmake --build $(BUILD) --parallel $(JOBS)

.PHONY: all configure help demo docs test check check-long coverage install uninstall clean
.PHONY: amalgamation check-compilers check-packages check-platforms dist deb rpm
.PHONY: scale scale-validate
.PHONY: bench bench-full bench-compare bench-check bench-record bench-docs bench-deps

all: configure ## build the library, the tests and the examples (what plain `make` does)
	@$(CMAKE_BUILD)

configure:
	@command -v cmake >/dev/null || { tools/missing-tools; exit 1; }
	@mkdir -p $(BUILD)
	@cmake -S . -B $(BUILD) -DWEFT_DOCS_DIR=$(CURDIR)/build $(CMAKE_ARGS) \
	  >$(BUILD)/configure.log 2>$(BUILD)/configure.err && cat $(BUILD)/configure.err >&2 || { \
	  tools/missing-tools || cat $(BUILD)/configure.log $(BUILD)/configure.err; exit 1; }

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

# DEMO_ARGS: options of examples/tour/main.c.
demo: configure ## build and run the tour: pictures, a table and a timeline in $(BUILD)/tour
	@$(CMAKE_BUILD) --target example_tour weft_command
	@$(BUILD)/examples/tour --out $(BUILD)/tour --view $(BUILD)/weft $(DEMO_ARGS)

docs: configure ## build the site (build/site) and the manual pages (build/man)
	@$(CMAKE_BUILD) --target docs

test: configure ## run the tests of every feature: three minutes with the build
	@$(CMAKE_BUILD) --target weft_quick
	@ctest --test-dir $(BUILD) -L quick --parallel $(TESTS) --output-on-failure

check: ## run what must hold before a change goes in: a quarter of an hour
	@.ci/run

# STEPS: names of steps (`tools/check-long --list`); all that have not passed if there are none.
check-long: ## run everything that takes long: a day; goes on where it was, writes a report
	@tools/check-long $(STEPS)

check-platforms: ## test for other machines and systems, under emulators; goes on where it was
	@tools/check-platforms; status=$$?; tools/check-platforms --show && exit $$status

check-compilers: ## build and run programs by gcc, clang 14 and clang 19, each standard, -O0 to -O3
	@tools/check-platforms compilers

coverage: ## measure which lines the tests run; fails below the goals
	@tools/coverage

# Needs Python. The simulated machine gives the same figures on every host.
SCALE = $(BUILD)/tests/scale
scale: configure ## run the library on simulated machines of up to 256 cores; docs/scaling.md
	@$(CMAKE_BUILD) --target scale
	@tests/scale/run.py $(SCALE)/scale $(SCALE)/now.json
	@tests/scale/report.py tests/scale/before.json $(SCALE)/now.json docs/scaling.md docs/pictures \
	  tests/scale/validation.json

scale-validate: configure ## compare the simulated with this machine, which should be at rest
	@$(CMAKE_BUILD) --target scale scale_real
	@tests/scale/validate.py $(SCALE)/scale $(SCALE)/scale_real tests/scale/validation.json

# BENCH_ARGS: rows and options, see bench/README.md. PEERS=none leaves out other libraries.
BENCH = $(MAKE) --no-print-directory -j$(JOBS) -C bench

bench: ## measure in ten minutes, against other libraries where they are installed
	@$(BENCH) run ARGS="--quick $(BENCH_ARGS)"

bench-full: ## measure thoroughly, at full size: an estimated 80 minutes; BENCH_ARGS=--resume goes on
	@$(BENCH) run ARGS="$(BENCH_ARGS)"

bench-compare: ## show what changed beyond noise between two results: A=old.json B=new.json
	@$(BENCH) harness
	@build/bench/weft-bench compare $(A) $(B)

bench-check: ## fail if a ratio is worse than the recorded one
	@$(BENCH) run ARGS="check $(BENCH_ARGS)"

bench-record: ## keep the last run: recorded.json for bench-check, and the figures of the docs
	@$(BENCH) harness
	@build/bench/weft-bench record build/bench/results.json >build/bench/recorded.json
	@mv build/bench/recorded.json bench/recorded.json
	@$(MAKE) --no-print-directory bench-docs

bench-docs: ## write the figures of README.md and docs/ again, from bench/recorded.json
	@$(BENCH) harness
	@mkdir -p docs/pictures
	@build/bench/weft-bench-report recorded bench/recorded.json bench/goals.txt docs/pictures
	@build/bench/weft-bench docs README.md docs/benchmarks.md

bench-deps: ## install what the comparison needs
	@$(BENCH) deps

# Only what is installed is built: neither tests nor examples.
install: configure ## build and install to PREFIX (/usr/local), under DESTDIR if set
	@$(CMAKE_BUILD) --target weft_installable
	@DESTDIR="$(DESTDIR)" tools/install $(BUILD) "$(PREFIX)"

uninstall: ## remove what `make install` has put there (same PREFIX and DESTDIR)
	@DESTDIR="$(DESTDIR)" tools/install --remove "$(PREFIX)"

amalgamation: ## write the library as two files: build/amalgamation/weft.h, weft.c
	@tools/amalgamate

dist: ## write the tarballs of a release, with checksums, to build/dist
	@tools/release tarball

deb: ## build the Debian packages of this commit, in build/deb
	@packaging/build-deb

rpm: ## build the RPM packages of this commit, in build/rpm
	@packaging/build-rpm

check-packages: ## build every kind of package and use it: a quarter of an hour
	@tests/package/ways

clean: ## remove everything built
	@rm -rf build
