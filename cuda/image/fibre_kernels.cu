/* SPDX-License-Identifier: MIT */
/* The steps between the Fourier transforms of the fibres' point spread. */
#include "image.h"

#include "../../src/image/fibre.h"

enum { BLOCK = 256 };

/** Index of the first number of panel blockIdx.y in `data`; next function: in `light`. */
static __device__ __forceinline__ int64_t data_of_panel(const nb_cuda_fibre_size &size)
{
    return (int64_t)blockIdx.y * size.high * 2 * size.n;
}

static __device__ __forceinline__ int64_t light_of_panel(const nb_cuda_fibre_size &size)
{
    return (int64_t)blockIdx.y * size.rows * size.columns;
}

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

static dim3 blocks_of_panels(int64_t threads, int panels)
{
    return dim3(blocks_for(threads), (unsigned)panels);
}

/** Fill data with the fibre function, which is even along both edges. */
__global__ void __launch_bounds__(BLOCK)
    k_fibre_function(nb_cuda_fibre_size size, double fast, double slow, double g,
                     double *data)
{
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    int f = (int)(i % size.columns), s = (int)(i / size.columns);
    if (s >= size.rows)
        return;
    double left = fast * (f - 0.5), right = fast * (f + 0.5);
    double top = slow * (s - 0.5), bottom = slow * (s + 0.5);
    double k = nb_fibre_corner(g, right, bottom) - nb_fibre_corner(g, right, top) -
               nb_fibre_corner(g, left, bottom) + nb_fibre_corner(g, left, top);
    int64_t stride = 2 * (int64_t)size.n;
    int mirror_f = f ? size.wide - f : 0, mirror_s = s ? size.high - s : 0;
    data[s * stride + f] = k;
    data[s * stride + mirror_f] = k;
    data[mirror_s * stride + f] = k;
    data[mirror_s * stride + mirror_f] = k;
}

__global__ void __launch_bounds__(BLOCK)
    k_fibre_hat(nb_cuda_fibre_size size, const double *data, double *hat)
{
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < (int64_t)(size.high / 2 + 1) * size.n)
        hat[i] = data[2 * i] * (1 / ((double)size.wide * size.high));
}

__global__ void __launch_bounds__(BLOCK)
    k_fibre_pad(nb_cuda_fibre_size size, const double *light, double *data)
{
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x, stride = 2 * (int64_t)size.n;
    int64_t f = i % stride, s = i / stride;
    light += light_of_panel(size);
    data += data_of_panel(size);
    if (s < size.high)
        data[i] = f < size.columns && s < size.rows ? light[s * size.columns + f] : 0;
}

__global__ void __launch_bounds__(BLOCK)
    k_fibre_multiply(nb_cuda_fibre_size size, const double *hat, double *data)
{
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    int64_t c = i % size.n, s = i / size.n;
    if (s >= size.high)
        return;
    data += data_of_panel(size);
    double factor = hat[(s < size.high - s ? s : size.high - s) * size.n + c];
    data[2 * i] *= factor;
    data[2 * i + 1] *= factor;
}

__global__ void __launch_bounds__(BLOCK)
    k_fibre_crop(nb_cuda_fibre_size size, const double *data, double *light)
{
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    int64_t f = i % size.columns, s = i / size.columns;
    light += light_of_panel(size);
    data += data_of_panel(size);
    if (s < size.rows)
        light[i] = data[s * 2 * size.n + f];
}

void nb_cuda_launch_fibre_function(const nb_cuda_fibre_size *size, double fast,
                                   double slow, double g, double *data,
                                   cudaStream_t stream)
{
    cudaMemsetAsync(data, 0, (size_t)size->high * 2 * (size_t)size->n * sizeof *data,
                    stream);
    k_fibre_function<<<blocks_for((int64_t)size->columns * size->rows), BLOCK, 0, stream>>>(
        *size, fast, slow, g, data);
}

void nb_cuda_launch_fibre_hat(const nb_cuda_fibre_size *size, const double *data,
                              double *hat, cudaStream_t stream)
{
    k_fibre_hat<<<blocks_for((int64_t)(size->high / 2 + 1) * size->n), BLOCK, 0, stream>>>(
        *size, data, hat);
}

void nb_cuda_launch_fibre_pad(const nb_cuda_fibre_size *size, int panels,
                              const double *light, double *data, cudaStream_t stream)
{
    k_fibre_pad<<<blocks_of_panels((int64_t)size->high * 2 * size->n, panels), BLOCK, 0,
                  stream>>>(*size, light, data);
}

void nb_cuda_launch_fibre_multiply(const nb_cuda_fibre_size *size, int panels,
                                   const double *hat, double *data, cudaStream_t stream)
{
    k_fibre_multiply<<<blocks_of_panels((int64_t)size->high * size->n, panels), BLOCK, 0,
                       stream>>>(*size, hat, data);
}

void nb_cuda_launch_fibre_crop(const nb_cuda_fibre_size *size, int panels,
                               const double *data, double *light, cudaStream_t stream)
{
    k_fibre_crop<<<blocks_of_panels((int64_t)size->columns * size->rows, panels), BLOCK,
                   0, stream>>>(*size, data, light);
}
