/* SPDX-License-Identifier: MIT */
/** State of a render, panel by panel. */
#ifndef NB_CUDA_RENDER_JOB_H
#define NB_CUDA_RENDER_JOB_H

#include "../../src/physics/panels.h"
#include "state.h"

/** How a panel's work is divided: rows of a band, number of bands, and number of parts of
 * the steps. */
typedef struct nb_cuda_cut {
    int rows, bands, parts;
} nb_cuda_cut;

struct nb_render {
    nb_backend_state *state;
    const nb_scene *scene; /* scene with addresses of the host */
    nb_plan plan;
    nb_cuda_launch launch;
    nb_cuda_terms terms;
    /* device, [pixels of the stack]: pixels to render; NULL: all of the region */
    const uint8_t *lit;
    int max_parts;    /* limit of parts of a pixel's steps */
    nb_region region; /* region of the panel of the launch */
    nb_cuda_cut cut;  /* bands and parts of this panel */
    /* 1: jobs of all panels are on the device, so that a launch may render several */
    int kept;
    /* for each kind of job: the panels of a launch of several panels; NULL if a launch has
     * one panel */
    const nb_cuda_many *many[NB_CUDA_JOBS];
    int stays;   /* 1: the image is left on the device */
    int filled;  /* 1: the spans fill the region of interest of `scene` */
    int no_room; /* 1: there is too little memory for the tables of the path */
};
typedef struct nb_render nb_cuda_job;

/** How often a kernel leaves pixels as NaN, which are then calculated again. */
typedef enum nb_cuda_repair {
    NB_REPAIR_NONE,
    /* rare: a kernel leaves pixels only in images of few steps; the host checks the flag
     * after the download */
    NB_REPAIR_RARE,
    NB_REPAIR_ALWAYS
} nb_cuda_repair;

/** Functions of a path that calculates every step of the pixels of a launch. */
typedef struct nb_path_kernel {
    double (*rate)(const nb_plan *plan); /* steps per second */
    /** Fill job->terms, after nb_cuda_begin_terms. *fits = 0: memory is too small. NULL:
     * the path has no tables. */
    nb_status (*prepare)(nb_cuda_job *job, int *fits, nb_error *err);
    int (*parts)(const nb_cuda_job *job); /* limit of parts of a pixel's steps; NULL: 1 */
    /** Start the kernel for the window and a part of the steps. */
    void (*submit)(nb_cuda_job *job, int part);
    /** Write the job of the panel of the launch, job_bytes long; returns the number of
     * its blocks. before: number of blocks of all earlier panels. NULL:
     * nb_cuda_plain_job_of. */
    int (*job)(const nb_cuda_job *job, const nb_cuda_terms *terms, int before, void *to);
    size_t job_bytes;
    nb_cuda_repair repair;
    int adds_parts; /* 1: the sums over the parts of a pixel's steps are in state->sums */
} nb_path_kernel;

/** Functions of the current path; NULL if the path leaves steps out. */
static inline const nb_path_kernel *nb_cuda_kernel_of(const nb_backend_state *state)
{
    return state->path->kernel;
}

/* --- steps.cu, which also has nb_cuda_steps_prepare and nb_cuda_steps_run --- */
/** Clear the flag of repairs, and the pixels that no kernel writes. */
nb_status nb_cuda_clear(nb_cuda_job *job, nb_error *err);

/* --- cuts.cu --- */
nb_cuda_cut nb_cuda_cut_panel(const nb_cuda_job *job, int k);
/** End of the panels that share a launch with panel k: same sensor, and together at most
 * a third of a second. k + 1: panel k is alone. */
int nb_cuda_end_of_launch(const nb_cuda_job *job, int k);
int nb_cuda_count_launches(const nb_cuda_job *job);
/** Set the window to `rows` rows of the panel from first_row on. */
void nb_cuda_set_window(nb_cuda_job *job, int first_row, int rows);
/** Set job->launch to panel k; the window is the panel's whole region. */
void nb_cuda_turn(nb_cuda_job *job, int k);
/** The octets of steps of part `part` of the launch. */
nb_cuda_octets nb_cuda_octets_of(const nb_cuda_job *job, int part);

/* --- panels.cu --- */
/** job->terms with the steps of panel k, if the steps of all panels are kept. */
nb_cuda_terms nb_cuda_terms_of(const nb_cuda_job *job, int k);
/** Upload the jobs of all panels, and numbers of blocks before each panel and in all. */
nb_status nb_cuda_upload_jobs(nb_cuda_job *job, int which, nb_error *err);
/** The panels k to end - 1 of uploaded jobs, for a launch. */
nb_cuda_many nb_cuda_many_of(const nb_cuda_job *job, int which, int k, int end);

#endif
