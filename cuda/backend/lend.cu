/* SPDX-License-Identifier: MIT */
/* The image that stays on the device, for use by other code (nb_image_device). The
 * caller's current device is restored, because other code in this process depends on
 * it. */
#include "../image/image.h"

/** Run a function with this device as the current one. */
template <class Work> static gpuError_t with_device(int device, Work work)
{
    int before = device;
    gpuError_t code = gpuGetDevice(&before);
    if (code == gpuSuccess)
        code = gpuSetDevice(device);
    if (code == gpuSuccess)
        code = work();
    if (before != device)
        gpuSetDevice(before);
    return code;
}

nb_status nb_cuda_locate(nb_backend_state *state, float **pixels, int *device,
                         nb_error *err)
{
    *pixels = (float *)state->image.at;
    *device = state->device.index;
    return nb_cuda_check(err,
                         with_device(state->device.index,
                                     [=] { return gpuStreamSynchronize(state->stream); }),
                         "rendering");
}

void nb_cuda_replace(nb_backend_state *state, float *other, size_t bytes)
{
    state->image.at = other;
    state->image.bytes = other ? bytes : 0;
}

nb_status nb_cuda_settle(int device, nb_error *err)
{
    return nb_cuda_check(err, with_device(device, [] { return gpuDeviceSynchronize(); }),
                         "waiting for the device");
}

nb_status nb_cuda_copy(int device, const float *from, float *out, size_t bytes,
                       nb_error *err)
{
    return nb_cuda_check(
        err,
        with_device(device,
                    [=] { return gpuMemcpy(out, from, bytes, gpuMemcpyDeviceToHost); }),
        "downloading");
}

void nb_cuda_discard(int device, float *pixels)
{
    with_device(device, [=] { return gpuFree(pixels); });
    gpuGetLastError();
}
