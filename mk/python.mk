# SPDX-License-Identifier: MIT
# The Python package, in $B/python: its extension module contains the static library.

# Only the wheel contains these files; its program contains the second.
OLDER := src/python/older_glibc.c src/python/older_start.c
PY_INCLUDE := $(shell $(PYTHON) -c 'import sysconfig, os; p = sysconfig.get_paths()["include"]; \
    print(p if os.path.exists(p + "/Python.h") else "")' 2>/dev/null)
PY_SRC := $(filter-out $(OLDER),$(sort $(wildcard src/python/*.c)))
OLDER_OBJ := $(OLDER:%.c=$B/%.o)
# Names with their folder, as nanobragg/bench/job.py
PY_FILES := $(sort $(patsubst src/python/%,%,$(wildcard src/python/nanobragg/*.* src/python/nanobragg/*/*.py)))
PY_OBJ := $(PY_SRC:%.c=$B/%.o)
PY_DIR := $B/python/nanobragg
PY_MODULE := $(PY_DIR)/_nanobragg.abi3.so
OBJ += $(PY_OBJ) $(OLDER_OBJ)

$(PY_OBJ): $B/%.o: %.c $B/flags
	@mkdir -p $(@D)
	$(call say,CC   $<)
	$(Q)$(CC) $(filter-out -Wpedantic,$(ALL_CFLAGS)) -isystem $(PY_INCLUDE) -c $< -o $@

$(PY_MODULE): $(PY_OBJ) $(STATIC) src/python/exports.map
	@mkdir -p $(@D)
	$(call say,LD   $@)
	$(Q)$(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=src/python/exports.map \
	    -Wl,-z,nodelete $(PY_OBJ) $(STATIC) $(LIBS) -o $@

.PHONY: python wheel wheel-files wheel-check tsan-python tsan-python-run
ifneq ($(PY_INCLUDE),)
python: all $(PY_MODULE) ## the Python package, in build/gcc-release/python (PYTHONPATH)
	@cd src/python && cp --parents $(PY_FILES) $(abspath $B)/python
	@$(PYTHON) -c 'import sys; print("COMMIT, COMPILER, FLAGS =", tuple(sys.argv[1:]))' '$(COMMIT)' '$(CC_VERSION)' \
	    '$(subst ','\'',$(strip $(BUILD_FLAGS)))' >$(PY_DIR)/_build.py
	@cp src/python/program/nanobragg_program.py $B/python
	@$(PYTHON) mk/stubs.py $(PY_MODULE) >$(PY_DIR)/__init__.pyi

tsan-python: ## threads of Python through the library under the thread sanitizer (clang, libtsan2, libomp-dev)
	@$(MAKE) --no-print-directory CC='$(if $(filter ccache,$(CC)),ccache )clang' SET=clang-tsan FLAVOR=tsan \
	    CUDA=0 PYTHON='$(PYTHON)' tsan-python-run

tsan-python-run: $(PY_MODULE)
	@cd src/python && cp --parents $(PY_FILES) $(abspath $B)/python
	@bash tests/python/tsan.sh $B '$(PYTHON)'

# --- the wheel: module and program again, with archives in place of shared libraries ------------
# Libraries without an archive, and OpenMP, go into nanobragg.libs next to the package.  With an rpath (not a
# runpath) these libraries find each other there.  Every system has libgcc_s; its archive needs glibc 2.35.
WHEEL_DIR ?= dist
WHEEL_NAMES := $(CJSON_LIBS) $(LIBDEFLATE_LIBS) $(ZLIB_LIBS) $(LZ4_LIBS) $(if $(HAVE_GEMMI),$(GEMMI_LIBS) -lstdc++)
archive_of = $(or $(filter /%,$(shell $(CC) -print-file-name=lib$(1:-l%=%).a)),$1)
WHEEL_LIBS = $(foreach l,$(LIBS),$(if $(and $(filter -l%,$l),$(filter $l,$(WHEEL_NAMES))),$(call \
    archive_of,$l),$l)) -shared-libgcc
# In older versions of glibc these libraries have functions that are now in libc (mk/wheel_glibc.py).
WHEEL_LIBS += -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -l:librt.so.1
WHEEL_LD = $(CC) -s -Wl,--disable-new-dtags,-rpath,'$$ORIGIN$1' $(ALL_LDFLAGS)

# Module and program share one library, because code for every GPU is 40 MB.
$B/wheel/nanobragg.so: $(LIB_PARTS) $(OLDER_OBJ) $B/objects src/python/wheel.map
	@mkdir -p $(@D)
	$(call say,LD   $@)
	$(Q)$(call WHEEL_LD,) -shared -Wl,-soname,$(@F),--version-script=src/python/wheel.map,-Bsymbolic,-z,nodelete \
	    $(LIB_OBJ) $(firstword $(OLDER_OBJ)) $(WHEEL_LIBS) -o $@

$B/wheel/_nanobragg.abi3.so: $(PY_OBJ) $(OLDER_OBJ) $B/wheel/nanobragg.so src/python/exports.map
	$(call say,LD   $@)
	$(Q)$(call WHEEL_LD,/../nanobragg.libs) -shared -Wl,--version-script=src/python/exports.map -Wl,-z,nodelete \
	    $(PY_OBJ) $(firstword $(OLDER_OBJ)) $(@D)/nanobragg.so $(WHEEL_LIBS) -o $@

$B/wheel/nanobragg: $(CLI_OBJ) $(OLDER_OBJ) $B/wheel/nanobragg.so
	$(call say,LD   $@)
	$(Q)$(call WHEEL_LD,/../../nanobragg.libs) $^ $(WHEEL_LIBS) -o $@

wheel-files: python $B/wheel/_nanobragg.abi3.so $B/wheel/nanobragg
wheel: wheel-files ## dist/nanobragg-VERSION-cp311-abi3-manylinux_*.whl: package and program, for every GPU
	@CC='$(CC)' $(PYTHON) mk/wheel_nanobragg.py $B $(WHEEL_DIR)
wheel-check: wheel ## install it into a new environment without a compiler, and test it there
	@bash tests/python/wheel.sh $(WHEEL_DIR) $(PYTHON)
else
python wheel wheel-files wheel-check tsan-python tsan-python-run:
	@echo 'skip $@ # the headers of $(PYTHON) are not here (python3-dev)'
endif
