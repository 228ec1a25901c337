/* SPDX-License-Identifier: MIT */
#include "image.h"

extern "C" {
#include "../../src/base/late_library.h"
}

#ifdef NB_GPU_HAVE_FFT

#define MEMBER(name, function) decltype(&function) name;
#define NAME(name, function) #function,
typedef struct fft_library {
    NB_GPU_FFT_FUNCTIONS(MEMBER)
} fft_library;
static const char *const names[] = {NB_GPU_FFT_FUNCTIONS(NAME)};

#define NB_FFT_LIBRARY(SONAME)                                                           \
    {                                                                                    \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,                            \
            "Fourier transforms on the GPU: the library", SONAME, NULL, names,           \
            sizeof names / sizeof *names, &library, 0, 0, ""                             \
    }
static fft_library library; /* written only once */
/* The library of the system. If it is missing, the library of the toolkit of this build
 * is used. */
static nb_late_library in_system = NB_FFT_LIBRARY(NB_GPU_FFT_SONAME);
#ifdef NB_GPU_FFT_FOLDER
static nb_late_library in_toolkit = NB_FFT_LIBRARY(NB_GPU_FFT_FOLDER NB_GPU_FFT_SONAME);
#endif

nb_status nb_cuda_fft_need(nb_error *err)
{
    nb_error why = {};
    nb_status st = nb_late_library_load(&in_system, &why);
#ifdef NB_GPU_FFT_FOLDER
    nb_error second;
    if (st)
        st = nb_late_library_load(&in_toolkit, &second);
#endif
    return st ? nb_fail(err, NB_ERR_DEVICE, "%s", why.message) : NB_OK;
}

struct nb_cuda_fft {
    cufftHandle forward, back;
};

static nb_status check(cufftResult code, const char *doing, nb_error *err)
{
    if (code == CUFFT_SUCCESS)
        return NB_OK;
    cudaGetLastError();
    return nb_fail(err, NB_ERR_DEVICE, "cuda: %s failed: " NB_GPU_FFT_SONAME " says %d",
                   doing, (int)code);
}

/** Plan transforms of size {high, wide}, for work memory that the caller provides. *work:
 * bytes of this memory; increased if this plan needs more. */
static nb_status make_plan(int size[2], int images, int back, cudaStream_t stream,
                           cufftHandle *plan, size_t *work, nb_error *err)
{
    const char *doing = "planning a Fourier transform";
    const int complex_wide = size[1] / 2 + 1;
    int reals[2] = {size[0], 2 * complex_wide}, complexes[2] = {size[0], complex_wide};
    int *from = back ? complexes : reals, *to = back ? reals : complexes;
    size_t bytes = 0;
    nb_status st = check(library.create(plan), doing, err);
    if (st) {
        *plan = 0;
        return st;
    }
    if ((st = check(library.allocate_self(*plan, 0), doing, err)) ||
        (st = check(library.plan_many(*plan, 2, size, from, 1, from[0] * from[1], to, 1,
                                      to[0] * to[1], back ? CUFFT_Z2D : CUFFT_D2Z, images,
                                      &bytes),
                    doing, err)))
        return st;
    *work = bytes > *work ? bytes : *work;
    return check(library.set_stream(*plan, stream), doing, err);
}

nb_status nb_cuda_fft_new(int wide, int high, int images, cudaStream_t stream,
                          nb_cuda_fft **fft, size_t *work, nb_error *err)
{
    int size[2] = {high, wide};
    nb_cuda_fft *f = (nb_cuda_fft *)nb_alloc(1, sizeof *f, "Fourier transform", err);
    nb_status st = f ? NB_OK : NB_ERR_NOMEM;
    *work = 0;
    NB_TRY(make_plan(size, images, 0, stream, &f->forward, work, err));
    NB_TRY(make_plan(size, images, 1, stream, &f->back, work, err));
    if (st)
        nb_cuda_fft_free(f);
    *fft = st ? NULL : f;
    return st;
}

void nb_cuda_fft_free(nb_cuda_fft *f)
{
    if (f && f->forward)
        library.destroy(f->forward);
    if (f && f->back)
        library.destroy(f->back);
    nb_free(f);
}

nb_status nb_cuda_fft_forward(nb_cuda_fft *f, double *data, void *work, nb_error *err)
{
    const char *doing = "transforming an image";
    nb_status st = check(library.set_work(f->forward, work), doing, err);
    return st ? st
              : check(library.forward(f->forward, data, (cufftDoubleComplex *)data),
                      doing, err);
}

nb_status nb_cuda_fft_back(nb_cuda_fft *f, double *data, void *work, nb_error *err)
{
    const char *doing = "transforming an image back";
    nb_status st = check(library.set_work(f->back, work), doing, err);
    return st ? st
              : check(library.back(f->back, (cufftDoubleComplex *)data, data), doing, err);
}

#else /* the toolkit has no such library */

nb_status nb_cuda_fft_need(nb_error *err)
{
    return nb_fail(err, NB_ERR_DEVICE,
                   "this build has no Fourier transforms on the CUDA device");
}

nb_status nb_cuda_fft_new(int, int, int, cudaStream_t, nb_cuda_fft **fft, size_t *,
                          nb_error *err)
{
    *fft = NULL;
    return nb_cuda_fft_need(err);
}

void nb_cuda_fft_free(nb_cuda_fft *)
{
}

nb_status nb_cuda_fft_forward(nb_cuda_fft *, double *, void *, nb_error *err)
{
    return nb_cuda_fft_need(err);
}

nb_status nb_cuda_fft_back(nb_cuda_fft *, double *, void *, nb_error *err)
{
    return nb_cuda_fft_need(err);
}

#endif
