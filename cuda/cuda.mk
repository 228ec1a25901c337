# SPDX-License-Identifier: MIT
# How the CUDA files are compiled, and what needs a device.
#
#   CUDA_ARCH=90       these architectures only (quick); default: all of them
#                      that this nvcc knows, and PTX for later ones

CUDA_ARCHES := $(filter $(NVCC_KNOWS),75 80 86 89 90 100 120)
CUDA_ARCH ?= $(CUDA_ARCHES)
comma := ,
NVCC_ARCH ?= $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$a$(comma)code=sm_$a) \
    $(foreach a,$(filter $(CUDA_ARCH),$(lastword $(CUDA_ARCHES))),\
        -gencode arch=compute_$a$(comma)code=compute_$a)
# No contraction: fma() where it is meant, as on the CPU.  Never -ftz or fast-math (interference.cuh).
NVCC_FLAGS ?= -O3 -std=c++17 -DNB_GPU=1 -fmad=false -Xcompiler -Wall$(comma)-Wextra

# Files without kernels need no more than one architecture.
CUDA_HOST_ONLY := backend chain cuts device download fft fibre panels product render scene_device slope_products slopes
$(CUDA_HOST_ONLY:%=$B/cuda/%.cu.o): NVCC_ARCH := $(firstword \
    $(foreach a,$(CUDA_ARCH),-arch=sm_$a))

# The library of Fourier transforms, where the system does not find it.
FFT_FOLDER := $(dir $(firstword $(wildcard $(foreach d,lib64 lib,$(CUDA_HOME)/$d/libcufft.so))))
$B/cuda/fft.cu.o: DEFS += $(if $(FFT_FOLDER),-DNB_GPU_FFT_FOLDER='"$(FFT_FOLDER)"')

.PHONY: test-cuda bench-cuda cuda-arches compile-cost hip-compile
test-cuda: ## the checks that need an NVIDIA device (skipped, with the reason, where there is none)
	@bash tests/bench/gpu.sh build check spots products golden noise frames faults
bench-cuda: ## the measurements on an NVIDIA device
	@bash tests/bench/gpu.sh build time process series
cuda-arches: # for mk/compile_cost.py
	@echo $(CUDA_ARCHES)
compile-cost: ## what compiling costs, file by file; registers and spills of the kernels for every architecture
	@$(PYTHON) mk/compile_cost.py --full --cpu $(if $(NVCC),--cuda all)
hip-compile: ## compile cuda/ with hipcc for an AMD device: nothing is linked or run
	@bash tests/check/hip_compile.sh
