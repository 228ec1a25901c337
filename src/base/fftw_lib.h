/* SPDX-License-Identifier: MIT */
/** FFTW in double precision, loaded when a run first needs it (base/late_library.h).
 * Include this header instead of <fftw3.h>; calls use the names of FFTW. */
#ifndef NB_BASE_FFTW_LIB_H
#define NB_BASE_FFTW_LIB_H

#include <stddef.h>

#include "../nanobragg.h"

/** Load FFTW. Errors: NB_ERR_UNSUPPORTED. `what` is the flag that needs FFTW, for the
 * message. */
nb_status nb_fftw_need(const char *what, nb_error *err);

/** Only one thread of the process may make or destroy plans at a time. Any thread may
 * execute them with fftw_execute_dft*. */
void nb_fftw_lock(void);
void nb_fftw_unlock(void);

#include <fftw3.h>

#include "late_library.h"

/* Every function of the library that we call. */
/* clang-format off */
#define NB_FFTW_FUNCTIONS(X) \
    X(fftw_alignment_of) X(fftw_destroy_plan) X(fftw_execute_dft) X(fftw_execute_dft_c2r) \
    X(fftw_execute_dft_r2c) X(fftw_plan_dft_c2r) X(fftw_plan_dft_r2c) X(fftw_plan_many_dft) \
    X(fftw_plan_many_dft_c2r) X(fftw_plan_many_dft_r2c)
/* clang-format on */

NB_LATE_LIBRARY_DECLARE(fftw, NB_FFTW_FUNCTIONS)

#define fftw_alignment_of (nb_fftw()->fftw_alignment_of_)
#define fftw_destroy_plan (nb_fftw()->fftw_destroy_plan_)
#define fftw_execute_dft (nb_fftw()->fftw_execute_dft_)
#define fftw_execute_dft_c2r (nb_fftw()->fftw_execute_dft_c2r_)
#define fftw_execute_dft_r2c (nb_fftw()->fftw_execute_dft_r2c_)
#define fftw_plan_dft_c2r (nb_fftw()->fftw_plan_dft_c2r_)
#define fftw_plan_dft_r2c (nb_fftw()->fftw_plan_dft_r2c_)
#define fftw_plan_many_dft (nb_fftw()->fftw_plan_many_dft_)
#define fftw_plan_many_dft_c2r (nb_fftw()->fftw_plan_many_dft_c2r_)
#define fftw_plan_many_dft_r2c (nb_fftw()->fftw_plan_many_dft_r2c_)
#endif
