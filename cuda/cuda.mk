# SPDX-License-Identifier: MIT
# Rules to compile the CUDA files, and targets that need a device.
#
#   CUDA_ARCH="80 90"  these architectures
#   CUDA_ARCH=all      all architectures below that this nvcc knows: takes minutes, for packages
#   CUDA_ARCH=auto     (default, except for wheel and deb) those of the cards in this machine.
#                      Without a card: only PTX of 8.0, from which the driver compiles for the card
#                      at the first start (ptxas takes half of nvcc's time)
#
# The newest architecture is also there as PTX, for later cards; this costs no time.  7.5 is left out:
# the code of 8.0 and later has kernels that the code of 7.5 lacks (NB_GPU_TENSOR_CODE).  For a card
# that is older than all of these there is a message (NB_GPU_LEAST).

CUDA_ARCHES := $(filter $(NVCC_KNOWS),75 80 86 89 90 100 120)
CUDA_CHOSEN := $(or $(strip $(CUDA_ARCH)),$(if $(filter wheel% deb,$(MAKECMDGOALS)),all,auto))
CUDA_REAL := $(strip $(patsubst all,$(CUDA_ARCHES),$(patsubst auto,$(or $(NVCC_CARDS),80),$(CUDA_CHOSEN))))
CUDA_PTX := $(filter-out 75,$(lastword $(filter $(CUDA_REAL),$(NVCC_KNOWS))))
comma := ,
space := $(subst ,, )
CUDA_CODE := $(strip $(patsubst all,$(CUDA_ARCHES),$(patsubst auto,$(NVCC_CARDS),$(CUDA_CHOSEN))))
CUDA_NAME := $(subst $(space),+,$(strip $(CUDA_CODE) $(CUDA_PTX:%=ptx%)))
# Compress device code for size: a sixth of nvcc 13's default, and the start on a device is as fast.
CUDA_SMALL := $(if $(filter-out 11.% 12.%,$(NVCC_VERSION)),--compress-mode=size)
NVCC_ARCH ?= $(foreach a,$(CUDA_CODE),-gencode arch=compute_$a$(comma)code=sm_$a) \
    $(foreach a,$(CUDA_PTX),-gencode arch=compute_$a$(comma)code=compute_$a) $(CUDA_SMALL)
MORE_CUDA := $(if $(CUDA_CODE),$(comma) for $(CUDA_CODE))$(if $(strip $(CUDA_PTX)),$(if $(CUDA_CODE),;,$(comma)) PTX $(strip $(CUDA_PTX)))
# No contraction: only explicit fma(), as on the CPU.  Never -ftz or fast-math (interference.cuh).
NVCC_FLAGS ?= -O3 -std=c++17 -DNB_GPU=1 -fmad=false -Xcompiler -Wall$(comma)-Wextra

# Files without kernels need no more than one architecture.
CUDA_HOST_ONLY := backend/backend backend/device backend/download backend/render backend/scene_device image/chain \
    image/fft image/fibre image/product slopes/slope_products slopes/slopes steps/cuts steps/panels \
    steps/steps
$(CUDA_HOST_ONLY:%=$B/cuda/%.cu.o): NVCC_ARCH := $(firstword \
    $(foreach a,$(CUDA_REAL),-arch=sm_$a))

$B/cuda/backend/device.cu.o: DEFS += $(foreach a,$(firstword $(filter $(CUDA_REAL),$(NVCC_KNOWS))),-DNB_GPU_LEAST=$a)

# Folder of the library of Fourier transforms, for systems that do not find it.
FFT_FOLDER := $(dir $(firstword $(wildcard $(foreach d,lib64 lib,$(CUDA_HOME)/$d/libcufft.so))))
$B/cuda/image/fft.cu.o: DEFS += $(if $(FFT_FOLDER),-DNB_GPU_FFT_FOLDER='"$(FFT_FOLDER)"')

.PHONY: test-cuda bench-cuda cuda-arches compile-cost
test-cuda: ## the checks that need an NVIDIA device (skipped, with the reason, without a device)
	@bash tests/bench/gpu.sh build check spots products golden noise frames faults
bench-cuda: ## the measurements on an NVIDIA device
	@bash tests/bench/gpu.sh build time process series
cuda-arches: # for mk/compile_cost.py
	@echo $(CUDA_ARCHES)
compile-cost: ## the time of compiling, file by file; registers and spills of the kernels for every architecture
	@$(PYTHON) mk/compile_cost.py --full --cpu $(if $(NVCC),--cuda all)
