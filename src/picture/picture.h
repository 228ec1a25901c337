/* SPDX-License-Identifier: MIT */
/** Pictures for people: a canvas with text, images as greys or colours, panels as one
 * picture, and two images with their difference. */
#ifndef NB_PICTURE_PICTURE_H
#define NB_PICTURE_PICTURE_H

#include <stdint.h>

#include "../nanobragg.h"
#include "../physics/scene.h"

/* --- A canvas of 8-bit red, green and blue, and colours --- */

/* A 5 x 7 dot font of digits, a few letters and signs. */

#define NB_GLYPH_WIDTH 5
#define NB_GLYPH_HEIGHT 7

/** Rows of dots from the top; bit 4 is the leftmost dot. Blank if unknown. */
const uint8_t *nb_glyph(char c);

typedef struct nb_rgb {
    uint8_t r, g, b;
} nb_rgb;

typedef struct nb_canvas {
    int width, height;
    nb_rgb *pixels; /* [height][width]; owned: nb_free */
} nb_canvas;

/** Make a canvas of one colour. Errors: NB_ERR_NOMEM. */
nb_status nb_canvas_create(nb_canvas *canvas, int width, int height, nb_rgb colour,
                           nb_error *err);

/** Fill a rectangle. This function and the following ones leave out parts outside of the
 * canvas. */
void nb_canvas_fill(nb_canvas *canvas, int x, int y, int width, int height, nb_rgb colour);

/** Draw text in the font of canvas.c, each dot size x size pixels; signs that it lacks are
 * blank. x, y: upper left corner. */
void nb_canvas_text(nb_canvas *canvas, int x, int y, int size, nb_rgb colour,
                    const char *text);

/** Width and height of a text in pixels. */
int nb_text_width(const char *text, int size);
int nb_text_height(int size);

/** Colour of a level from 0 to 255. */
nb_rgb nb_colormap_at(nb_colormap map, int level);

/** Colour of pixels without a value: a colour that no level of the map has. */
nb_rgb nb_left_out_colour(nb_colormap map);

/** Colour of x from -1 (blue) over 0 (white) to 1 (red). */
nb_rgb nb_signed_colour(double x);

/* --- A float image as a picture of bytes or of colours --- */

/** The image to draw; the caller owns the pointers. */
typedef struct nb_picture_job {
    const float *image; /* [slow][fast] */
    int fast, slow;
    const nb_png_options *options;
    const nb_panel *panel; /* panel of the image, for rings; NULL without rings */
    double wavelength;     /* m */
    double pedestal;       /* pedestal of the image, or 0 */
    int marked; /* 1: pixels that are NaN have the colour of pixels without a value */
} nb_picture_job;

/** True if the picture needs only one byte per pixel. */
int nb_picture_is_grey(const nb_picture_job *job);

/** Draw the picture: one byte per pixel if grey, else an nb_rgb. Free *pixels
 * [slow][fast] with nb_free. Errors: NB_ERR_NOMEM, NB_ERR_INPUT (rings without a
 * detector). */
nb_status nb_picture_draw(const nb_picture_job *job, void **pixels, nb_error *err);

/* --- Draw circles of equal resolution and the beam centre over the picture of an image --- */

/** Draw labelled rings where d = lambda / (2 sin theta) is one of options->ring_A, and a
 * cross at the beam centre. The canvas has one pixel for each detector pixel. wavelength in
 * m. Errors: NB_ERR_NOMEM. */
nb_status nb_draw_rings(nb_canvas *canvas, const nb_panel *panel, double wavelength,
                        const nb_png_options *options, nb_error *err);

/* --- An 8-bit picture of a float image for viewing --- */

/** Conversion of values to greys, by curve and range of the public options. */
typedef struct nb_preview_options {
    nb_png_options png;
    int bright_spots; /* 0: spots are dark on white paper */
    double pedestal;  /* value of a pixel without photons; unused with NB_PNG_RANGE */
} nb_preview_options;

/** Make preview options without pedestal from public options, which may be NULL. */
nb_preview_options nb_preview_of(const nb_png_options *options);

/** Conversion of values to greys, chosen from an image and applied to its rows:
 * (curve(value) - low) times factor, or with by_fraction the curve of (value - low) times
 * factor. */
typedef struct nb_preview_levels {
    nb_preview_options options;
    double low, factor;
    int by_fraction;
} nb_preview_levels;

/** Choose levels for an image of `pixels` pixels. By default black is the percentile 99.5
 * of positive pixels, at least three medians: spots stand out from a smooth background.
 * White is the percentile 1, or 0 in an image of counts. Errors: NB_ERR_NOMEM. */
nb_status nb_preview_choose(const float *image, size_t pixels,
                            const nb_preview_options *options, nb_preview_levels *out,
                            nb_error *err);

/** Convert `pixels` values to greys. */
void nb_preview_apply(const nb_preview_levels *levels, const float *image, size_t pixels,
                      uint8_t *out);

/** Fill out[slow][fast] from image[slow][fast]. The pedestal is subtracted first. Pixels
 * that are then 0 or less (outside the region of interest, masked) look like the faintest
 * ones, except with NB_PNG_RANGE. With fixed ends the curve takes the fraction from low
 * to high: a power, or a logarithm over three decades. Errors: NB_ERR_NOMEM. */
nb_status nb_preview(const float *image, int fast, int slow,
                     const nb_preview_options *options, uint8_t *out, nb_error *err);

/* --- Smaller pictures of large images --- */

/** If an edge of the job's image exceeds the limit of options, show blocks of pixels, as
 * the brightest pixel or the sum of each block; left-out pixels do not count. The job
 * borrows *panel (rings) and *pixels, which the caller frees; else *pixels is NULL.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_shrink(nb_picture_job *job, nb_panel *panel, float **pixels, nb_error *err);

/* --- Panels of a detector as one picture --- */

/** Pixels of a panel in memory; the caller owns them. */
typedef struct nb_panel_pixels {
    const float *first;
    size_t stride; /* number of floats from one row to the next */
} nb_panel_pixels;

/** The picture, and its plane. The plane is at right angles to the beam, at the distance
 * of the panel nearest to the beam; fast is to the right and slow is down. */
typedef struct nb_assembly {
    int fast, slow;
    float *pixels;  /* [slow][fast]; owned: nb_free */
    nb_panel panel; /* plane, in the frame of the detector's vectors */
} nb_assembly;

/** Project all panels along the beam, with the pixel size of the first panel. A dot shows
 * the pixel under its middle, or `gap` if there is no pixel or detector->mask is 0 there.
 * pixels[n_panels]. Errors: NB_ERR_NOMEM, NB_ERR_INPUT (panels too far apart). */
nb_status nb_assemble(const nb_detector_spec *detector, const nb_panel_pixels *pixels,
                      float gap, nb_assembly *out, nb_error *err);

/* --- Two images and their difference side by side --- */

/** The shown images: one rectangle of a and b. stride: number of floats from one row to
 * the next. */
typedef struct nb_sheet {
    const float *a, *b; /* first pixel of the rectangle */
    int stride, fast, slow;
    const nb_png_options *colours; /* options of the colours, or NULL for the default */
    double pedestal;               /* pedestal of both images, or 0 */
} nb_sheet;

/** Draw a, b in the same colours, and a - b with its scale. Each dot shows the largest
 * pixel of a large image; small images are enlarged. The scale of a - b ends at a
 * percentile of |a - b|; the largest |a - b| is written. Free canvas->pixels with
 * nb_free. Errors: NB_ERR_NOMEM. */
nb_status nb_draw_sheet(const nb_sheet *sheet, nb_canvas *canvas, nb_error *err);

/* Pixels as short text, for pages that a browser reads (src/tools/page.html, function read). */

/** Whole numbers are exact if their text is short. Other numbers are unit sinh(step q), q
 * whole, with errors up to half a step of the number or of the unit. */
typedef struct nb_packed {
    int planes;        /* planes of bytes, lowest first, 1 to 4 */
    int delta;         /* 1: the text has differences, and q is their sum so far */
    double step, unit; /* 0: whole numbers */
    char *pixels;      /* owned; base64 of zlib */
    /* owned; a bit for each pixel, 1: no value; NULL: all pixels have values */
    char *mask;
} nb_packed;

/** Pack pixels[n]; NaN has no value. If the text would exceed `largest` bytes, errors
 * are 1 %, or up to 10 % as needed. Free *out, after an error too. NB_ERR_NOMEM. */
nb_status nb_pack_pixels(const float *pixels, size_t n, size_t largest, nb_packed *out,
                         nb_error *err);
void nb_packed_free(nb_packed *packed);

#endif
