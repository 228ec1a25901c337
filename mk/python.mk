# SPDX-License-Identifier: MIT
# The Python package, in $B/python: the extension module over the static library.

PY_INCLUDE := $(shell $(PYTHON) -c 'import sysconfig, os; p = sysconfig.get_paths()["include"]; \
    print(p if os.path.exists(p + "/Python.h") else "")' 2>/dev/null)
PY_SRC := $(sort $(wildcard src/python/*.c))
PY_FILES := $(sort $(wildcard src/python/nanobragg/*))
PY_OBJ := $(PY_SRC:%.c=$B/%.o)
PY_DIR := $B/python/nanobragg
PY_MODULE := $(PY_DIR)/_nanobragg.abi3.so
OBJ += $(PY_OBJ)

$(PY_OBJ): $B/%.o: %.c $B/flags
	@mkdir -p $(@D)
	$(call say,CC   $<)
	$(Q)$(CC) $(filter-out -Wpedantic,$(ALL_CFLAGS)) -isystem $(PY_INCLUDE) -c $< -o $@

$(PY_MODULE): $(PY_OBJ) $(STATIC) src/python/exports.map
	@mkdir -p $(@D)
	$(call say,LD   $@)
	$(Q)$(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=src/python/exports.map \
	    -Wl,-z,nodelete $(PY_OBJ) $(STATIC) $(LIBS) -o $@

.PHONY: python
ifneq ($(PY_INCLUDE),)
python: all $(PY_MODULE) ## the Python package, in build/gcc-release/python (PYTHONPATH)
	@cp $(PY_FILES) $(PY_DIR)
else
python:
	@echo 'skip python # the headers of $(PYTHON) are not here (python3-dev)'
endif
