/* SPDX-License-Identifier: MIT */
/* Which pixels the search of a fit compares. */
#include "../support/check.h"

#include "sim/sim.h"
#include "base/memory.h"
#include "refine/fit.h"

enum { EDGE = 40, PIXELS = EDGE * EDGE, SPOT = 5 };

/** A fit whose pixels of every seventh row and column are not observed, and of others all are chosen; the first SPOT
 * columns are spots. */
static void open_fit(nb_fit *fit)
{
    nb_config cfg = nb_suite_config(1, 5, EDGE);
    nb_error err = {0};
    memset(fit, 0, sizeof *fit);
    assert_int_equal(nb_sim_create(&cfg, NULL, &fit->sim, &err), NB_OK);
    fit->pixels = PIXELS;
    fit->chosen = nb_alloc_raw(PIXELS, sizeof *fit->chosen, "photons", &err);
    fit->spots = nb_alloc(PIXELS, 1, "spots", &err);
    for (int i = 0; i < PIXELS; i++) {
        fit->chosen[i] = i % 7 == 0 ? NAN : (float)i;
        fit->spots[i] = i % EDGE < SPOT;
    }
}

static void close_fit(nb_fit *fit)
{
    nb_sim_free(fit->sim);
    nb_fit_free(fit);
}

/** Spans and pixels are the same ones, in order, where the stack has them. */
static void check_list(const nb_fit *fit, const nb_search_pixels *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_spans; i++) {
        const nb_span *s = &p->spans[i];
        assert_int_equal(s->at, s->slow * EDGE + s->fast);
        for (int f = 0; f < s->n; f++, n++) {
            assert_true(n < p->n);
            assert_int_equal(p->pixel[n], s->at + (size_t)f);
            assert_true(n == 0 || p->pixel[n] > p->pixel[n - 1]);
            assert_false(isnan(fit->chosen[p->pixel[n]]));
        }
    }
    assert_int_equal(n, p->n);
}

UNIT_TEST(all_that_is_chosen)
{
    nb_fit fit;
    nb_search_pixels p;
    nb_error err = {0};
    size_t chosen = 0;
    open_fit(&fit);
    for (int i = 0; i < PIXELS; i++)
        chosen += !isnan(fit.chosen[i]);
    assert_int_equal(nb_search_pixels_list(&fit, 0, PIXELS, &p, &err), NB_OK);
    check_list(&fit, &p);
    assert_int_equal(p.n, chosen);
    nb_search_pixels_free(&p);
    close_fit(&fit);
}

UNIT_TEST(rows_of_spots)
{
    nb_fit fit;
    nb_search_pixels p;
    nb_error err = {0};
    open_fit(&fit);
    assert_int_equal(nb_search_pixels_list(&fit, 1, 50, &p, &err), NB_OK);
    check_list(&fit, &p);
    assert_in_range(p.n, 35, 50);
    for (size_t i = 0; i < p.n; i++) {
        assert_true(fit.spots[p.pixel[i]]);
        assert_int_equal(p.pixel[i] / EDGE % 4, 0); /* of 171 pixels every fourth row */
    }
    nb_search_pixels_free(&p);
    close_fit(&fit);
}

/** Without spots the others; and rows in which there are none are not all there is. */
UNIT_TEST(there_is_always_some)
{
    nb_fit fit;
    nb_search_pixels p;
    nb_error err = {0};
    open_fit(&fit);
    memset(fit.spots, 0, PIXELS);
    assert_int_equal(nb_search_pixels_list(&fit, 1, PIXELS, &p, &err), NB_OK);
    check_list(&fit, &p);
    assert_true(p.n > PIXELS / 2);
    nb_search_pixels_free(&p);
    memset(fit.spots + 7 * EDGE, 1, EDGE);
    assert_int_equal(nb_search_pixels_list(&fit, 1, 2, &p, &err), NB_OK);
    check_list(&fit, &p);
    assert_true(p.n > EDGE / 2);
    nb_search_pixels_free(&p);
    close_fit(&fit);
}
