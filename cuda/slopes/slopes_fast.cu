/* SPDX-License-Identifier: MIT */
/* Slopes with terms in single precision (slope_terms.h), one thread per pixel. */
#include "../backend/constants.cuh"
#include "slope_place.cuh"

enum {
    THREADS = 128,
    /* smallest number of blocks on a multiprocessor, so that a thread has 128 registers,
     * which suffice for four terms */
    BLOCKS = 4
};

template <int GAUSS, int GENERAL, int TABLE, int LEVEL>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    k_slopes(const NB_GRID_CONSTANT nb_cuda_slope_job p)
{
    int64_t i = p.from + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.end)
        return;
    nb_pixel_place place = place_of(p, i);
    nb_pixel_totals t;
    nb_pixel_fast(&p.tables, p.job, &place, &t,
                  nb_term_case{GAUSS, GENERAL, TABLE, LEVEL, 0});
    store_planes(p, i, place, t);
}

typedef void (*kernel)(nb_cuda_slope_job);

void nb_cuda_launch_slopes_fast(const nb_cuda_slope_job *job, const nb_term_case *how,
                                cudaStream_t stream)
{
    unsigned blocks = (unsigned)((job->end - job->from + THREADS - 1) / THREADS);
    const kernel k = with_constants(
        [](auto SHAPE, auto TABLE, auto LEVEL) -> kernel {
            return k_slopes<SHAPE == 2, SHAPE == 1, TABLE, LEVEL>;
        },
        one_of<0, 1, 2>{how->gauss ? 2 : how->general}, one_of<0, 1>{how->table},
        one_of<NB_TERMS_IMAGE, NB_TERMS_CRYSTAL, NB_TERMS_ALL>{how->level});
    k<<<blocks, THREADS, 0, stream>>>(*job);
}
