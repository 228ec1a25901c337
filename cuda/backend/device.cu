/* SPDX-License-Identifier: MIT */
/* Find a device, or the reason why none can be used. Reserve memory of the device. */
#include "internal.h"

#include <atomic>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KNOWN = 64 }; /* number of devices whose properties are kept */

nb_status nb_cuda_check(nb_error *err, cudaError_t code, const char *doing)
{
    if (code == cudaSuccess)
        return NB_OK;
    cudaGetLastError(); /* clears the error, if possible */
    if (code == cudaErrorDevicesUnavailable)
        return nb_fail(err, NB_ERR_DEVICE,
                       "cuda: the device is busy or in exclusive use (%s)", doing);
    return nb_fail(err, NB_ERR_DEVICE, "cuda: %s failed: %s", doing,
                   cudaGetErrorString(code));
}

nb_status nb_cuda_reserve(nb_cuda_buffer *buffer, size_t bytes, const char *what,
                          nb_error *err)
{
    const double MiB = 1.0 / (1 << 20);
    size_t free_bytes = 0, total = 0;
    cudaError_t code;
    if (bytes <= buffer->bytes)
        return NB_OK;
    nb_cuda_release(buffer);
    code = cudaMalloc(&buffer->at, bytes);
    if (code == cudaSuccess) {
        buffer->bytes = bytes;
        return NB_OK;
    }
    buffer->at = NULL;
    buffer->full = code == cudaErrorMemoryAllocation;
    if (!buffer->full)
        return nb_cuda_check(err, code, what);
    cudaGetLastError();
    cudaMemGetInfo(&free_bytes, &total);
    return nb_fail(
        err, NB_ERR_DEVICE,
        "cuda: out of device memory: %s needs %.1f MiB, %.1f of %.1f MiB are free; "
        "use -device cpu",
        what, bytes * MiB, free_bytes * MiB, total * MiB);
}

void nb_cuda_release(nb_cuda_buffer *buffer)
{
    if (buffer->at)
        cudaFree(buffer->at);
    buffer->at = NULL;
    buffer->bytes = 0;
    buffer->full = 0;
}

/** Write the reason why the runtime sees no device, in one line, to `why`. */
static void explain(cudaError_t code, char *why, size_t size)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int driver = 0, runtime = 0;
    cudaGetLastError();
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        snprintf(why, size, "no NVIDIA driver is installed");
    else if (driver / 1000 < runtime / 1000)
        snprintf(
            why, size,
            "the NVIDIA driver is too old: it supports CUDA %d.%d, CUDA %d is needed",
            driver / 1000, driver % 1000 / 10, runtime / 1000);
    else if (visible)
        snprintf(why, size, "no device is visible: CUDA_VISIBLE_DEVICES is '%.60s'",
                 visible);
    else if (code == cudaSuccess || code == cudaErrorNoDevice)
        snprintf(why, size, "there is no NVIDIA device");
    else
        snprintf(why, size, "%s", cudaGetErrorString(code));
}

static int attribute(cudaDeviceAttr which, int device)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess)
        return 0;
    return value;
}

static void read_device(nb_cuda_device *d)
{
    d->major = attribute(cudaDevAttrComputeCapabilityMajor, d->index);
    d->minor = attribute(cudaDevAttrComputeCapabilityMinor, d->index);
    d->multiprocessors = attribute(cudaDevAttrMultiProcessorCount, d->index);
    d->clock_ghz = attribute(cudaDevAttrClockRate, d->index) * 1e-6;
    d->fp64_ratio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, d->index);
    if (d->fp64_ratio < 1)
        d->fp64_ratio = 32;
    d->has_tensor = NB_GPU_HAS_TENSOR(d->major, d->minor);
}

/** Fill *d; each device is read once per process. The properties never change, and the
 * driver takes up to a millisecond for the clock and the ratio of speeds. */
static void recall_device(nb_cuda_device *d)
{
    enum { EMPTY, TAKEN, FULL };
    static nb_cuda_device known[KNOWN];
    /* state of each entry of `known`; EMPTY at first */
    static std::atomic<int> is[KNOWN];
    const int i = d->index;
    int empty = EMPTY;
    if (i < KNOWN && is[i].load(std::memory_order_acquire) == FULL) {
        *d = known[i];
        return;
    }
    read_device(d);
    if (i < KNOWN && d->major > 0 && is[i].compare_exchange_strong(empty, TAKEN)) {
        known[i] = *d;
        is[i].store(FULL, std::memory_order_release);
    }
}

int nb_cuda_probe(int index, nb_cuda_device *device, char *why, size_t why_size)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    memset(device, 0, sizeof *device);
    if (code != cudaSuccess || count == 0) {
        explain(code, why, why_size);
        return 0;
    }
    if (index >= count) {
        snprintf(why, why_size, "there is no device %d: the last one is cuda:%d", index,
                 count - 1);
        return 0;
    }
    device->index = index < 0 ? 0 : index;
    recall_device(device);
    const int generation = device->major * 10 + device->minor;
    if (generation < 75) {
        snprintf(why, why_size,
                 "device %d has compute capability %d.%d; 7.5 or newer is needed",
                 device->index, device->major, device->minor);
        return 0;
    }
#ifdef NB_GPU_LEAST /* oldest generation for which this build has code */
    if (generation < NB_GPU_LEAST) {
        snprintf(
            why, why_size,
            "device %d has compute capability %d.%d, and this build has code from %d.%d "
            "on; build with CUDA_ARCH=%d",
            device->index, device->major, device->minor, NB_GPU_LEAST / 10,
            NB_GPU_LEAST % 10, generation);
        return 0;
    }
#endif
    return 1;
}

int nb_cuda_may_be_present(void)
{
    static const char *const files[] = {"/dev/nvidiactl",
                                        "/dev/dxg"}; /* dxg: Linux that runs on Windows */
    for (const char *file : files)
        if (access(file, F_OK) == 0)
            return 1;
    return 0;
}

nb_engine nb_cuda_engine(const nb_cuda_device *d)
{
    nb_engine engine = {};
    engine.size =
        d->multiprocessors * (d->clock_ghz > 0 ? d->clock_ghz : 1.5) / (132 * 1.98);
    engine.fp64_ratio = d->fp64_ratio;
    engine.has_tensor = d->has_tensor;
    return engine;
}
