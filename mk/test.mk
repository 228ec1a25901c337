# SPDX-License-Identifier: MIT
# The demo, the tests, the sanitizers, fuzzing and the benchmark.

# --- the demo: lysozyme, from its atoms --------------------------------------
DEMO_DIR ?= build/demo
DEMO_PIXELS ?= 1024
# The detector has an edge of 102.4 mm with any number of pixels.
DEMO_PIXEL_MM := $(shell awk 'BEGIN { print 102.4 / $(DEMO_PIXELS) }')
DEMO_CRYSTAL := $(if $(HAVE_GEMMI),-pdb golden_data/structure_factors/models/1aki.pdb, \
    -hkl golden_data/lysozyme_P1.hkl -cell 79.1 79.1 37.9 90 90 90)
DEMO_FLAGS := $(DEMO_CRYSTAL) -misset 10 20 30 -N 30 -gauss_xtal \
    -mosaic 0.1 -mosaic_model gauss -mosaic_domains 25 -osc 1 -phisteps 8 -lambda 1 \
    -crystal_volume 125000 -flux 1e12 -exposure 0.02 -beamsize 0.05 -background water:0.05,air:30 \
    -distance 100 -detpixels $(DEMO_PIXELS) -pixel $(DEMO_PIXEL_MM) -seed 1
DEMO_FILES := -floatfile $(DEMO_DIR)/lysozyme.bin -intfile $(DEMO_DIR)/lysozyme.img \
    -noisefile $(DEMO_DIR)/lysozyme_noise.img -pgmfile $(DEMO_DIR)/lysozyme.pgm \
    -pngfile $(DEMO_DIR)/lysozyme.png -tifffile $(DEMO_DIR)/lysozyme.tif \
    -dump $(DEMO_DIR)/Fdump.bin

# A measured still and its simulation, with the commands of docs/reality.md; gemmi must be there to read the atoms.
DEMO_STILL := -expt golden_data/real/thaumatin_still/0003_crop.expt -fluence 1e24 -beamsize 0.02 -amorphous_thick 1e-4 -quiet
DEMO_PAIR := $(if $(HAVE_GEMMI),$(DEMO_DIR)/thaumatin.png)
$(DEMO_DIR)/thaumatin.png: $B/nanobragg mk/test.mk
	@mkdir -p $(DEMO_DIR)
	gunzip -c golden_data/real/thaumatin_still/thau_3_2_0003_crop.cbf.gz >$(DEMO_DIR)/frame.cbf
	gunzip -c golden_data/real/thaumatin_still/thaumatin_P41212_MR.pdb.gz >$(DEMO_DIR)/model.pdb
	$B/nanobragg extract $(DEMO_DIR)/frame.cbf $(DEMO_DIR)/background.stol $(DEMO_STILL)
	$B/nanobragg $(DEMO_STILL) -stol $(DEMO_DIR)/background.stol -pdb $(DEMO_DIR)/model.pdb \
	    -misset 0.027 -0.110 -0.065 -N 13 -gauss_xtal -mosaic_model gauss -mosaic 0.15 -mosaic_dom 40 -oversample 1 \
	    -blocks 1500 -footprint gauss:0.3:0.3:0 -seed 1 -adc 0 -noisefile $(DEMO_DIR)/simulated.img -nofloat -noint -nopgm
	$B/nanobragg compare $(DEMO_DIR)/frame.cbf $(DEMO_DIR)/simulated.img -roi 860 1119 520 729 -pngscale 0:60 \
	    -diff $@ -threshold none

.PHONY: demo
ifneq ($(filter demo,$(MAKECMDGOALS)),)
$(info demo: $(if $(wildcard $B/nanobragg),compiles what changed,compiles the program (about $(if $(HAVE_CUDA),3 minutes,a minute) on \
    2 cores)) and renders thaumatin and lysozyme into $(DEMO_DIR) (5 seconds))
endif
$(call stamp,demo,$(DEMO_FLAGS) $(DEMO_FILES))
demo: $(DEMO_PAIR) $(DEMO_DIR)/lysozyme.png link ## render thaumatin beside a measured still, and lysozyme, into build/demo/
	@printf '%s\n' '' 'The pictures: $(DEMO_PAIR) $(DEMO_DIR)/lysozyme.png' \
	    'Next:        $(if $(filter gcc-release,$(SET)),build,$B)/nanobragg -help, and docs/guide.md begins with a frame as of a beamline'
$(DEMO_DIR)/lysozyme.png: $B/nanobragg $B/demo
	@mkdir -p $(DEMO_DIR)
	$B/nanobragg $(DEMO_FLAGS) $(DEMO_FILES)

# --- tests --------------------------------------------------------------------------------------
# Library that makes system calls fail (tests/cli/fault_check.py).
FAULT := $B/tests/fault.so
$(FAULT): tests/fault/fault.c $B/flags
	@mkdir -p $(@D)
	$(call say,LD   $@)
	$(Q)$(CC) -std=gnu11 -O1 -g1 $(WARN) -fPIC -shared $< -ldl -pthread -o $@

RUN := bash tests/run.sh
.PHONY: test test-dials check bigtest reduced golden-report bench
test: all test-programs $(FAULT) python ## every test in its short form (about 6 minutes on 2 quiet cores once compiled)
	@PYTHON=$(PYTHON) $(RUN) $B

check: all $(UNIT_BIN) $(REPLAY_BIN) $(FAULT) python ## the quick tests: unit, command line, fuzz corpus
	@PYTHON=$(PYTHON) $(RUN) --quick $B

bigtest: all test-programs $(FAULT) python ## every test in its long form
	@PYTHON=$(PYTHON) NB_TEST_SECONDS=3600 $(RUN) --big $B

.PHONY: test-real
test-real: all ## the tests against measured frames (golden_data/real) alone; prints their time
	@PYTHON=$(PYTHON) $(RUN) --only real $B

test-dials: all ## DIALS imports, finds spots and indexes our series (packages: dials, python3-h5py)
	@NANOBRAGG=$(CURDIR)/$B/nanobragg $(PYTHON) tests/dials/test_dials.py

.PHONY: differential
differential: all ## COUNT (1000) random command lines against a nanoBragg binary: PEER=program
	@NANOBRAGG=$(CURDIR)/$B/nanobragg PEER='$(PEER)' $(PYTHON) tests/golden/differential.py \
	    --count $(or $(COUNT),1000)

reduced: all $(UNIT_BIN) $(REPLAY_BIN)
	@PYTHON=$(PYTHON) $(RUN) --reduced $B

.PHONY: param-check param-run
param-check: ## one more parameter, by a row and a field: every reader of the table has it
	@$(MAKE) --no-print-directory SET=param CUDA=0 CFLAGS='-DNB_TEST_PARAM -O0 -g1' ISA_OPT= param-run

param-run: $B/nanobragg $(SHARED) $B/tests/fuzz/replay_words
	@bash tests/params/check.sh $B

golden-report: all $B/tests/golden/golden ## errors of every golden image, as a table
	@$B/tests/golden/golden $B/nanobragg golden_data --report --limits scalar \
	    -- -device cpu -isa scalar

.PHONY: bench-series
bench-series: all ## frames a second of series, and their memory; PEER=program: beside a loop over it
	@NANOBRAGG=$(CURDIR)/$B/nanobragg $(PYTHON) tests/bench/series.py --memory 10000

.PHONY: bench-noise
bench-noise: all ## noise onto 1000 frames, and over a long table; NOISIFY=program NONBRAGG=program: beside them
	@NANOBRAGG=$(CURDIR)/$B/nanobragg $(PYTHON) tests/bench/noise.py $(BENCH_ARGS)

bench: all $(BENCH_BIN) ## time the renderers
	@$B/tests/bench/bench all

.PHONY: bench-cpu
bench-cpu: all ## time the program on this CPU as markdown tables (PEER=nanoBragg: beside it)
	@$(PYTHON) tests/bench/cpu.py --program $B/nanobragg $(if $(PEER),--peer $(PEER)) $(BENCH_ARGS)

# --- NEON, on a machine of another kind ---------------------------------------------------------
# Needs the packages gcc-aarch64-linux-gnu qemu-user-static librandom123-dev, and after `dpkg --add-architecture arm64`
# libcjson-dev:arm64 libpng-dev:arm64 zlib1g-dev:arm64 libtiff-dev:arm64 libhdf5-dev:arm64 libfftw3-dev:arm64
# libdeflate-dev:arm64 libbz2-dev:arm64 liblz4-dev:arm64; NEON_PKG is the folder of their .pc files.
NEON_PKG ?= /usr/lib/aarch64-linux-gnu/pkgconfig
NEON_CC ?= aarch64-linux-gnu-gcc
NEON_RUN ?= qemu-aarch64-static
NEON_COUNT ?= 100
.PHONY: neon-check
neon-check: ## cross-build for 64-bit Arm; golden images and NEON_COUNT (100) random ones under qemu
	@if command -v $(NEON_CC) >/dev/null && command -v $(NEON_RUN) >/dev/null && [ -e $(NEON_PKG)/libcjson.pc ]; then \
	    PKG_CONFIG_LIBDIR=$(NEON_PKG) $(MAKE) --no-print-directory CC='$(NEON_CC)' SET=neon \
	        CUDA=0 OPTIONAL=0 neon-run; \
	else \
	    echo 'skip neon-check # needs $(NEON_CC), $(NEON_RUN) and the libraries in $(NEON_PKG)'; \
	fi

.PHONY: neon-run
neon-run: $B/nanobragg $B/tests/golden/golden $B/tests/check/check
	@printf '#!/bin/sh\nexec $(NEON_RUN) $(CURDIR)/$B/nanobragg "$$@"\n' >$B/run && chmod +x $B/run
	@$(NEON_RUN) $B/tests/check/check --isa neon --count $(NEON_COUNT)
	@$(NEON_RUN) $B/tests/golden/golden $B/run golden_data --limits mixed \
	    -- -device cpu -isa neon >$B/golden.log || { cat $B/golden.log && exit 1; }
	@echo "golden images: $$(grep -c ^ok $B/golden.log) within the tolerances"

# --- sanitizers: each in its own folder, the reduced tests --------------------------------------
.PHONY: asan ubsan tsan valgrind
asan: ## reduced tests with address and undefined behaviour sanitizers
	@$(MAKE) --no-print-directory FLAVOR=asan CUDA=0 reduced
ubsan: ## reduced tests with the undefined behaviour sanitizer alone
	@$(MAKE) --no-print-directory FLAVOR=ubsan CUDA=0 reduced
# With clang: GCC's OpenMP library is not instrumented and gives false reports; clang's has a tool against these.
tsan: ## reduced tests with the thread sanitizer (clang)
	@TSAN_OPTIONS='ignore_noninstrumented_modules=1' \
	    $(MAKE) --no-print-directory CC=clang FLAVOR=tsan CUDA=0 reduced

VALGRIND := valgrind --quiet --error-exitcode=1 --leak-check=full \
    --errors-for-leak-kinds=definite
valgrind: all ## the demo at 64x64 pixels under valgrind
	@mkdir -p $B/valgrind
	$(VALGRIND) $B/nanobragg $(subst $(DEMO_DIR),$B/valgrind, \
	    $(DEMO_FLAGS:$(DEMO_PIXELS)=64) $(DEMO_FILES)) -pixel 1.6 -oversample 1 -threads 1 \
	    >$B/valgrind/report.txt
	@echo 'valgrind: clean'

# --- fuzzing ------------------------------------------------------------------------------------
.PHONY: fuzz fuzz-run
fuzz: ## fuzz every parser for FUZZ_SECONDS (60) each, with clang
	@$(MAKE) --no-print-directory CC=clang FLAVOR=fuzz CUDA=0 fuzz-run

FUZZ_BIN := $(FUZZ_NAMES:%=$B/tests/fuzz/fuzz_%)
$(FUZZ_BIN): $B/tests/fuzz/fuzz_%: $B/tests/fuzz/fuzz_%.o $(FUZZ_HELP:%.c=$B/%.o) $(STATIC)
	$(call say,LD   $@)
	$(Q)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer $(filter-out %.a,$^) $(filter %.a,$^) $(LIBS) -o $@

# Inputs that the fuzzer finds go to the build folder; copy useful ones to tests/fuzz/corpus.
fuzz-run: $(FUZZ_BIN)
	@for name in $(FUZZ_NAMES); do \
	    mkdir -p $B/corpus/$$name tests/fuzz/corpus/$$name && \
	    echo "== fuzz_$$name for $(FUZZ_SECONDS) s" && \
	    $B/tests/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
	        -rss_limit_mb=2048 -timeout=10 -verbosity=0 -artifact_prefix=$B/corpus/ \
	        $B/corpus/$$name tests/fuzz/corpus/$$name || exit 1; \
	done
	@echo 'fuzz: $(words $(FUZZ_NAMES)) targets, $(FUZZ_SECONDS) s each: clean'
