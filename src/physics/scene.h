/* SPDX-License-Identifier: MIT */
/** The scene: all data of a renderer. SI units (m, rad), unit vectors, flat arrays. The
 * scene does not change after it is built (src/model/scene_build.h). It is plain data
 * without functions, so that it can be copied to a device with the addresses of its
 * arrays replaced. */
#ifndef NB_PHYSICS_SCENE_H
#define NB_PHYSICS_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "shapes.h"
#include "vec3.h"

/** A rectangle of pixels, both ends inclusive. */
typedef struct nb_region {
    int fmin, fmax, smin, smax;
} nb_region;

/** The image in memory: a stack of panels, one after the other, each with rows of pixels. */
typedef struct nb_raster {
    size_t pixels;       /* number of pixels of all panels */
    int columns, rows;   /* size of the stack; the widest panel gives its columns */
    nb_region roi;       /* the rendered region, inside the stack */
    const uint8_t *mask; /* [pixels], 0 = not rendered; NULL = all rendered */
} nb_raster;

/** The position of one piece of the detector, and of its pixels in the stack. */
typedef struct nb_panel {
    int columns, rows;
    int first_row;                 /* index of the panel's first row in the stack */
    size_t first_pixel;            /* index of the panel's first pixel in the stack */
    int sensor;                    /* index in the scene's sensors */
    double pixel_fast, pixel_slow; /* edges of a pixel, m */
    nb_vec3 fast, slow, normal;    /* unit */
    nb_vec3 pix0;                  /* outer corner of pixel (0,0), m */
    double close_distance;         /* shortest distance from sample to plane, m */
    int point_pixel;               /* the solid angle ignores the obliquity */
    double pixel_area; /* numerator of the solid angle, m^2 (1 for -compat point pixels) */
    /* The point where the beam meets the plane; a curved panel is a sphere around the
     * sample through this point. */
    nb_vec3 beam;        /* unit */
    double distance;     /* along the beam to the plane, m */
    double Fbeam, Sbeam; /* beam spot from the corner of pixel (0,0), m */
    int curved;
    int exact_omega; /* curved: use the solid angle on the sphere, not pixel^2/R^2 */
    nb_vec3 curved_fast, curved_slow; /* unit, perpendicular to beam and to each other */
} nb_panel;

/** The absorbing sensor of a panel, from its front face. */
typedef struct nb_sensor {
    int layers;        /* >= 1 */
    double layer_step; /* m */
    double mu;         /* attenuation coefficient, 1/m; capture is 1 when absorb = 0 */
    int absorb;        /* the sensor has thickness and attenuates */
    int mean_depth; /* layers are at the mean depth of their photons, not at their front */
} nb_sensor;

/** Beam from one direction at one wavelength. */
typedef struct nb_source {
    nb_vec3 incident; /* unit vector from source to sample */
    double lambda;    /* m */
    double weight;    /* intensity relative to the mean of all sources: I_i n / sum I */
    int table;        /* number of a table of F, 0 .. n_tables-1 */
} nb_source;

typedef struct nb_beam {
    int n_sources;
    const nb_source *sources;
    double polarization; /* Kahn's K */
    nb_vec3 polar_axis;  /* direction of the electric field as typed, unit */
    int nopolar;
} nb_beam;

/** The real-space cell in one orientation (one phi step, one mosaic domain), lab frame, m. */
typedef struct nb_orientation {
    nb_vec3 a, b, c;
} nb_orientation;

typedef struct nb_lattice {
    int n_orientations; /* phi steps * mosaic domains, phi outer */
    int n_phi, n_domains;
    const nb_orientation *orientations;
    int shape;    /* nb_shape: shapes.h */
    double N[3];  /* unit cells along a, b, c; >= 1 */
    double fudge; /* shape factor (-fudge) */
    /* for the laws of decay and edge (shapes.h): R^2 = d.M.d, d = h - h0. The elements xx
     * yy zz xy xz yz of M; mixed ones include a factor of 2 */
    double radius2[6];
} nb_lattice;

/** Structure-factor amplitudes over a box of Miller indices: one table, or a table for
 * each group of sources (nb_source.table). All tables have the same box. F[((table*nh +
 * h-hmin)*nk + k-kmin)*nl + l-lmin], electrons; outside the box: default_F. */
typedef struct nb_factor_table {
    int hmin, kmin, lmin;
    int nh, nk, nl;  /* 0: no table, every reflection is default_F */
    const double *F; /* n_tables*nh*nk*nl */
    double default_F;
    /* 1: tricubic where the 4x4x4 entries around a point are in the box */
    int interpolate;
    int measured; /* largest, least, dimmest and hash are set (nb_factor_table_measure) */
    double largest, least, dimmest; /* largest, smallest, smallest nonzero |F| */
    int n_tables;                   /* number of tables; 0 means 1 */
    uint64_t hash; /* hash of all F, if `measured` and n_tables > 1; else 0 */
} nb_factor_table;

typedef struct nb_factors {
    /* stored by value, so that a GPU kernel gets the table as a parameter */
    nb_factor_table table;
    double dmin; /* shortest d that scatters, m; 0: no limit */
} nb_factors;

/** A piece of a table: F from x to the next point. It is a cubic with Newton's divided
 * differences d1, d2, d3 over x, `next`, `before` and (d3) a fourth point. Its values are
 * limited to the range from F to F_next. If F is constant, all differences are 0. */
typedef struct nb_table_piece {
    double x;            /* sin(theta)/lambda at its start, 1/m; 0 for the first piece */
    double next, before; /* 1/m */
    double F, d1, d2, d3, F_next;
} nb_table_piece;

/** An amorphous material in the beam. Buckets of equal width speed up the search of a
 * piece: sin(theta)/lambda times `per` is the number of a bucket, limited to the last.
 * Bucket b has the pieces buckets[b] .. buckets[b + 1]. */
typedef struct nb_scatterer {
    int first_piece, first_bucket, n_buckets;
    double per;       /* m */
    double largest;   /* largest |F| of the table's points */
    double molecules; /* number of molecules in the beam / number of mosaic blocks */
} nb_scatterer;

typedef struct nb_amorphous {
    int n;
    const nb_scatterer *materials;
    const nb_table_piece *pieces;
    /* n_buckets + 1 indices of pieces for each material; these indices begin at 0 */
    const int32_t *buckets;
    uint64_t hash; /* hash of the tables, without the numbers of molecules */
} nb_amorphous;

typedef struct nb_scene {
    nb_raster raster;
    int n_panels;
    const nb_panel *panels;
    const nb_sensor *sensors;
    nb_beam beam;
    nb_lattice lattice;
    nb_factors factors;
    /* sampling */
    int oversample; /* sub-pixels along each edge */
    int oversample_polar, oversample_omega;
    int64_t samples; /* per pixel and layer: sources * orientations * oversample^2 */
    /* scale */
    double background;      /* water: F_bg^2 N_mol / blocks, electrons^2 per sample */
    double intensity_scale; /* r_e^2 * fluence * blocks / samples */
    const nb_amorphous *amorphous; /* NULL: the scene has no such material */
} nb_scene;

#endif
