/* SPDX-License-Identifier: MIT */
/* Finding a device, saying why there is none, and its memory. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

nb_status nb_cuda_check(nb_error *err, cudaError_t code, const char *doing)
{
    if (code == cudaSuccess)
        return NB_OK;
    cudaGetLastError(); /* clear what can be cleared */
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
    if (code != cudaErrorMemoryAllocation)
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
}

/** Why the runtime sees no device at all, as one line. */
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
    d->has_tensor = d->minor == 0 && (d->major == 8 || d->major == 9 || d->major == 10);
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
    read_device(device);
    if (device->major * 10 + device->minor < 75) {
        snprintf(why, why_size,
                 "device %d has compute capability %d.%d; 7.5 or newer is needed",
                 device->index, device->major, device->minor);
        return 0;
    }
    return 1;
}
