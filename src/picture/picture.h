/* SPDX-License-Identifier: MIT */
/** Pictures for people: a canvas with text, images as greys or colours, graphs, panels as one picture, and two images
 * with their difference. */
#ifndef NB_PICTURE_PICTURE_H
#define NB_PICTURE_PICTURE_H

#include <stdint.h>

#include "../nanobragg.h"
#include "../physics/scene.h"

/* --- A canvas of 8-bit red, green and blue, and colours --- */

/* A 5 x 7 dot font of capitals, digits and a few signs. */

#define NB_GLYPH_WIDTH 5
#define NB_GLYPH_HEIGHT 7

/** Rows from the top; bit 4 is the leftmost dot.  Unknown characters are blank. */
const uint8_t *nb_glyph(char c);

typedef struct nb_rgb {
    uint8_t r, g, b;
} nb_rgb;

typedef struct nb_canvas {
    int width, height;
    nb_rgb *pixels; /* [height][width]; owned: nb_free */
} nb_canvas;

/** A canvas of one colour.  Errors: NB_ERR_NOMEM. */
nb_status nb_canvas_create(nb_canvas *canvas, int width, int height, nb_rgb colour,
                           nb_error *err);

/** Fill a rectangle. Parts outside of the canvas are left out, here and below. */
void nb_canvas_fill(nb_canvas *canvas, int x, int y, int width, int height, nb_rgb colour);

/** Text of letters, digits and + - . , : ; = % / ( ) in a 5 x 7 font, each dot size x size
 * pixels; other signs are blanks. x, y: the upper left
 * corner. */
void nb_canvas_text(nb_canvas *canvas, int x, int y, int size, nb_rgb colour,
                    const char *text);

/** Width and height of a text in pixels. */
int nb_text_width(const char *text, int size);
int nb_text_height(int size);

/** The colour of a level 0..255. */
nb_rgb nb_colormap_at(nb_colormap map, int level);

/** The colour of pixels without a value, which is not a colour of the map. */
nb_rgb nb_left_out_colour(nb_colormap map);

/** Red above, blue below, white at 0; x from -1 to 1. */
nb_rgb nb_signed_colour(double x);

/* --- A float image as a picture of bytes or of colours --- */

/** The image to draw; the caller owns the pointers. */
typedef struct nb_picture_job {
    const float *image; /* [slow][fast] */
    int fast, slow;
    const nb_png_options *options;
    const nb_panel *panel; /* of the image, for rings; may be NULL without them */
    double wavelength;     /* m */
    double pedestal;       /* of the image; 0 none */
    int marked; /* pixels that are NaN are left out and have a colour of their own */
} nb_picture_job;

/** Is one byte per pixel enough? */
int nb_picture_is_grey(const nb_picture_job *job);

/** The picture: one byte per pixel if it is grey, else an nb_rgb. Free *pixels [slow][fast]
 * with nb_free. Errors: NB_ERR_NOMEM, NB_ERR_INPUT (rings without a detector). */
nb_status nb_picture_draw(const nb_picture_job *job, void **pixels, nb_error *err);

/* --- Draw circles of equal resolution and the beam centre over the picture of an image --- */

/** Draw labelled rings where d = lambda / (2 sin theta) is one of options->ring_A, and a
 * cross at the beam centre. The canvas has one pixel for each detector pixel. wavelength in
 * m. Errors: NB_ERR_NOMEM. */
nb_status nb_draw_rings(nb_canvas *canvas, const nb_panel *panel, double wavelength,
                        const nb_png_options *options, nb_error *err);

/* --- An 8-bit picture of a float image for viewing --- */

/** How values become greys: by the curve and the range of public options. */
typedef struct nb_preview_options {
    nb_png_options png;
    int bright_spots; /* 0: spots are dark on white paper */
    double pedestal;  /* the value of a pixel without photons; not with NB_PNG_RANGE */
} nb_preview_options;

/** From the public options, which may be NULL; no pedestal. */
nb_preview_options nb_preview_of(const nb_png_options *options);

/** The conversion of values to greys, chosen from an image and applied to its rows:
 * (curve(value) - low) factor, or the curve of the fraction between two values. */
typedef struct nb_preview_levels {
    nb_preview_options options;
    double low, factor;
    int by_fraction;
} nb_preview_levels;

/** The levels for an image of `pixels` pixels.  By default black is the percentile 99.5 of the positive pixels, at least
 * three medians, so that spots stand out from a smooth background; white is their percentile 1, or 0 in an image of
 * counts.  Errors: NB_ERR_NOMEM. */
nb_status nb_preview_choose(const float *image, size_t pixels,
                            const nb_preview_options *options, nb_preview_levels *out,
                            nb_error *err);

/** Greys of `pixels` values. */
void nb_preview_apply(const nb_preview_levels *levels, const float *image, size_t pixels,
                      uint8_t *out);

/** Fill out[slow][fast] from image[slow][fast]. The pedestal is subtracted first. Pixels
 * that are then 0 or less (outside the region of interest, masked) look like the faintest
 * ones, except with NB_PNG_RANGE. With fixed ends the curve is applied to the fraction
 * from low to high: its power, or three decades of its logarithm. Errors: NB_ERR_NOMEM. */
nb_status nb_preview(const float *image, int fast, int slow,
                     const nb_preview_options *options, uint8_t *out, nb_error *err);

/* --- Smaller pictures of large images --- */

/** If an edge of the job's image has more than options->most pixels, show square blocks of it instead: of
 * each the brightest pixel, or the sum of all, without those that are left out.  The job then borrows *panel
 * (rings) and *pixels, which is the caller's (nb_free); else *pixels is NULL.  Errors: NB_ERR_NOMEM. */
nb_status nb_shrink(nb_picture_job *job, nb_panel *panel, float **pixels, nb_error *err);

/* --- A graph: axes with numbers, lines, bars --- */

/** What is outside of the axes is drawn at their ends. */
typedef struct nb_graph {
    int width, height;     /* of the canvas, pixels */
    nb_canvas canvas;      /* owned pixels: nb_free */
    double x0, x1, y0, y1; /* the limits of the axes */
} nb_graph;

/** Words of a graph: its title, and what its axes are. */
typedef struct nb_graph_words {
    const char *title, *x, *y;
} nb_graph_words;

/** An empty graph of g->width x g->height pixels; x, y: the limits of its axes.  Errors: NB_ERR_NOMEM. */
nb_status nb_graph_create(nb_graph *g, const double x[2], const double y[2],
                          const nb_graph_words *words, nb_error *err);
void nb_graph_line(nb_graph *g, double x0, double y0, double x1, double y1, nb_rgb colour);
/** A bar from the lower end of the axis to y. */
void nb_graph_bar(nb_graph *g, double x0, double x1, double y, nb_rgb colour);

/* --- Panels of a detector as one picture --- */

/** The pixels of a panel in memory; the caller owns them. */
typedef struct nb_panel_pixels {
    const float *first;
    size_t stride; /* of rows */
} nb_panel_pixels;

/** The picture, and the plane that it shows: across the beam, at the distance of the panel nearest to
 * it, fast to the right and slow down. */
typedef struct nb_assembly {
    int fast, slow;
    float *pixels;  /* [slow][fast]; owned: nb_free */
    nb_panel panel; /* of the plane, in the frame of the detector's vectors */
} nb_assembly;

/** Project all panels along the beam, at the first panel's pixel size. A dot shows the pixel under
 * its middle, or `gap` if there is none or mask is 0 there (mask: of the stack, or NULL).
 * pixels[n_panels]. Errors: NB_ERR_NOMEM, NB_ERR_INPUT (panels too far apart for a picture). */
nb_status nb_assemble(const nb_detector_spec *detector, const nb_panel_pixels *pixels,
                      float gap, nb_assembly *out, nb_error *err);

/* --- Two images and their difference side by side --- */

/** The shown images: the same rectangle of a and b, [slow][fast], with a row distance of
 * `stride` pixels. */
typedef struct nb_sheet {
    const float *a, *b; /* the rectangle's first pixel */
    int stride, fast, slow;
    const nb_png_options *colours; /* NULL: the default */
    double pedestal;               /* of both images; 0 none */
} nb_sheet;

/** Draw a, b in the same colours, and a - b with its scale. Large images are reduced: each dot
 * shows the largest of its pixels. Small images are enlarged. The scale of a - b ends at a
 * percentile of its magnitude; the largest value is written next to it. Free the pixels of
 * *canvas with nb_free. Errors: NB_ERR_NOMEM. */
nb_status nb_draw_sheet(const nb_sheet *sheet, nb_canvas *canvas, nb_error *err);

/* Pixels as short text, for pages that a browser reads (src/tools/page.html, function read). */

/** Whole numbers are exact, where their text is short enough.  Others are unit sinh(step q) with whole q: to half a step of
 * their value, or of the unit. */
typedef struct nb_packed {
    int planes;        /* of bytes, the lowest first, 1 to 4 */
    int delta;         /* q is the sum of all numbers so far */
    double step, unit; /* 0: whole numbers */
    char *pixels;      /* base64 of zlib; owned */
    char *mask;        /* of bits, 1: no value; owned; NULL: all pixels have one */
} nb_packed;

/** Pixels [n]; NaN has no value.  Whole numbers whose text is longer than `most` bytes are kept to 1 % of their value or
 * less well, until it is not.  nb_packed_free, after an error too.  Errors: NB_ERR_NOMEM. */
nb_status nb_pack_pixels(const float *pixels, size_t n, size_t most, nb_packed *out,
                         nb_error *err);
void nb_packed_free(nb_packed *packed);

#endif
