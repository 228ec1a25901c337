/* SPDX-License-Identifier: MIT */
/* Shared data of simulations: objects with several owners; inputs of a simulation and its
 * clones, which may be freed in any order. */
#include "../support/check.h"

#include <pthread.h>

#include "base/memory.h"
#include "base/store.h"
#include "sim/sim.h"

enum { FAST = 24, SLOW = 20, PANELS = 2, PIXELS = PANELS * FAST * SLOW, SIDE = 9 };

static int cleared;

static void count_clear(void *object)
{
    cleared += *(int *)object;
}

UNIT_TEST(the_last_holder_frees)
{
    nb_error err = {0};
    int *object = nb_shared_new(sizeof *object, count_clear, "number", &err);
    assert_non_null(object);
    assert_int_equal(*object, 0);
    assert_int_equal((uintptr_t)object % _Alignof(max_align_t), 0);
    *object = 7;
    cleared = 0;
    assert_true(nb_shared_is_own(object));
    assert_ptr_equal(nb_shared_hold(object), object);
    assert_false(nb_shared_is_own(object));
    nb_shared_drop(object);
    assert_int_equal(cleared, 0);
    assert_int_equal(*object, 7);
    nb_shared_drop(object);
    assert_int_equal(cleared, 7);
    assert_null(nb_shared_hold(NULL));
    nb_shared_drop(NULL);
}

UNIT_TEST(memory_that_is_not_there_is_an_error)
{
    nb_error err = {0};
    assert_null(nb_shared_new(SIZE_MAX, NULL, "number", &err));
    assert_int_equal(err.code, NB_ERR_NOMEM);
    nb_alloc_fail_after(1);
    assert_null(nb_shared_copy("abc", 4, "text", &err));
    nb_alloc_fail_after(0);
    assert_null(nb_shared_copy(NULL, 4, "text", &err));
}

static void *hold_and_drop(void *object)
{
    for (int i = 0; i < 20000; i++) {
        nb_shared_hold(object);
        nb_shared_drop(object);
    }
    nb_shared_drop(object);
    return NULL;
}

UNIT_TEST(threads_may_hold_and_drop)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int *object = nb_shared_new(sizeof *object, count_clear, "number", NULL);
    assert_non_null(object);
    *object = 1;
    cleared = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, hold_and_drop, nb_shared_hold(object)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(cleared, 0);
    nb_shared_drop(object);
    assert_int_equal(cleared, 1);
}

/* --- simulations --- */

static int32_t hkl[SIDE * SIDE * SIDE][3];
static double F[SIDE * SIDE * SIDE];
static uint8_t mask[PIXELS];
static const double waves[2] = {1e-10, 1.02e-10};
static const double matrix[9] = {0.8e-2, -0.6e-2, 0, 0.6e-2, 0.8e-2, 0, 0, 0, 1e-2};

static nb_arrays everything(void)
{
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        hkl[i][0] = i / (SIDE * SIDE) - SIDE / 2;
        hkl[i][1] = i / SIDE % SIDE - SIDE / 2;
        hkl[i][2] = i % SIDE - SIDE / 2;
        F[i] = 50 + i % 97;
    }
    for (int i = 0; i < PIXELS; i++)
        mask[i] = i % 7 != 3;
    return (nb_arrays){.hkl = (const int32_t(*)[3])hkl,
                       .F = F,
                       .reflections = SIDE * SIDE * SIDE,
                       .mask = mask,
                       .mask_fast = FAST,
                       .mask_slow = PANELS * SLOW,
                       .wavelength = waves,
                       .sources = 2,
                       .matrix = matrix};
}

/** Two panels, one below the other, 100 mm away. */
static nb_detector_spec two_panels(void)
{
    nb_detector_spec d;
    nb_error err = {0};
    assert_int_equal(nb_detector_spec_new(PANELS, &d, &err), NB_OK);
    for (int k = 0; k < PANELS; k++) {
        nb_panel_spec *p = &d.panels[k];
        snprintf(p->name, sizeof p->name, "p%d", k);
        p->size[0] = FAST;
        p->size[1] = SLOW;
        p->pixel[0] = p->pixel[1] = 1e-4;
        p->origin[0] = -FAST * 0.5e-4;
        p->origin[1] = (k - 1) * SLOW * 1e-4;
        p->origin[2] = 0.1;
        p->fast[0] = p->slow[1] = 1;
        p->fast[1] = p->fast[2] = p->slow[0] = p->slow[2] = 0;
        p->gain = 1;
    }
    return d;
}

/** A simulation from arrays and a file. kind 0: tables of F as given; 1: tables made
 * with B_add; 2: a detector of two panels. */
static nb_sim *simulation(int kind)
{
    const nb_arrays a = everything();
    nb_detector_spec panels = two_panels();
    static const float gain[PIXELS];
    nb_config cfg = nb_suite_config(1, 5, 0);
    nb_error err = {0};
    nb_sim *sim;
    nb_set_pixels(&cfg, FAST, PANELS * SLOW);
    cfg.cell_count = 0;
    cfg.default_F = NAN;
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    assert_int_equal(nb_put(&cfg, "background", "water:0.05", &err), NB_OK);
    nb_put_scratch(&cfg.gainmap_file, "inputs.gain");
    assert_true(nb_scratch_write(cfg.gainmap_file, gain, sizeof gain));
    if (kind == 1)
        cfg.B_add = 5;
    if (kind == 2) {
        nb_set_pixels(&cfg, 0, 0);
        cfg.detector = &panels;
        cfg.distance_mm = NAN;
    }
    sim = created(&cfg);
    assert_int_equal(sim->in.sums != NULL, kind == 1);
    assert_int_equal(sim->in.files->spec.n_panels, kind == 2 ? PANELS : 0);
    nb_detector_spec_free(&panels);
    nb_config_drop(&cfg);
    return sim;
}

static nb_sim *cloned(const nb_sim *sim)
{
    nb_sim *clone;
    nb_error err = {0};
    if (nb_sim_clone(sim, NULL, 1, &clone, &err))
        fail_msg("clone: %s", err.message);
    return clone;
}

/** Checks that configuration and settings point to the inputs of this simulation. */
static void check_pointers(const nb_sim *sim)
{
    const nb_config *shown[] = {&sim->cfg, &sim->model.settings.value};
    const int panels = sim->in.files->spec.n_panels;
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(shown[i]->arrays, &sim->in.arrays);
        assert_ptr_equal(shown[i]->detector, panels ? &sim->in.detector : NULL);
    }
}

static void render(nb_sim *sim, float image[PIXELS])
{
    nb_error err = {0};
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
}

static void check_alone(nb_sim *sim, const float want[PIXELS])
{
    static float image[PIXELS];
    nb_error err = {0};
    render(sim, image);
    assert_memory_equal(image, want, sizeof image);
    assert_int_equal(nb_sim_retype(sim, nb_sim_record(sim), NULL, 0, &err), NB_OK);
    render(sim, image);
    assert_memory_equal(image, want, sizeof image);
    check_pointers(sim);
    assert_int_equal(nb_sim_set(sim, "threads", "1", &err), NB_OK); /* reloads inputs */
    check_pointers(sim);
    render(sim, image);
    assert_memory_equal(image, want, sizeof image);
}

UNIT_TEST(a_clone_and_its_original_outlive_each_other)
{
    static float want[PIXELS];
    for (int kind = 0; kind < 3; kind++)
        for (int clone_first = 0; clone_first < 2; clone_first++) {
            nb_sim *sim = simulation(kind), *clone = cloned(sim);
            render(sim, want);
            nb_sim_free(clone_first ? clone : sim);
            check_alone(clone_first ? sim : clone, want);
            nb_sim_free(clone_first ? sim : clone);
        }
}

UNIT_TEST(a_clone_keeps_what_its_original_replaces)
{
    static const double other_waves[1] = {1.1e-10};
    static float want[PIXELS], image[PIXELS];
    nb_sim *sim = simulation(0), *clone = cloned(sim);
    nb_arrays a = *nb_sim_config(sim)->arrays;
    nb_config cfg = {0};
    nb_error err = {0};
    nb_config_copy(&cfg, nb_sim_config(sim));
    render(clone, want);
    a.wavelength = other_waves;
    a.sources = 1;
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    assert_int_equal(nb_sim_change(sim, &cfg, &err), NB_OK);
    assert_int_equal(clone->in.n_lines, 2);
    for (size_t i = 0; i < a.reflections; i++)
        F[i] *= 2;
    assert_int_equal(nb_sim_set_factors(sim, F, a.reflections, &err), NB_OK);
    render(sim, image);
    assert_memory_not_equal(image, want, sizeof image);
    check_alone(clone, want);
    nb_sim_free(sim);
    nb_sim_free(clone);
    nb_config_drop(&cfg);
}
