# SPDX-License-Identifier: MIT
# nanobragg: one makefile, out of tree.  `make help` names every target.
#
#   CC=clang         another compiler (gcc is the default)
#   FLAVOR=debug     release | debug | asan | ubsan | tsan | fuzz
#   SET=name         the build folder build/name (default: compiler-flavor)
#   CUDA=0           no CUDA even if nvcc is here
#   CUDA_ARCH=all    every GPU; "80 90": these; default: the cards in this machine, else PTX, for any card of 8.0 and newer at its first start
#   CXX=clang++      the C++ compiler (that of CC is the default), for src/io/structure/gemmi.cc alone
#   GEMMI=0          no gemmi even if it is here
#   MPICC=mpicc.openmpi  this MPI, where there are several (MPICH is the default)
#   OPTIONAL=0       none of the optional libraries but OpenMP
#   WERROR=1         warnings are errors (CI)
#   COMPILE_LOG=file write there what each compiler takes (mk/timed.py)
#   V=1              show the commands

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-builtin-variables
SHELL := /bin/sh

ifeq ($(filter-out default undefined,$(origin CC)),)
CC := gcc
endif
# The C++ compiler beside CC: g++ of gcc, ccache g++-12 of ccache gcc-12, clang++ of clang.
ifneq ($(filter-out default undefined,$(origin CXX)),)
else
CXX := $(foreach w,$(CC),$(if $(filter -%,$w),$w,$(patsubst %$(notdir $w),%,$w)$(subst \
    clang,clang++,$(subst gcc,g++,$(notdir $w)))))
endif
AR := $(or $(filter-out ar,$(AR)),ar)
FLAVOR ?= release
CUDA ?= auto
GEMMI ?= auto
OPTIONAL ?= auto
WERROR ?= 0
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
CLANG_FORMAT ?= clang-format
SOVERSION := 2
VERSION := $(shell sed -n 's/^\#define NB_VERSION "\(.*\)"/\1/p' src/nanobragg/build.h)

# --- flag set -------------------------------------------------------------------------------
SAN_release :=
SAN_debug :=
SAN_asan := -fsanitize=address,undefined -fno-sanitize-recover=all
SAN_ubsan := -fsanitize=undefined -fno-sanitize-recover=all
SAN_tsan := -fsanitize=thread
SAN_fuzz := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# Lines in a debugger; all of it takes a third longer to compile.
DEBUG := $(if $(filter debug,$(FLAVOR)),-g,-g1)
OPT_release := -O2
OPT_debug := -O0
OPT_asan := -O1 -fno-omit-frame-pointer
OPT_ubsan := -O1
OPT_tsan := -O1
OPT_fuzz := -O1 -fno-omit-frame-pointer
ifeq ($(OPT_$(FLAVOR)),)
$(error FLAVOR=$(FLAVOR) is unknown: release, debug, asan, ubsan, tsan or fuzz)
endif
SAN := $(SAN_$(FLAVOR))
# Fuzzing looks for crashes, not for out of memory: smaller tables, no large memory.
DEFS_fuzz := -DNB_SF_MAX_VOXELS=65536 -DNB_ALLOC_MAX=268435456

SET ?= $(notdir $(firstword $(filter-out ccache,$(CC))))-$(FLAVOR)
B := build/$(SET)

# --- what this machine has --------------------------------------------------------------------
# Looked up at every call (a tenth of a second), so an installed library is never missed; the
# file changes only when the answer does, and then everything is compiled again.
PACKAGE_PNG := libpng-dev
PACKAGE_CJSON := libcjson-dev
PACKAGE_RANDOM123 := librandom123-dev
PACKAGE_ZLIB := zlib1g-dev
PACKAGE_TIFF := libtiff-dev
PACKAGE_HDF5 := libhdf5-dev
PACKAGE_FFTW := libfftw3-dev
PACKAGE_LIBDEFLATE := libdeflate-dev
PACKAGE_BZIP2 := libbz2-dev
PACKAGE_LZ4 := liblz4-dev
COMPILES := $(if $(MAKECMDGOALS),$(filter-out list help clean format dist release,$(MAKECMDGOALS)),all)
ifneq ($(COMPILES),)
$(shell mkdir -p $(B) && OPTIONAL='$(OPTIONAL)' MPICC='$(MPICC)' sh mk/detect.sh '$(CC)' '$(CUDA)' '$(CXX)' '$(GEMMI)' $(SAN) >$(B)/config.$$PPID && \
    { cmp -s $(B)/config.$$PPID $(B)/config.mk || mv $(B)/config.$$PPID $(B)/config.mk; }; \
    rm -f $(B)/config.$$PPID)
include $(B)/config.mk
endif

CU_SRC := $(if $(NVCC),$(sort $(wildcard cuda/*/*.cu)))
HAVE_CUDA := $(if $(CU_SRC),1)
CUDA_VERSION := $(NVCC_VERSION)
NEEDED := PNG CJSON RANDOM123 ZLIB TIFF HDF5 FFTW LIBDEFLATE BZIP2 LZ4
PACKAGES := $(foreach f,$(NEEDED),$(if $(HAVE_$f),,$(PACKAGE_$f)))
FEATURES := $(NEEDED) GEMMI XRAYLIB OPENMP MPI CUDA
ifneq ($(and $(COMPILES),$(strip $(PACKAGES))),)
$(error needed and not found by $(CC) and pkg-config: the Debian packages $(strip $(PACKAGES)) (sh mk/packages.sh build installs them))
endif

# --- flags ------------------------------------------------------------------------------------
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    $(if $(IS_CLANG),-Wno-pass-failed) $(if $(HAVE_OPENMP),,-Wno-unknown-pragmas) $(if $(filter 1,$(WERROR)),-Werror)
# Contraction and errno are explicit: the same numbers from every compiler; never fast-math.
FP := -ffp-contract=off -fno-math-errno
DEFS := $(foreach f,$(FEATURES),$(if $(HAVE_$f),$(if $(filter $f,$(NEEDED)),,-DNB_HAVE_$f=1) \
    -DNB_$f_VERSION='"$($f_VERSION)"')) $(DEFS_$(FLAVOR)) \
    $(foreach f,TIFF HDF5 FFTW XRAYLIB MPI,$(if $(HAVE_$f),-DNB_$f_SONAME='"$($f_SONAME)"'))
ALL_CFLAGS = -std=gnu11 $(OPT_$(FLAVOR)) $(DEBUG) -fPIC $(FP) $(WARN) $(SAN) \
    $(if $(HAVE_OPENMP),-fopenmp) $(DEFS) $(LIB_CFLAGS) -MMD -MP $(CFLAGS)
# gemmi shifts and adds what it read without a look at the size: whatever wraps around is harmless.
# Checks of C++ alone need a library that a C compiler does not link.
SAN_CXX := $(if $(SAN),$(SAN) -fno-sanitize=shift -fno-sanitize=vptr $(if $(IS_CLANG),-fno-sanitize=function))
ALL_CXXFLAGS = -std=c++17 $(OPT_$(FLAVOR)) $(DEBUG) -fPIC $(FP) $(filter-out -Wstrict-prototypes \
    -Wmissing-prototypes,$(WARN)) $(SAN_CXX) -fwrapv $(DEFS) -MMD -MP $(CXXFLAGS)
LIB_CFLAGS := $(TIFF_CFLAGS) $(PNG_CFLAGS) $(CJSON_CFLAGS) $(HDF5_CFLAGS) $(FFTW_CFLAGS) \
    $(XRAYLIB_CFLAGS:-I%=-isystem %) $(LIBDEFLATE_CFLAGS) $(ZLIB_CFLAGS) $(LZ4_CFLAGS) \
    $(MPI_CFLAGS)
# libtiff, libhdf5, FFTW, xraylib (src/base/late_library.h) and MPI (src/series/ranks.c) are not here.
LIBS := $(CJSON_LIBS) $(PNG_LIBS) $(LIBDEFLATE_LIBS) $(ZLIB_LIBS) \
    $(BZIP2_LIBS) $(LZ4_LIBS) $(if $(HAVE_GEMMI),$(GEMMI_LIBS) -lstdc++) -ldl -pthread -lm
CUDA_HOME := $(patsubst %/bin/,%,$(dir $(NVCC)))
ifneq ($(HAVE_CUDA),)
LIBS += -L$(CUDA_HOME)/lib64 -lcudart_static -lstdc++ -ldl -lrt -lpthread
endif
include cuda/cuda.mk
ALL_LDFLAGS = $(SAN) $(if $(HAVE_OPENMP),-fopenmp) $(LDFLAGS)

# $(call stamp,FILE,TEXT): a file with TEXT, written when the text changed and a goal needs the file;
# what depends on it is then made again.  Goals that compile nothing leave it alone.
define stamp_rule
STAMP_$1 := $2
$B/$1: $(if $(and $(findstring $2,$3),$(findstring $3,$2)),,FORCE)
	@mkdir -p $B
	@printf '%s\n' '$$(subst ','\'',$$(STAMP_$1))' >$$@
endef
stamp = $(eval $(call stamp_rule,$1,$(strip $2),$(strip $(file <$B/$1))))
.PHONY: FORCE
$(call stamp,flags,$(CC) $(filter-out -Werror,$(ALL_CFLAGS)) $(ALL_LDFLAGS))
$(call stamp,cxx-flags,$(CXX) $(filter-out -Werror,$(ALL_CXXFLAGS)))
$(call stamp,cuda-flags,$(NVCC) $(NVCC_FLAGS) $(NVCC_ARCH) $(DEFS))

comma := ,
# Sources named after an instruction set are compiled for it, and only where it can exist.
# Nothing in them may run before the processor has been asked (src/render's cpu features).
# Their vectors are unrolled into large functions. With sanitizers these would take minutes to
# compile, so they are not optimised further there, and the address sanitizer alone looks at pointers.
# -g1: gcc took half its time, and half a gigabyte, to follow their variables.
ISA_OPT := $(if $(SAN),-fno-sanitize=null$(comma)object-size,-O3 -g1)
ISA_sse2 := $(ISA_OPT) -msse2
ISA_avx2 := $(ISA_OPT) -mavx2 -mfma
ISA_avx512 := $(ISA_OPT) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
ISA_neon := $(ISA_OPT)
ISAS_x86_64 := sse2 avx2 avx512
ISAS_aarch64 := neon
ISAS := $(ISAS_$(MACHINE))
isa_of = $(strip $(foreach i,sse2 avx2 avx512 neon,$(if $(filter %_$i,$(basename $1)),$i)))

# --- sources ----------------------------------------------------------------------------------
ROOMS := $(filter-out cli python tools,$(patsubst src/%/,%,$(sort $(wildcard src/*/))))
ROOM_SRC := $(foreach r,$(ROOMS),$(sort $(wildcard src/$r/*.c src/$r/*/*.c))) $(sort $(wildcard cuda/*/*.c))
ISA_SRC := $(foreach i,sse2 avx2 avx512 neon,$(filter %_$i.c,$(ROOM_SRC)))
LIB_SRC := $(filter-out $(ISA_SRC),$(ROOM_SRC)) $(foreach i,$(ISAS),$(filter %_$i.c,$(ISA_SRC)))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
CXX_SRC := $(if $(HAVE_GEMMI),src/io/structure/gemmi.cc) # the one C++ file
LIB_OBJ := $(LIB_SRC:%.c=$B/%.o) $(CXX_SRC:%.cc=$B/%.o) $(CU_SRC:%.cu=$B/%.cu.o)
CLI_OBJ := $(CLI_SRC:%.c=$B/%.o)
# What is compiled, in this order: what takes longest first, so that no core waits for the last of it.
LIB_PARTS := $(CU_SRC:%.cu=$B/%.cu.o) $(CXX_SRC:%.cc=$B/%.o) \
    $(filter $(LIB_OBJ),$(ISA_SRC:%.c=$B/%.o)) $(LIB_OBJ)

# In these folders a file with main() is a program; the others are linked into each of them.
TEST_ROOMS := unit golden check bench
TEST_SRC := $(foreach r,$(TEST_ROOMS),$(sort $(wildcard tests/$r/*.c)))
MAIN_SRC := $(if $(TEST_SRC),$(shell grep -lwE '^(int )?main' $(TEST_SRC)))
ALONE := tests/unit/test_choose # has backends of its own in place of the library's
HELP_SRC := $(filter-out $(MAIN_SRC) $(ALONE:%=%.c),$(TEST_SRC))
TEST_SUPPORT := $(sort $(wildcard tests/support/*.c))
programs = $(patsubst %.c,$B/%,$(filter tests/$1/%,$(MAIN_SRC)))
UNIT_BIN := $(if $(HAVE_CMOCKA),$(call programs,unit) $(ALONE:%=$B/%))
GOLDEN_BIN := $(call programs,golden)
CHECK_BIN := $(call programs,check)
BENCH_BIN := $(call programs,bench)
FUZZ_WITHOUT := $(if $(HAVE_GEMMI),,tests/fuzz/fuzz_structure.c tests/fuzz/fuzz_reflections.c)
FUZZ_SRC := $(filter-out $(FUZZ_WITHOUT),$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_NAMES := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)
FUZZ_HELP := $(filter-out tests/fuzz/fuzz_%.c tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c))
REPLAY_BIN := $(if $(wildcard tests/fuzz/replay.c),$(FUZZ_NAMES:%=$B/tests/fuzz/replay_%))
TEST_BIN := $(UNIT_BIN) $(GOLDEN_BIN) $(CHECK_BIN) $(REPLAY_BIN) $(BENCH_BIN)
OBJ := $(LIB_OBJ) $(CLI_OBJ) $(TEST_SRC:%.c=$B/%.o) $(TEST_SUPPORT:%.c=$B/%.o) \
    $(patsubst %.c,$B/%.o,$(wildcard tests/fuzz/*.c))

$(call stamp,objects,$(LIB_OBJ))
$(call stamp,libs,$(LIBS)) # for those who link by themselves (tests/check/test_mutate.sh)

PROG := $(if $(CLI_SRC),$B/nanobragg)
STATIC := $B/libnanobragg.a
SHARED := $B/libnanobragg.so.$(SOVERSION)

TIMED = $(if $(COMPILE_LOG),$(PYTHON) mk/timed.py '$(COMPILE_LOG)' $< $1)
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@echo '  $1')

# --- main targets -----------------------------------------------------------------------------
.PHONY: all config lib
all: config $(STATIC) $(SHARED) $(PROG) link ## the program and both libraries (default)

config: ## what was found on this machine
	@echo 'nanobragg $(VERSION): $(CC) ($(CC_VERSION)), $(MACHINE), $B'
	@$(foreach f,$(FEATURES),printf '  %-10s %s\n' '$f' \
	    '$(if $(HAVE_$f),yes  $($f_VERSION)$(MORE_$f),no   $(WITHOUT_$f))';)
	@printf '  %-10s %s\n' SIMD '$(or $(ISAS),none)' \
	    TESTS '$(if $(HAVE_CMOCKA),cmocka $(CMOCKA_VERSION),no cmocka: unit tests are left out)'

WITHOUT_GEMMI := $(if $(filter 0,$(GEMMI)),(GEMMI=0),(no models or reflection files; gemmi-dev \
    or libgemmi-dev, tao-pegtl-dev, g++))
WITHOUT_XRAYLIB := (-sensor is off; libxrl-dev)
WITHOUT_OPENMP := (one thread; gcc, or libomp-dev for clang)
WITHOUT_MPI := (a series under mpirun is refused; libmpich-dev or libopenmpi-dev)
WITHOUT_CUDA := $(if $(filter 0,$(CUDA)),(CUDA=0),$(if $(NVCC),(nvcc $(NVCC_VERSION) is \
    here; no cuda/*/*.cu),(no nvcc)))

.PHONY: link
link: $(PROG)
	@$(if $(and $(PROG),$(filter gcc-release,$(SET))),ln -sfn $(SET)/nanobragg build/nanobragg)

# What a benchmark says of the build (mk/python.mk).
COMMIT ?= $(shell git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
BUILD_FLAGS = -std=gnu11 $(OPT_$(FLAVOR)) $(FP) $(SAN) $(if $(HAVE_OPENMP),-fopenmp) $(CFLAGS)

# Texts in the program.
$B/src/outputs/page.o: src/tools/page.html
$B/src/io/table/stol_tables.o: $(wildcard golden_data/detectors/tables/*.stol)
$B/src/cli/python_verb.o: src/tools/start.py

$B/%.o: %.c $B/flags
	@mkdir -p $(@D)
	$(call say,CC   $<)
	$(Q)$(call TIMED,-) $(CC) $(ALL_CFLAGS) $(if $(filter tests/%,$<),-Isrc $(CMOCKA_CFLAGS)) \
	    $(ISA_$(call isa_of,$<)) -c $< -o $@

$B/%.o: %.cc $B/cxx-flags
	@mkdir -p $(@D)
	$(call say,CXX  $<)
	$(Q)$(call TIMED,-) $(CXX) $(ALL_CXXFLAGS) -c $< -o $@

$B/%.cu.o: %.cu $B/cuda-flags
	@mkdir -p $(@D)
	$(call say,NVCC $<)
	$(Q)$(call TIMED,$(CUDA_NAME)) $(NVCC) $(NVCC_FLAGS) $(NVCC_ARCH) -Xcompiler -fPIC $(filter -I%,$(CC)) \
	    $(subst ",\",$(DEFS)) \
	    -MMD -MP -MF $(@:.o=.d) -c $< -o $@

$(STATIC): $(LIB_PARTS) $B/objects | $B/libs
	$(call say,AR   $@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

$(SHARED): $(LIB_PARTS) $B/objects mk/libnanobragg.map
	$(call say,LD   $@)
	$(Q)$(CC) -shared -Wl,-soname,libnanobragg.so.$(SOVERSION) \
	    -Wl,--version-script=mk/libnanobragg.map $(ALL_LDFLAGS) $(LIB_OBJ) $(LIBS) -o $@
	@ln -sfn $(@F) $B/libnanobragg.so

# The C++ library as an archive too; a sanitizer looks for the shared one's functions.
PROG_LIBS := $(if $(and $(STDCXX_ARCHIVE),$(if $(SAN),,1)),$(LIBS:-lstdc++=$(STDCXX_ARCHIVE)) \
    -static-libgcc,$(LIBS))
$B/nanobragg: $(STATIC) $(CLI_OBJ)
	$(call say,LD   $@)
	$(Q)$(CC) $(if $(OPENMP_ARCHIVE),$(filter-out -fopenmp,$(ALL_LDFLAGS)),$(ALL_LDFLAGS)) \
	    $(CLI_OBJ) $(STATIC) $(OPENMP_ARCHIVE) $(PROG_LIBS) -o $@

# --- test programs ----------------------------------------------------------------------------
# The program's own parts are no library: unit tests are linked with its objects.
MORE_unit := $(filter-out $B/src/cli/main.o,$(CLI_OBJ))
$B/tests/unit/unit: private ALL_LDFLAGS += -Wl,--wrap=open,--wrap=nb_store_take

define test_program
$1: $(1).o $(MORE_$(notdir $1)) $(patsubst %.c,$B/%.o,$(filter tests/$2/%,$(HELP_SRC)) \
    $(TEST_SUPPORT)) $(STATIC)
	$$(call say,LD   $$@)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) $$^ $$(CMOCKA_LIBS) $$(TIFF_LIBS) $$(LIBS) -o $$@
endef
$(foreach r,$(TEST_ROOMS),$(foreach p,$(call programs,$r),$(eval $(call test_program,$p,$r))))
MORE_test_choose := $B/tests/unit/unit.o
$(eval $(call test_program,$(ALONE:%=$B/%),alone))

# the program's parts
$(foreach n,words jobs,$B/tests/fuzz/replay_$n $B/tests/fuzz/fuzz_$n): $(MORE_unit)
$(REPLAY_BIN): $B/tests/fuzz/replay_%: $B/tests/fuzz/fuzz_%.o $B/tests/fuzz/replay.o \
    $(FUZZ_HELP:%.c=$B/%.o) $(STATIC)
	$(call say,LD   $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(filter-out %.a,$^) $(filter %.a,$^) $(LIBS) -o $@

.PHONY: test-programs unit-programs
test-programs: $(TEST_BIN) ## build every test program, run none
unit-programs: $(UNIT_BIN)

include mk/test.mk
include mk/lint.mk
include mk/python.mk
include mk/install.mk

.PHONY: list help clean
list help: ## every target with its purpose
	@sed -n 's/^#   \([A-Z_]*=\)/  \1/p' Makefile
	@echo
	@awk -F '## ' '/^[a-z][a-z -]*:.*## / { split($$1, t, ":"); \
	    printf "  %-14s %s\n", t[1], $$2 }' $(MAKEFILE_LIST)

clean: ## remove build/ and dist/
	rm -rf build dist

-include $(OBJ:.o=.d)
