/* SPDX-License-Identifier: MIT */
/** libpng, loaded when a run first needs it (base/late_library.h).  Include this instead of <png.h>;
 * the functions are called by their own names. */
#ifndef NB_IO_PNG_LIB_H
#define NB_IO_PNG_LIB_H

#include <png.h>

#include "../../base/late_library.h"

/* Every function of the library that we call. */
/* clang-format off */
#define NB_PNG_FUNCTIONS(X) \
    X(png_create_info_struct) X(png_create_write_struct) X(png_destroy_write_struct) \
    X(png_get_error_ptr) X(png_get_io_ptr) X(png_longjmp) X(png_set_IHDR) \
    X(png_set_longjmp_fn) X(png_set_pHYs) X(png_set_text) X(png_set_user_limits) \
    X(png_set_write_fn) X(png_write_end) X(png_write_info) X(png_write_row)
/* clang-format on */

NB_LATE_LIBRARY_DECLARE(png, NB_PNG_FUNCTIONS)

#define png_create_info_struct (nb_png()->png_create_info_struct_)
#define png_create_write_struct (nb_png()->png_create_write_struct_)
#define png_destroy_write_struct (nb_png()->png_destroy_write_struct_)
#define png_get_error_ptr (nb_png()->png_get_error_ptr_)
#define png_get_io_ptr (nb_png()->png_get_io_ptr_)
#define png_longjmp (nb_png()->png_longjmp_)
#define png_set_IHDR (nb_png()->png_set_IHDR_)
#define png_set_longjmp_fn (nb_png()->png_set_longjmp_fn_)
#define png_set_pHYs (nb_png()->png_set_pHYs_)
#define png_set_text (nb_png()->png_set_text_)
#define png_set_user_limits (nb_png()->png_set_user_limits_)
#define png_set_write_fn (nb_png()->png_set_write_fn_)
#define png_write_end (nb_png()->png_write_end_)
#define png_write_info (nb_png()->png_write_info_)
#define png_write_row (nb_png()->png_write_row_)
#endif
