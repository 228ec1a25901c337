/* SPDX-License-Identifier: MIT */
/* For benchmarks: keep the device busy while the host queues the timed work, so that no
 * launch is between the device events. */
#include "state.h"
#include "timing.h"

__global__ void k_hold(unsigned long long ns)
{
    unsigned long long start = gpuNanoseconds();
    while (gpuNanoseconds() - start < ns)
        ;
}

void nb_cuda_hold(const nb_backend_state *state, double seconds)
{
    gpuSetDevice(state->device.index);
    k_hold<<<1, 1, 0, state->stream>>>((unsigned long long)(seconds * 1e9));
}
