# SPDX-License-Identifier: MIT
# Style and structure checks; only `make format` changes files.

OURS := $(sort $(wildcard src/*.[ch] src/*/*.[ch] src/io/*/*.[ch] src/cli/*/*.[ch] src/io/*/*.cc cuda/*/*.[ch] \
    cuda/*/*.cu cuda/*/*.cuh tests/*/*.[ch]))
.PHONY: lint format tidy
lint: $(LIB_OBJ) $(CLI_OBJ) ## formatting, include directions, circles, headers alone, cppcheck, licence lines, exports
	@BUILD='$B' CC='$(CC)' NVCC='$(NVCC)' CLANG_FORMAT='$(CLANG_FORMAT)' PYTHON='$(PYTHON)' \
	    NB_CFLAGS='$(filter -DNB_HAVE_%,$(DEFS)) $(LIB_CFLAGS)' \
	    bash tests/lint/run.sh

tidy: ## clang-tidy's bug-prone and analyzer checks (slow)
	@clang-tidy --quiet $(filter-out $(ISA_SRC),$(LIB_SRC) $(CLI_SRC)) -- \
	    -std=gnu11 $(DEFS) $(LIB_CFLAGS)

format: ## reformat our sources in place
	$(CLANG_FORMAT) -i $(OURS)
