/* SPDX-License-Identifier: MIT */
/** The state of the renderer, with device memory, which is kept between renders. */
#ifndef NB_CUDA_STATE_H
#define NB_CUDA_STATE_H

#include "internal.h"

extern "C" {
#include "../../src/plan/spots.h"
}

/** An array on the device, with a host copy so that equal data are not sent again. */
typedef struct nb_cuda_mirror {
    nb_cuda_buffer device; /* owned */
    void *sent;            /* owned */
    size_t bytes;          /* bytes of `sent`; 0: not valid */
} nb_cuda_mirror;

static inline void nb_cuda_release_mirror(nb_cuda_mirror *mirror)
{
    nb_cuda_release(&mirror->device);
    nb_free(mirror->sent);
}

enum { NB_CUDA_STREAMS = 4 };

/** Kinds of jobs of panels: for the fast kernel of a path, and for kernels in double. */
enum { NB_JOBS_FAST, NB_JOBS_PLAIN, NB_CUDA_JOBS };

/** Transforms of the point spread of fibre optics, kept for the next image; fibre.cu
 * defines nb_cuda_fibre. */
typedef struct nb_cuda_fibres {
    struct nb_cuda_fibre *first; /* owned */
    nb_cuda_buffer data, work;
} nb_cuda_fibres;

/** Data for the stages of the noise. */
typedef struct nb_cuda_chains {
    nb_cuda_mirror panels, weights, map;
    nb_cuda_buffer light, between; /* [pixels] doubles, owned */
    nb_cuda_fibres fibres;
    int has_light; /* 1: `light` belongs to the last image */
    int no_fft;    /* 1: the library of transforms was missing */
} nb_cuda_chains;

/** Products of the last image, and their transfer to the host. */
typedef struct nb_cuda_products {
    nb_cuda_buffer image[NB_PRODUCTS_MAX], sums; /* owned */
    nb_cuda_chains chains;
    size_t pixel_bytes[NB_PRODUCTS_MAX];
    size_t columns; /* size of the last image: columns and rows */
    int rows;
    nb_cuda_pieces pieces;
    uint32_t taken;                        /* bit k: piece k is in use */
    cudaStream_t streams[NB_CUDA_STREAMS]; /* streams of the threads that fetch rows */
    cudaEvent_t began, ended;
    double seconds;      /* time on the device, summed */
    int64_t download_ns; /* time of downloads, summed over threads */
} nb_cuda_products;

/** Data for the spread of the Bragg light (footprint.cu). */
typedef struct nb_cuda_footprint {
    nb_cuda_mirror panels, tiles, taps, numbers, mask;
    nb_cuda_buffer out; /* image, owned */
} nb_cuda_footprint;

/** Everything that the jobs of a scene's panels depend on. It is compared byte by byte,
 * so it has no padding. */
typedef struct nb_cuda_jobs_of {
    nb_scene scene; /* pointers as in nb_cuda_launch; the mask is that of the stack */
    nb_cuda_terms terms;
    const nb_path *path;
    nb_precision precision;
    const void *image;
    uint64_t change; /* nb_backend_state.change */
} nb_cuda_jobs_of;

enum { NB_CUDA_LIGHTS = 8 };

/** A table of diffuse light on the device. */
typedef struct nb_cuda_diffuse_table {
    nb_cuda_buffer at; /* owned: the nb_diffuse_table, then its arrays */
    uint64_t mark;     /* mark of the host's table; 0: no table */
} nb_cuda_diffuse_table;

/** Data for diffuse light (light.cu). */
typedef struct nb_cuda_diffuse {
    nb_cuda_diffuse_table tables[NB_CUDA_LIGHTS]; /* the last used table first */
    nb_cuda_mirror beams, cells, sources, panels;
    nb_cuda_buffer nodes; /* owned */
} nb_cuda_diffuse;

/** Planes that are mixed with the image (mix.cu). */
typedef struct nb_cuda_mix {
    nb_cuda_buffer transmission, add, light, absorb, under; /* owned */
    nb_cuda_mirror rows;                                    /* nb_mix_row of the stack */
    uint64_t hash;        /* hash of transmission and add; 0: not uploaded */
    uint64_t absorb_hash; /* hash of `absorb` */
    uint64_t under_key;   /* hash of `under` */
} nb_cuda_mix;

struct nb_backend_state {
    nb_render_options options;
    nb_cuda_device device;
    cudaStream_t stream;
    cudaEvent_t bands[2];     /* ends of the last two launches */
    cudaEvent_t began, ended; /* first and last event of the last render's kernels */
    nb_cuda_ring *ring;       /* owned */
    int *repair;              /* pinned, owned: set by kernels, see nb_cuda_launch */
    double *brightest;        /* pinned, owned: photons of a search's brightest pixel */
    const nb_path *path;      /* path of the last render */
    int asked;                /* 1: the user set a tolerance for the last render */
    nb_path_notes notes;      /* notes on the last image */
    /* device memory, owned */
    nb_cuda_buffer image, F, sums, terms, weights, tables, F2, small;
    nb_cuda_buffer spot_sums;  /* sums of terms as integers; all 0 between renders */
    nb_cuda_buffer spot_boxes; /* boxes of spots that wait to be drawn */
    /* number of pixels of spot_sums; 0: spot_sums must be cleared */
    size_t spot_pixels;
    nb_cuda_mirror spot_tables, tile_tables;
    nb_cuda_buffer tile_pairs, tile_queue;
    /* sum of the images of the crystals that are already rendered */
    nb_cuda_buffer aside;
    nb_cuda_mirror sources, orientations, spans;
    /* tables of the scene's materials */
    nb_cuda_mirror amorphous, materials, pieces, buckets;
    nb_cuda_mirror mask; /* mask of the stack */
    /* host address of the mask in `mask`; NULL: the last render had no mask */
    const uint8_t *mask_of;
    /* host copies only: kernels get panels and sensors by value */
    nb_cuda_mirror panels, sensors;
    nb_cuda_mirror jobs[NB_CUDA_JOBS]; /* jobs of launches of several panels */
    nb_cuda_jobs_of jobs_of[NB_CUDA_JOBS];
    uint64_t change; /* counts the changes of all host copies except jobs */
    int aimed;       /* 1: `prepared` has the steps of all panels of jobs[NB_JOBS_FAST] */
    /* marks of the pixels of the last request whose spans did not fill a rectangle */
    nb_cuda_buffer lit;
    size_t F_count; /* entries of the uploaded table, and their hash */
    uint64_t F_hash;
    nb_cuda_products products;
    nb_cuda_footprint footprint;
    nb_cuda_mix mix;
    nb_cuda_diffuse diffuse;
    /* tables of the last scene, which are used again for the same scene */
    nb_scene prepared_scene; /* pointers as in nb_cuda_launch */
    nb_cuda_terms prepared;
    const nb_path *prepared_path;
    int is_prepared;
    struct nb_cuda_slopes *slopes; /* owned; for derivatives */
};

/** Memory of derivatives (slopes.cu). */
typedef struct nb_cuda_slopes nb_cuda_slopes;
void nb_cuda_slopes_free(nb_cuda_slopes *slopes); /* NULL is allowed */
/** Make the slopes of a request (request->sums) for its sink (slopes/slope_products.cu).
 * Errors: NB_ERR_NOMEM, NB_ERR_DEVICE, NB_ERR_CANCELLED. */
nb_status nb_cuda_render_slopes(nb_backend_state *state, const nb_request *request,
                                nb_error *err);

/** Byte offsets in state->small. */
enum {
    NB_SMALL_REPAIR = 0,
    NB_SMALL_BRIGHTEST = 8,  /* brightest pixel: the bits of a double */
    NB_SMALL_OVERLOADS = 16, /* NB_PRODUCTS_MAX 64-bit counters */
    NB_SMALL_TILES = 64,     /* a tile_report of tiles.cu */
    NB_SMALL_LOOK = 128,     /* an nb_cuda_look */
    NB_SMALL_SPOTS = 160,    /* counters of boxes */
    NB_SMALL_BYTES = 176
};

/** Upload the arrays of the scene, unless the same ones are on the device, and fill
 * *launch with their addresses and the first panel. */
nb_status nb_cuda_upload(nb_backend_state *state, const nb_scene *scene,
                         nb_cuda_launch *launch, nb_error *err);

/** Upload an array, unless the same bytes are on the device. */
nb_status nb_cuda_upload_mirror(nb_backend_state *state, nb_cuda_mirror *mirror,
                                const void *from, size_t bytes, const char *what,
                                nb_error *err);

/** Set the launch to a panel of the host's scene, without its window. lit: marks of the
 * pixels of the stack, or NULL for all pixels of the window. */
void nb_cuda_set_panel(const nb_backend_state *state, const nb_scene *scene, int panel,
                       const uint8_t *lit, nb_cuda_launch *launch);

/** True if `bytes` fit the buffer of F^2, or half of the free memory. */
int nb_cuda_has_room(const nb_backend_state *state, double bytes);

/** Fill the common part of the tables of fast kernels. */
void nb_cuda_begin_terms(const nb_plan *plan, nb_cuda_terms *terms);

/** Fill F2 for the box of reflections that the panels can see. *fits = 0: the box is too
 * large. */
nb_status nb_cuda_prepare_F2(nb_backend_state *state, const nb_plan *plan,
                             const nb_cuda_launch *launch, nb_cuda_factor_squares *F2,
                             int *fits, nb_error *err);

/** Fill terms->direct, if it is not NULL, for the panel of the launch. */
void nb_cuda_aim_terms(const nb_cuda_launch *launch, const nb_cuda_terms *terms);
/** nb_cuda_aim_terms for all panels of a scene; panels, apart: as in
 * nb_cuda_launch_panels_steps. */
void nb_cuda_aim_panels(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                        const void *panels, size_t apart);

/** True if this machine may have a device. The driver is not called. */
int nb_cuda_may_be_present(void);

/* --- steps.cu --- */

/* --- render.cu --- */
/** Render the pixels of a request into the image on the device, and copy it to `image`,
 * or leave it there if `image` is NULL. */
nb_status nb_cuda_render_request(nb_backend_state *state, const nb_scene *scene,
                                 const nb_request *request, float *image, nb_error *err);

/* --- spans.cu --- */
/** Refuse requests that have pixels whose index in the planes differs from their index in
 * the stack. */
nb_status nb_cuda_check_places(const nb_request *request, const nb_scene *scene,
                               nb_error *err);
/** Set *lit to bytes[pixels] on the device: 1 in the spans, 0 elsewhere; request->n > 0. */
nb_status nb_cuda_light(nb_backend_state *state, const nb_request *request, size_t pixels,
                        const uint8_t **lit, nb_error *err);

#endif
