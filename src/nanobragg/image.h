/* SPDX-License-Identifier: MIT */
/** Image files: read, compare, draw as a picture. */
#ifndef NANOBRAGG_IMAGE_H
#define NANOBRAGG_IMAGE_H

#include "config.h"
#include "error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reasons to leave out a pixel of an image file. */
typedef enum nb_left_out {
    NB_LEFT_NONE = 0, /* the pixel is used */
    NB_LEFT_MASK,     /* pixel mask of the file */
    NB_LEFT_NEGATIVE, /* the value is -1 or -2 in signed integers */
    NB_LEFT_HIGHEST,  /* the value is the largest number of unsigned integers */
    NB_LEFT_TYPED,    /* a mask that the user named */
    NB_LEFT_KINDS
} nb_left_out;

/** An image read from a file. */
typedef struct nb_image {
    int fast, slow;
    float *pixels;       /* [slow][fast]; owned.  Integers above 2^24 are rounded */
    char format[8];      /* float, SMV, TIFF, PGM, CBF or HDF5 */
    nb_config *geometry; /* owned; known values of detector and beam, or NULL */
    double centre[2];    /* beam centre, pixels from the outer corner of the first pixel
                         along fast and slow; or NaN */
    double pedestal; /* value of a pixel without photons, from the header; 0 unknown */
    /* owned, or NULL; the panels in the image, which is a stack or a canvas. They are
     * from a geometry file, or from an HDF5 file with several panels */
    struct nb_detector_spec *detector;
    uint8_t *left_out; /* owned, [slow][fast]: nb_left_out values; NULL: all used */
} nb_image;

/** Read SMV, TIFF (one channel, float or integer), PGM (P5), mini-CBF (byte-offset
 * compression), HDF5 (NXmx master or data file; "file.h5:k": frame k from 0), recognised
 * by their first bytes, or a headerless file of float32 in this machine's byte order.
 * Pixels marked by the file's mask or by their values are in left_out. fast, slow: size
 * of a headerless file; 0, 0: square. The geometry of the header completes `typed` (may
 * be NULL), as -img does. Panels are those of a geometry file in `typed`, else of the
 * HDF5 file. Free *out with nb_image_free; it is zero on error. Errors: NB_ERR_INPUT,
 * _IO, _NOMEM, _UNSUPPORTED (no libtiff or HDF5). */
nb_status nb_image_read(const char *path, int fast, int slow, const nb_config *typed,
                        nb_image *out, nb_error *err);
void nb_image_free(nb_image *image); /* Free the owned memory; NULL is allowed. */

/** Leave out each pixel whose pixel in the mask is 0, negative or left out. name: file of
 * the mask, for messages. Errors: NB_ERR_INPUT (another size), NB_ERR_NOMEM. */
nb_status nb_image_leave_out(nb_image *image, const nb_image *mask, const char *name,
                             nb_error *err);

/** Number of pixels that are left out; the reasons go to text[size] (may be NULL). */
int64_t nb_image_left_out(const nb_image *image, char *text, size_t size);

/** Write a PNG of an image. options may be NULL. Rings need image->geometry with distance
 * and wavelength. Errors: NB_ERR_INPUT, _IO, _NOMEM, _UNSUPPORTED (no libpng). */
nb_status nb_image_picture(const nb_image *image, const nb_png_options *options,
                           const char *path, nb_error *err);

#define NB_RELATIVE_COUNT 5
#define NB_RELATIVE_PERCENTS                                                             \
    {                                                                                    \
        50, 90, 99, 99.9, 100                                                            \
    }

/** Options of nb_image_compare; nb_compare_defaults fills them. */
typedef struct nb_compare_options {
    int roi_set;
    int roi[4];             /* fast min, fast max, slow min, slow max; inclusive */
    double floor;           /* relative errors use pixels with B > floor * max(B); 1e-6 */
    double peak_percentile; /* peaks are brighter than this percentile; 99 */
    int peak_exclusion;     /* a peak is brightest within this distance on both axes; 3 */
    int peak_count;         /* number of the brightest peaks to use; 100 (0: all) */
    double gate_px;         /* peaks further apart are not paired; 2 */
    double centre[2]; /* centre of the radial profile, pixels as nb_image.centre; NaN:
                         centre of B, or of A, or the middle of the image */
} nb_compare_options;

/** The difference of an image A from a reference B of the same size, over a region of
 * interest. If a pixel is not finite, every figure except the counts is NaN. */
typedef struct nb_difference {
    int fast, slow, roi[4];
    /* number of pixels in the ROI, without left-out pixels */
    int64_t pixels;
    /* number of pixels in the ROI that are left out in A or B */
    int64_t left_out;
    char left_out_why[240];             /* reasons in words; or "" */
    int64_t nonfinite_a, nonfinite_b;   /* numbers of pixels that are NaN or infinite */
    int nonfinite_fast, nonfinite_slow; /* the first such pixel */
    double sum_a, sum_b, max_a, max_b;
    /* correlation of Pearson; 1 if A = B, otherwise NaN if A or B is constant */
    double correlation;
    double rmse;            /* sqrt(mean((A - B)^2)) */
    double max_difference;  /* the A - B with the largest magnitude */
    int max_fast, max_slow; /* pixel of max_difference */
    /* panel of max_difference, and the position in the panel; or -1 */
    int max_panel, max_panel_fast, max_panel_slow;
    char max_panel_name[64];
    double maxrel;                      /* max |A - B| / max(B) */
    double sum_ratio;                   /* sum(A)/sum(B) */
    int64_t relative_pixels;            /* pixels with B > floor * max(B) */
    double relative[NB_RELATIVE_COUNT]; /* percentiles of |A - B|/B over these pixels */
    /* scale of the fit A = scale B by least squares, and its rmse */
    double scale, scaled_rmse;
    int peaks_a, peaks_b, peaks_matched;
    /* matched peaks / larger number of peaks; 1 without peaks */
    double peaks_fraction;
    double peaks_rms_shift; /* r.m.s. distance of matched pairs, pixels */
    /* mean shift A - B of matched pairs along fast and slow, pixels */
    double peaks_mean_shift[2];
    /* number of rings, which are one pixel wide and have n pixels */
    int radial_rings;
    double radial_centre[2];
    double radial_difference; /* sqrt(sum n (<A> - <B>)^2/sum n <B>^2), <>: ring means */
    double radial_worst;      /* largest <A> - <B>, divided by the largest <B> */
    double radial_worst_radius; /* radius of radial_worst, pixels */
    /* correlation with the axes of B swapped; NaN: not calculated */
    double transposed_correlation;
    char verdict[160]; /* the kind of difference in words; or "" */
} nb_difference;

void nb_compare_defaults(nb_compare_options *options);

/** Compare a with the reference b. options may be NULL. All of *out is written. Errors:
 * NB_ERR_INPUT (sizes differ, ROI off the image, no pixel is left), NB_ERR_NOMEM. */
nb_status nb_image_compare(const nb_image *a, const nb_image *b,
                           const nb_compare_options *options, nb_difference *out,
                           nb_error *err);

/** Write a PNG of three images side by side: a and b in the same colours, and a - b, red
 * above and blue below zero, with scales. A detector of several panels is assembled,
 * unless options have a region. Both options may be NULL; rings are not drawn. Errors as
 * nb_image_picture, and NB_ERR_INPUT if sizes differ. */
nb_status nb_difference_picture(const nb_image *a, const nb_image *b,
                                const nb_compare_options *options,
                                const nb_png_options *colours, const char *path,
                                nb_error *err);

#define NB_PAGE_SPOTS 5000
struct nb_reflection;
/** Read the NB_PAGE_SPOTS brightest reflections of a text file of -truth spots, brightest
 * first. Missing F and d are NaN, a missing panel -1. Free *spots with free(). Errors:
 * NB_ERR_INPUT with the line, NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_read_page_spots(const char *path, struct nb_reflection **spots, int *n,
                             nb_error *err);

#define NB_PAGE_IMAGES 4  /* limit of the images to compare */
#define NB_PAGE_FRAMES 64 /* limit of the frames of a series */

/** Content of a page. The caller owns all memory. */
typedef struct nb_page_job {
    const nb_image *images;   /* [n] of one size; [0] is compared with the others */
    const char *const *names; /* [n] */
    int n;
    int is_series; /* 1: up to NB_PAGE_FRAMES frames for a slider; 0: images to compare */
    /* options with rings; NULL: usual rings, which are hidden at first */
    const nb_png_options *options;
    const struct nb_reflection *spots; /* [n_spots], the brightest first; or NULL */
    int n_spots;
    const char *title; /* NULL: the names */
    /* report, or NULL; each line has a name and a value, or cells between tabs */
    const char *report;
} nb_page_job;

/** Write a page (HTML, without other files) that shows images in a browser: pixel values,
 * rings, panels, and the difference of two images. Whole numbers are exact, others to 0.1
 * %. Several panels are assembled. Errors: NB_ERR_INPUT (other sizes), _IO, _NOMEM. */
nb_status nb_image_page(const nb_page_job *job, const char *path, nb_error *err);

/** True if `path` is the name of a page: it ends in .html. */
int nb_is_page(const char *path);

#ifdef __cplusplus
}
#endif
#endif
