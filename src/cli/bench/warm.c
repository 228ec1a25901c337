/* SPDX-License-Identifier: MIT */
/* Renders in this process, through the library, and the check of every image. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../progress.h"
#include "bench.h"

/* Short renders are repeated until they have taken this time, up to this number of times. */
#define SHORT_SECONDS 0.2
#define MORE_REPEATS 5

/** The reference of one image, for all renders of it. */
typedef struct known_picture {
    int valid;
    nb_bench_job job;
    nb_bench_reference reference;
} known_picture;

static int same_scene(const nb_bench_job *a, const nb_bench_job *b)
{
    return a->which == b->which && a->size == b->size && a->oversample == b->oversample &&
           a->domains == b->domains;
}

static nb_status take_reference(nb_bench *b, nb_bench_point *p, known_picture *picture,
                                nb_error *err)
{
    nb_hooks hooks = nb_bench_hooks();
    nb_status st = NB_OK;
    if (!picture->valid || !same_scene(&picture->job, &p->job)) {
        nb_bench_reference_free(&picture->reference);
        picture->valid = 0;
        st = nb_bench_reference_make(&p->job, 0, b->reference_steps, &hooks,
                                     &picture->reference, err);
        picture->job = p->job;
        picture->valid = !st;
    }
    p->steps = (double)picture->reference.steps;
    p->rows = nb_bench_reference_rows(&picture->reference);
    p->of_rows = picture->reference.slow;
    return st;
}

static void describe(const nb_bench_point *p, const char *how, char *text, size_t size)
{
    char job[200];
    nb_bench_job_text(&p->job, job, sizeof job);
    snprintf(text, size, "%s, %s: %s", p->program, how, job);
}

/** Check the images of the new processes. */
static nb_status check_cold(nb_bench *b, nb_bench_point *p, const known_picture *picture,
                            nb_error *err)
{
    nb_bench_bounds bounds =
        p->peer < 0 ? nb_bench_bounds_of(p->job.precision) : nb_bench_bounds_of_peer();
    char path[NB_PATH_MAX], what[260];
    nb_status st = NB_OK;
    describe(p, "fresh process", what, sizeof what);
    for (int v = 0; v < p->images && !st; v++) {
        nb_bench_figures f = {NAN, NAN, NAN};
        nb_image image;
        nb_bench_cold_image(b, p, v, path);
        if (access(path, F_OK))
            break;
        st = nb_image_read(path, p->job.size, p->job.size, NULL, &image, err);
        if (!st)
            f = nb_bench_reference_check(&picture->reference, image.pixels);
        nb_image_free(&image);
        if (!st)
            st = nb_bench_judge(b, what, bounds, &f, &p->worst, err);
        unlink(path);
    }
    return st;
}

/** Record why p has no times, if it would take too long. */
static int leave_out(const nb_bench *b, nb_bench_point *p, double seconds)
{
    if (seconds * b->opt->repeats <= b->opt->limit)
        return 0;
    snprintf(p->left_out, sizeof p->left_out,
             "%d renders of about %.3g s: above -limit %g s", b->opt->repeats, seconds,
             b->opt->limit);
    return 1;
}

/** How a point is rendered again and again. */
typedef struct repetition {
    nb_sim *sim;
    float *image; /* pixels for the images; NULL: the image stays on the device */
    size_t pixels;
    nb_bench_series *times;
} repetition;

/** One render; pixels that it does not write stay NaN. *made: the image. If it stayed on a
 * device, it is copied after the time was taken. */
static nb_status render(const repetition *r, const float **made, double *seconds,
                        nb_error *err)
{
    double start;
    nb_status st;
    if (r->image)
        memset(r->image, 0xff, r->pixels * sizeof *r->image);
    start = nb_clock();
    st = nb_sim_render(r->sim, r->image, NULL, err);
    *seconds = nb_clock() - start;
    *made = r->image;
    return st || r->image ? st : nb_sim_image(r->sim, made, err);
}

/** Renders of one point, each checked; the first is not timed. */
static nb_status repeat(nb_bench *b, nb_bench_point *p, const repetition *r,
                        const known_picture *picture, nb_error *err)
{
    const int repeats = b->opt->repeats;
    nb_bench_bounds bounds = nb_bench_bounds_of(p->job.precision);
    double seconds, sum = 0;
    char what[260];
    nb_status st = NB_OK;
    describe(p, "in this process", what, sizeof what);
    for (int k = -1; k < repeats || (sum < SHORT_SECONDS && k < repeats * MORE_REPEATS);
         k++) {
        nb_bench_figures f;
        const float *made;
        if ((st = render(r, &made, &seconds, err)))
            return st;
        f = nb_bench_reference_check(&picture->reference, made);
        st = nb_bench_judge(b, what, bounds, &f, &p->worst, err);
        if (st || (st = nb_bench_stopped(err)))
            return st;
        if (k < 0 && leave_out(b, p, seconds)) {
            p->tried_warm = seconds;
            return NB_OK;
        }
        if (k >= 0) {
            nb_bench_series_add(r->times, seconds);
            sum += seconds;
            p->images++;
        }
    }
    return NB_OK;
}

/** Render into host memory. In the size sweep a GPU also renders into its own memory, as
 * for programs that continue on the GPU. */
static nb_status repeat_both(nb_bench *b, nb_bench_point *p, repetition *r,
                             const known_picture *picture, nb_error *err)
{
    nb_status st = repeat(b, p, r, picture, err);
    if (st || p->left_out[0] || !strcmp(p->job.device, "cpu") || strcmp(p->sweep, "size"))
        return st;
    r->image = NULL;
    r->times = &p->resident;
    return repeat(b, p, r, picture, err);
}

static nb_status render_point(nb_bench *b, nb_bench_point *p,
                              const known_picture *picture, nb_error *err)
{
    nb_hooks hooks =
        nb_bench_hooks(); /* with statistics a render ends only when its image is complete */
    size_t pixels = (size_t)p->job.size * (size_t)p->job.size;
    float *image = malloc(pixels * sizeof *image);
    repetition r = {NULL, image, pixels, &p->warm};
    nb_config cfg;
    nb_status st = image ? nb_bench_config(&p->job, &cfg, err) : nb_bench_no_memory(err);
    if (!st)
        st = nb_sim_create(&cfg, &hooks, &r.sim, err);
    if (!st)
        st = repeat_both(b, p, &r, picture, err);
    if (!st)
        snprintf(p->backend, sizeof p->backend, "%s", nb_sim_backend(r.sim));
    nb_sim_free(r.sim);
    free(image);
    return st;
}

/** Estimated from earlier points; for the scalar renderer from the reference, which it
 * renders. */
static double expect(const nb_bench *b, const nb_bench_point *p,
                     const known_picture *picture)
{
    const nb_bench_reference *r = &picture->reference;
    double rows = nb_bench_reference_rows(r);
    if (p->job.isa == NB_ISA_SCALAR &&
        p->job.threads == b->opt->threads.v[b->opt->threads.count - 1])
        return r->seconds * r->slow / rows;
    return nb_bench_expected(b, p, 0);
}

static nb_status one_point(nb_bench *b, nb_bench_point *p, known_picture *picture,
                           nb_error *err)
{
    nb_status st;
    p->worst = (nb_bench_figures){1, 0, 0};
    if (p->left_out[0])
        return NB_OK;
    st = take_reference(b, p, picture, err);
    if (!st)
        st = check_cold(b, p, picture, err);
    if (st || p->peer >= 0 || leave_out(b, p, expect(b, p, picture)))
        return st;
    return render_point(b, p, picture, err);
}

nb_status nb_bench_run_warm(nb_bench *b, nb_error *err)
{
    known_picture picture;
    nb_status st = NB_OK;
    memset(&picture, 0, sizeof picture);
    for (int i = 0; i < b->point_count && !st; i++) {
        char what[260];
        describe(&b->points[i], "check and render", what, sizeof what);
        nb_bench_show(b, what);
        st = one_point(b, &b->points[i], &picture, err);
        if (!st)
            st = nb_bench_stopped(err);
        b->done += b->points[i].peer < 0;
    }
    nb_bench_reference_free(&picture.reference);
    return st;
}
