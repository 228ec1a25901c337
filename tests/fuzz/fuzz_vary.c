/* SPDX-License-Identifier: MIT */
/* Laws of -vary: an accepted text gives the same finite numbers each time, or fails with
 * a message. */
#include <math.h>
#include <string.h>

#include "../../src/series/frames.h"
#include "fuzz.h"

/** Draws each number of three frames twice, with equal results; 1 if all succeed. */
static int check_draws(const nb_vary *v)
{
    int good = 1;
    NB_FUZZ_CHECK(v->n >= 0 && v->n <= NB_VARY_MAX); /* 0 for an empty text */
    for (int i = 0; i < v->n; i++)
        for (int k = 0; k < 3; k++) {
            const nb_crystal_at at = {k, k == 2};
            double x = NAN, y = NAN;
            nb_error err = {0};
            const nb_status st = nb_vary_draw(v, i, at, &x, &err);
            NB_FUZZ_CHECK(v->items[i].name[0]);
            NB_FUZZ_CHECK(nb_vary_draw(v, i, at, &y, NULL) == st);
            NB_FUZZ_CHECK(st ? err.code == st && err.message[0] : isfinite(x) && x == y);
            good = good && !st;
        }
    return good;
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    static nb_config cfg, frame;
    nb_series series;
    nb_error err = {0};
    nb_vary v;
    nb_status st;
    char *text = malloc(size + 1);
    int good = 0;
    NB_FUZZ_CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    nb_series_defaults(&series);
    series.frames = 3;
    series.stills = size % 2 == 0;
    nb_config_defaults(&cfg);
    cfg.seed = (nb_seed){1, 12345};
    cfg.fluence = 1e24;
    cfg.distance_mm = 100;
    cfg.mosaic_spread_deg = 0.2;
    cfg.cell_count = 1;
    cfg.cell[0] = 70;
    st = nb_vary_read(text, &cfg, &series, NULL, NULL, &v, &err);
    NB_FUZZ_CHECK(st == NB_OK || (err.code == st && err.message[0]));
    if (st == NB_OK) {
        good = check_draws(&v);
        nb_config_copy(&frame, &cfg);
        NB_FUZZ_CHECK(nb_vary_apply(&v, (nb_crystal_at){1, 0}, &frame, &err) == NB_OK ||
                      err.message[0]);
    }
    nb_vary_free(&v);
    free(text);
    return good;
}

NB_FUZZ_ENTRY
