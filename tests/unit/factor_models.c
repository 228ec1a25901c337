/* SPDX-License-Identifier: MIT */
#include "factor_models.h"

#include "../support/check.h"

#include "../../src/base/memory.h"
#include "../../src/factors/sums.h"

static nb_atom *room_for(size_t n)
{
    nb_error err;
    nb_atom *atoms = nb_alloc(n, sizeof *atoms, "atoms", &err);
    assert_non_null(atoms);
    return atoms;
}

test_model test_model_make(const test_group *group, int atoms, uint64_t seed)
{
    test_model m = {
        .options = {
            .dmin = 2, .B_sol = 46, .model = 1, .threads = 1, .method = NB_SUM_DIRECT}};
    static const int Z[] = {6, 7, 16};
    double A[9];
    m.structure.kind = NB_STRUCTURE_PDB;
    memcpy(m.structure.cell, group->cell, sizeof m.structure.cell);
    m.structure.symmetry = test_group_close(group);
    m.structure.n_atoms = (size_t)atoms;
    m.structure.n_models = 1;
    m.structure.atoms = room_for((size_t)atoms);
    nb_cell_axes(group->cell, A);
    for (int i = 0; i < atoms; i++) {
        nb_atom *a = &m.structure.atoms[i];
        double x[3];
        for (int j = 0; j < 3; j++)
            x[j] = test_random(&seed);
        nb_transform(A, x, a->r);
        a->Z = Z[i % 3];
        a->occupancy =
            0.01 + 0.003 * test_random(&seed); /* images at one place stay below 1 */
        a->B = 5 + 50 * test_random(&seed);
        a->has_U = i % 3 == 2;
        for (int j = 0; j < 6; j++)
            a->U[j] = j < 3 ? 0.1 + 0.3 * test_random(&seed) : 0.05 * test_random(&seed);
    }
    return m;
}

void test_model_free(test_model *m)
{
    nb_free(m->structure.atoms);
    m->structure.atoms = NULL;
}

test_model test_model_part(const test_model *m, size_t first, size_t count)
{
    test_model part = *m;
    part.structure.atoms = room_for(count);
    part.structure.n_atoms = count;
    memcpy(part.structure.atoms, m->structure.atoms + first,
           count * sizeof *part.structure.atoms);
    return part;
}

test_model test_model_expand(const test_model *m)
{
    test_model all = *m;
    const nb_symmetry *sg = &m->structure.symmetry;
    double A[9], M[9];
    size_t at = 0;
    all.structure.atoms = room_for(m->structure.n_atoms * (size_t)sg->count);
    all.structure.symmetry = test_group_close(&test_groups[0]);
    nb_cell_axes(m->structure.cell, A);
    nb_invert(A, M);
    for (size_t i = 0; i < m->structure.n_atoms; i++)
        for (int j = 0; j < sg->count; j++) {
            nb_atom *a = &all.structure.atoms[at++];
            double x[3], y[3], R[9], AR[9], turn[9];
            *a = m->structure.atoms[i];
            nb_transform(M, a->r, x);
            for (int k = 0; k < 9; k++)
                R[k] = sg->ops[j].R[k];
            nb_transform(R, x, y);
            for (int k = 0; k < 3; k++)
                y[k] += sg->ops[j].t[k] / 24.;
            nb_transform(A, y, a->r);
            for (int k = 0; k < 9; k++)
                AR[k] = A[k / 3 * 3] * R[k % 3] + A[k / 3 * 3 + 1] * R[3 + k % 3] +
                        A[k / 3 * 3 + 2] * R[6 + k % 3];
            for (int k = 0; k < 9; k++)
                turn[k] = AR[k / 3 * 3] * M[k % 3] + AR[k / 3 * 3 + 1] * M[3 + k % 3] +
                          AR[k / 3 * 3 + 2] * M[6 + k % 3];
            nb_turn_symmetric(turn, m->structure.atoms[i].U, a->U);
        }
    all.structure.n_atoms = at;
    return all;
}

void test_model_shift(test_model *m, const double x0[3])
{
    double A[9], shift[3];
    nb_cell_axes(m->structure.cell, A);
    nb_transform(A, x0, shift);
    for (size_t i = 0; i < m->structure.n_atoms; i++)
        for (int j = 0; j < 3; j++)
            m->structure.atoms[i].r[j] += shift[j];
}

double test_cell_volume(const test_model *m)
{
    return nb_cell_volume(m->structure.cell);
}

static void count_notice(void *user, const char *text)
{
    test_model *m = user;
    m->notices++;
    snprintf(m->last, sizeof m->last, "%s", text);
}

nb_partials test_model_sum(test_model *m)
{
    nb_partials p;
    nb_error err = {0};
    const nb_hooks hooks = {.notice = count_notice, .user = m};
    m->notices = 0;
    if (nb_partials_make(&m->structure, &m->options, "model", &hooks, &p, &err))
        fail_msg("%s", err.message);
    return p;
}

nb_factor_grid test_grid_for(const nb_partials *p)
{
    nb_factor_grid grid;
    nb_error err = {0};
    int H[3];
    nb_index_limits(p->cell, p->dmin, H);
    assert_int_equal(nb_factor_grid_new(p->cell, H, &grid, &err), NB_OK);
    assert_int_equal(nb_factor_grid_add_phases(&grid, &err), NB_OK);
    return grid;
}

nb_factor_grid test_model_grid(test_model *m, const nb_anomalous *f)
{
    nb_partials p = test_model_sum(m);
    nb_factor_grid grid = test_grid_for(&p);
    nb_partials_combine(&p, f, 0, 1, m->options.threads, &grid);
    nb_partials_free(&p);
    return grid;
}
