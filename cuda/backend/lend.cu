/* SPDX-License-Identifier: MIT */
/* Functions of nb_image_device for other code that uses the image on the device. Each
 * function restores the current device of the caller, on which other code of this process
 * depends. */
#include "../image/image.h"

/** Run a function with this device as the current one. */
template <class Work> static cudaError_t with_device(int device, Work work)
{
    int before = device;
    cudaError_t code = cudaGetDevice(&before);
    if (code == cudaSuccess)
        code = cudaSetDevice(device);
    if (code == cudaSuccess)
        code = work();
    if (before != device)
        cudaSetDevice(before);
    return code;
}

nb_status nb_cuda_locate(nb_backend_state *state, float **pixels, int *device,
                         nb_error *err)
{
    *pixels = (float *)state->image.at;
    *device = state->device.index;
    return nb_cuda_check(err,
                         with_device(state->device.index,
                                     [=] { return cudaStreamSynchronize(state->stream); }),
                         "rendering");
}

void nb_cuda_replace(nb_backend_state *state, float *other, size_t bytes)
{
    state->image.at = other;
    state->image.bytes = other ? bytes : 0;
}

nb_status nb_cuda_settle(int device, nb_error *err)
{
    return nb_cuda_check(err, with_device(device, [] { return cudaDeviceSynchronize(); }),
                         "waiting for the device");
}

nb_status nb_cuda_copy(int device, const float *from, float *out, size_t bytes,
                       nb_error *err)
{
    return nb_cuda_check(
        err,
        with_device(device,
                    [=] { return cudaMemcpy(out, from, bytes, cudaMemcpyDeviceToHost); }),
        "downloading");
}

void nb_cuda_discard(int device, float *pixels)
{
    with_device(device, [=] { return cudaFree(pixels); });
    cudaGetLastError();
}
