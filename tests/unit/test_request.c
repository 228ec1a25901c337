/* SPDX-License-Identifier: MIT */
/* Requests: spans of a region and a mask; a few pixels have the bytes of the whole image,
 * at any place in memory; requests that no backend can serve are refused. */
#include "../support/check.h"
#include "../support/scenes.h"

#include "sim/sim.h"
#include "base/threads.h"
#include "base/memory.h"
#include "render/request.h"
#include "render/simd.h"
#include "../support/render.h"

enum { FAST = 67, SLOW = 23, PIXELS = FAST * SLOW };

static const nb_backend *backend_of(nb_isa isa)
{
    return isa == NB_ISA_SCALAR ? &nb_backend_scalar : &nb_backend_simd;
}

static nb_status render(const nb_scene *sc, nb_isa isa, const nb_request *request,
                        const nb_planes *planes, nb_error *err)
{
    nb_render_options options = {.threads = 2, .isa = isa};
    nb_backend_state *state;
    nb_status st;
    assert_int_equal(backend_of(isa)->open(&options, &state, err), NB_OK);
    st = backend_of(isa)->render(state, sc, request, planes, err);
    backend_of(isa)->close(state);
    return st;
}

#define MANY                                                                             \
    "-oversample 2 -mosaic 1 -mosaic_dom 3 -detector_thick 450 -detector_abs 300 "       \
    "-detector_thicksteps 2"

static nb_sim *sim_of(const char *words)
{
    nb_config cfg = nb_suite_config(1.2, 7, 0);
    nb_set_pixels(&cfg, FAST, SLOW);
    nb_words(&cfg, words);
    return created(&cfg);
}

/** A region with a mask: dark columns, rows, single pixels and stretches. */
static void fill_mask(uint8_t *mask)
{
    for (int i = 0; i < PIXELS; i++) {
        int f = i % FAST, s = i / FAST;
        mask[i] =
            !(f == 0 || s == 7 || (f > 20 && f < 24) || i % 11 == 3 || (s > 15 && f > 30));
        mask[i] *= 1 + i % 3; /* any number but 0 */
    }
}

static int is_rendered(const nb_raster *r, int i)
{
    int f = i % FAST, s = i / FAST;
    return f >= r->roi.fmin && f <= r->roi.fmax && s >= r->roi.smin && s <= r->roi.smax &&
           (!r->mask || r->mask[i]);
}

UNIT_TEST(spans_are_the_rendered_pixels)
{
    nb_sim *sim = sim_of("");
    nb_scene sc = sim->model.scene;
    uint8_t mask[PIXELS], seen[PIXELS] = {0};
    nb_span *spans;
    nb_error err;
    size_t n;
    assert_int_equal(nb_spans_build(&sc, &spans, &n, &err), NB_OK);
    assert_int_equal(n, SLOW); /* the mask gives one span per row */
    nb_free(spans);
    fill_mask(mask);
    sc.raster.mask = mask;
    sc.raster.roi = (nb_region){3, 60, 2, 20};
    assert_int_equal(nb_spans_build(&sc, &spans, &n, &err), NB_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(spans[i].at, spans[i].slow * FAST + spans[i].fast);
        for (int k = 0; k < spans[i].n; k++)
            seen[spans[i].at + (size_t)k]++;
    }
    for (int i = 0; i < PIXELS; i++)
        assert_int_equal(seen[i], is_rendered(&sc.raster, i));
    nb_free(spans);
    memset(mask, 0, sizeof mask);
    assert_int_equal(nb_spans_build(&sc, &spans, &n, &err), NB_OK);
    assert_int_equal(n, 0);
    nb_free(spans);
    nb_sim_free(sim);
}

/** Compares the pixels of the spans with the whole image; other pixels must be 0. */
static void check_part(const nb_scene *sc, nb_isa isa, nb_precision precision,
                       const nb_span *spans, size_t n, const float *whole)
{
    const nb_request request = {.spans = spans, .n = n, .precision = precision};
    float plane[PIXELS];
    const nb_planes planes = {plane, PIXELS};
    nb_error err = {0};
    size_t at = 0;
    for (int i = 0; i < PIXELS; i++)
        plane[i] = NAN;
    assert_int_equal(render(sc, isa, &request, &planes, &err), NB_OK);
    for (size_t i = 0; i < n; i++) {
        for (; at < spans[i].at; at++)
            assert_true(plane[at] == 0);
        assert_memory_equal(plane + at, whole + spans[i].slow * FAST + spans[i].fast,
                            (size_t)spans[i].n * sizeof *plane);
        at += (size_t)spans[i].n;
    }
    for (; at < PIXELS; at++)
        assert_true(plane[at] == 0);
}

/** Checks consecutive shoeboxes, single pixels, the corners, and the spans of a mask. */
static void check_parts(const nb_scene *sc, nb_isa isa, nb_precision precision)
{
    static const nb_span boxes[] = {
        {0, 30, 4, 5, 0},    {0, 30, 5, 5, 5},   {0, 30, 6, 5, 10},  {0, 2, 1, 33, 20},
        {0, 66, 22, 1, 100}, {0, 0, 22, 1, 101}, {0, 66, 0, 1, 102}, {0, 0, 0, 1, 200},
        {0, 9, 9, 1, 201},   {0, 11, 9, 2, 203}, {0, 40, 9, 8, 232}, {0, 30, 9, 4, 300}};
    float whole[PIXELS];
    uint8_t mask[PIXELS];
    nb_scene masked = *sc;
    nb_backend_state *state;
    nb_render_options options = {.threads = 2, .isa = isa};
    nb_span *spans;
    nb_error err = {0};
    size_t n;
    assert_int_equal(backend_of(isa)->open(&options, &state, &err), NB_OK);
    assert_int_equal(nb_render_scene(backend_of(isa), state, sc, precision, whole, &err),
                     NB_OK);
    backend_of(isa)->close(state);
    check_part(sc, isa, precision, boxes, sizeof boxes / sizeof *boxes, whole);
    check_part(sc, isa, precision, boxes, 1, whole);
    check_part(sc, isa, precision, NULL, 0, whole);
    fill_mask(mask);
    masked.raster.mask = mask;
    assert_int_equal(nb_spans_build(&masked, &spans, &n, &err), NB_OK);
    check_part(sc, isa, precision, spans, n, whole);
    nb_free(spans);
}

UNIT_TEST(parts_have_the_bytes_of_the_whole)
{
    static const char *const changes[] = {"", MANY, MANY " -curved_det"};
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        nb_sim *sim = sim_of(changes[c]);
        for (int isa = NB_ISA_SCALAR; isa <= NB_ISA_NEON; isa++) {
            nb_isa runs;
            if (nb_cpu_choose((nb_isa)isa, &runs, NULL))
                continue;
            for (int p = NB_PRECISION_MIXED; p <= NB_PRECISION_DOUBLE; p++)
                if (isa != NB_ISA_SCALAR || p == NB_PRECISION_DOUBLE)
                    check_parts(&sim->model.scene, runs, (nb_precision)p);
        }
        nb_sim_free(sim);
    }
}

/** Checks status and message of a refused request. */
static void check_refused_request(nb_request request, nb_status expected, const char *word)
{
    const nb_isa isas[] = {NB_ISA_SCALAR, NB_ISA_SSE2};
    nb_sim *sim = sim_of("");
    float plane[PIXELS];
    const nb_planes planes = {plane, PIXELS};
    for (int i = 0; i < 2; i++) {
        nb_error err = {0};
        nb_isa runs;
        if (nb_cpu_choose(isas[i], &runs, NULL))
            continue;
        assert_int_equal(render(&sim->model.scene, runs, &request, &planes, &err),
                         expected);
        assert_non_null(strstr(err.message, word));
    }
    nb_sim_free(sim);
}

UNIT_TEST(what_cannot_be_made_is_refused)
{
    const nb_span good = {0, 0, 0, 1, 0};
    const nb_span bad[][2] = {{{1, 0, 0, 1, 0}, good},            /* no such panel */
                              {{0, 60, 0, 8, 0}, good},           /* past the row */
                              {{0, 0, SLOW, 1, 0}, good},         /* past the panel */
                              {{0, 0, 0, 2, 0}, {0, 5, 0, 1, 1}}, /* spans overlap */
                              {{0, 0, 0, 2, PIXELS - 1}, good}};  /* past the plane */
    const nb_slope_job strange = {.scene = NULL};
    const nb_sums sums = {.job = &strange};
    check_refused_request((nb_request){.spans = &good, .n = 1, .sums = &sums},
                          NB_ERR_INTERNAL, "another scene");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused_request((nb_request){.spans = bad[i], .n = 2}, NB_ERR_INTERNAL,
                              "span");
}
