/* SPDX-License-Identifier: MIT */
/* Atoms of a model: which atoms count, where and how much, and which are refused. */
#include "../support/check.h"
#include "factor_models.h"

#include "../../src/base/memory.h"
#include "../../src/factors/sums.h"
#include "../../src/factors/factors.h"

static const test_group orthorhombic = {
    "P 2 2 2", "-x,-y,z; x,-y,-z", {20, 24, 28, 90, 90, 90}};

typedef struct notices {
    int count;
    char last[256];
} notices;

static void take_notice(void *user, const char *line)
{
    notices *h = user;
    h->count++;
    snprintf(h->last, sizeof h->last, "%s", line);
}

static nb_sites sites_of(const test_model *m, notices *h)
{
    nb_sites sites;
    nb_error err = {0};
    const nb_hooks hooks = {.notice = take_notice, .user = h};
    memset(h, 0, sizeof *h);
    if (nb_sites_make(&m->structure, &m->options, "m.pdb", &hooks, &sites, &err))
        fail_msg("%s", err.message);
    return sites;
}

/** Model of one atom of occupancy q at fractional x, y, z in the orthorhombic group. */
static test_model one_atom(double x, double y, double z, double q)
{
    test_model m = test_model_make(&orthorhombic, 1, 1);
    const double r[3] = {20 * x, 24 * y, 28 * z};
    memcpy(m.structure.atoms->r, r, sizeof r);
    m.structure.atoms->occupancy = q;
    return m;
}

static void check_occupancy(double x, double y, double z, double q, double counts)
{
    test_model m = one_atom(x, y, z, q);
    notices h;
    nb_sites s = sites_of(&m, &h);
    check_close(s.site->q, counts, 1e-15);
    assert_int_equal(h.count, counts != q);
    nb_sites_free(&s);
    test_model_free(&m);
}

UNIT_TEST(special_positions)
{
    test_model m = one_atom(0, 0, 0.3, 0.5);
    notices h;
    nb_sites s;
    check_occupancy(0.1, 0.2, 0.3, 1, 1);
    check_occupancy(0, 0, 0.3, 1, 0.5);      /* occupancy as of a general site */
    check_occupancy(0, 0, 0.3, 0.5, 0.5);    /* occupancy halved by the depositor */
    check_occupancy(0.012, 0, 0.3, 1, 0.5);  /* 0.48 A from its image */
    check_occupancy(0.0127, 0, 0.3, 1, 1);   /* 0.508 A */
    check_occupancy(0.5, 0.5, 0.5, 1, 0.25); /* site symmetry 222 */
    m.structure.kind = NB_STRUCTURE_SMALL;
    m.structure.atoms->r[0] = m.structure.atoms->r[1] = 0;
    m.structure.atoms->r[2] = 0.3;
    s = sites_of(&m, &h);
    check_close(s.site->q, 0.25, 1e-15); /* the definition of a small-molecule CIF */
    assert_int_equal(h.count, 0);
    assert_int_equal(s.special, 1);
    nb_sites_free(&s);
    test_model_free(&m);
}

/** Special positions in a small-molecule CIF: statements of the file about a site, and
 * the place of the site. */
UNIT_TEST(sites_of_small_molecules)
{
    static const struct {
        double x, q; /* x: fraction of 20 A, the twofold axis is at 0 */
        int order, multiplicity, is_general,
            of_general; /* of_general: multiplicity of another atom */
        double counts;
        int notices;
    } sites[] = {
        /* the atom is 0.36 A from its image: two half atoms */
        {0.009, 0.5, 1, 0, 0, 0, 0.5, 0},
        {0.009, 0.5, 0, 0, 1, 0, 0.5, 0}, /* the same by a negative disorder group */
        {0.009, 0.5, 0, 0, 0, 0, 0.5, 0}, /* no statement: too far for one site */
        {0.009, 1, 0, 0, 0, 0, 1, 1},     /* impossible, and noted */
        {0.009, 1, 2, 0, 0, 0, 0.5, 0},   /* the coordinate is rounded */
        {0.001, 1, 0, 0, 0, 0, 0.5, 0},   /* the atom is 0.04 A from its image */
        {0, 1, 2, 0, 0, 0, 0.5, 0},
        {0, 0.5, 1, 0, 0, 0, 0.5, 0},
        {0, 1, 1, 0, 0, 0, 0.5, 1},     /* two whole atoms on one site */
        {0.1, 1, 2, 0, 0, 0, 1, 1},     /* its image is 4 A away */
        {0.009, 1, 0, 2, 0, 4, 0.5, 0}, /* 2 of 4 positions in the cell */
        /* values as in files of SHELXL-97 */
        {0.009, 0.5, 0, 4, 0, 4, 0.5, 0},
        {0.009, 1, 0, 2, 0, 1, 0.5, 0},
        {0.009, 0.5, 0, 1, 0, 1, 0.5, 0},
    };
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
        test_model m = test_model_make(&orthorhombic, 2, 1);
        nb_atom *a = m.structure.atoms;
        const double at[3] = {sites[i].x, 0, 0.3}, general[3] = {0.2, 0.3, 0.1};
        notices h;
        nb_sites s;
        m.structure.kind = NB_STRUCTURE_SMALL;
        memcpy(a[0].r, at, sizeof at);
        memcpy(a[1].r, general, sizeof general);
        a[0].occupancy = sites[i].q;
        a[0].site_order = sites[i].order;
        a[0].site_multiplicity = sites[i].multiplicity;
        a[0].is_general = sites[i].is_general;
        a[1].site_multiplicity = sites[i].of_general;
        a[1].Z = a[0].Z;
        nb_take_multiplicities(&m.structure);
        s = sites_of(&m, &h);
        if (fabs(s.site[0].q - sites[i].counts) > 1e-15 || h.count != sites[i].notices)
            fail_msg("%zu: %g counts, %d notices (%s)", i, s.site[0].q, h.count, h.last);
        nb_sites_free(&s);
        test_model_free(&m);
    }
}

UNIT_TEST(models_hydrogens_and_occupancies)
{
    test_model m = test_model_make(&orthorhombic, 6, 2);
    notices h;
    nb_sites s;
    m.structure.n_models = 2;
    for (int i = 3; i < 6; i++)
        m.structure.atoms[i].model = 1;
    m.structure.atoms[1].Z = 1;
    m.structure.atoms[2].occupancy = 0;
    m.structure.atoms[4].is_alternate = 1;
    s = sites_of(&m, &h);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.site[0].Z, 1); /* in order of Z */
    nb_sites_free(&s);
    m.options.drop_hydrogens = 1;
    m.options.model = 0;
    s = sites_of(&m, &h);
    assert_int_equal(s.count, 4);
    assert_int_equal(s.alternates, 1);
    check_close(s.site[0].q, m.structure.atoms[0].occupancy / 2, 1e-15);
    nb_sites_free(&s);
    test_model_free(&m);
}

UNIT_TEST(ncs_copies)
{
    nb_ncs ncs[2] = {{{0, -1, 0, 1, 0, 0, 0, 0, 1}, {1, 2, 3}, 0},
                     {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 5}, 1}};
    test_model m = test_model_make(&orthorhombic, 3, 3);
    const nb_atom *a = &m.structure.atoms[2]; /* anisotropic */
    notices h;
    nb_sites s;
    m.structure.ncs = ncs;
    m.structure.n_ncs = 2;
    s = sites_of(&m, &h);
    assert_int_equal(s.count, 3);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.last, "1 NCS"));
    nb_sites_free(&s);
    m.options.apply_ncs = 1;
    s = sites_of(&m, &h);
    assert_int_equal(s.count, 6);
    assert_int_equal(h.count, 0);
    check_close(s.site[5].x[0], (-a->r[1] + 1) / 20, 1e-14);
    check_close(s.site[5].x[1], (a->r[0] + 2) / 24, 1e-14);
    check_close(s.site[5].beta[0], 2 * M_PI * M_PI * a->U[1] / (20 * 20), 1e-14);
    check_close(s.site[5].beta[3], -4 * M_PI * M_PI * a->U[3] / (20 * 24), 1e-14);
    check_ratio(s.site[5].B_low, s.site[4].B_low, 1e-12);
    nb_sites_free(&s);
    test_model_free(&m);
}

/** A frame of the same cell is applied without a notice; another frame is ignored with a
 * notice. */
UNIT_TEST(frames)
{
    test_model m = test_model_make(&orthorhombic, 1, 4);
    double *f = m.structure.frame;
    const double *r = m.structure.atoms->r;
    notices h;
    nb_sites s;
    m.structure.has_frame = 1;
    f[0] = 0.05001;
    f[4] = 0.04167;
    f[8] = 0.03571;
    s = sites_of(&m, &h);
    check_close(s.site->x[0], r[0] / 20, 1e-15);
    assert_int_equal(h.count, 0);
    nb_sites_free(&s);
    f[0] = f[4] = 0; /* a along y, b along -x */
    f[1] = 1 / 20.;
    f[3] = -1 / 24.;
    f[11] = 0.25;
    s = sites_of(&m, &h);
    check_close(s.site->x[0], r[1] / 20, 1e-15);
    check_close(s.site->x[1], -r[0] / 24, 1e-15);
    check_close(s.site->x[2], r[2] * 0.03571 + 0.25, 1e-15);
    assert_int_equal(h.count, 0);
    nb_sites_free(&s);
    f[1] = 1 / 21.;
    s = sites_of(&m, &h);
    check_close(s.site->x[0], r[0] / 20, 1e-15);
    assert_int_equal(h.count, 1);
    nb_sites_free(&s);
    test_model_free(&m);
}

static void expect_refused(test_model *m, const char *part)
{
    nb_partials p;
    nb_error err = {0};
    assert_int_equal(nb_partials_make(&m->structure, &m->options, "m.pdb", NULL, &p, &err),
                     NB_ERR_INPUT);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not about '%s'", err.message, part);
    assert_null(p.hkl);
}

UNIT_TEST(bad_models_are_refused)
{
    test_model good = test_model_make(&orthorhombic, 4, 5), m = good;
    nb_atom *a = good.structure.atoms, kept = a[2];
#define REFUSED(change, part)                                                            \
    do {                                                                                 \
        m = good;                                                                        \
        change;                                                                          \
        expect_refused(&m, part);                                                        \
        a[2] = kept;                                                                     \
    } while (0)
    REFUSED(a[2].Z = 0, "element");
    REFUSED(a[2].occupancy = -0.5, "occupancy");
    REFUSED(a[2].occupancy = NAN, "occupancy");
    REFUSED(a[2].r[1] = INFINITY, "coordinate");
    REFUSED((a[2].has_U = 0, a[2].B = -1.5), "B factor");
    REFUSED(a[2].U[3] = NAN, "displacement");
    REFUSED(m.options.model = 2, "-model 2");
    REFUSED(m.options.dmin = 0.2, "-dmin");
    REFUSED(m.options.dmin = NAN, "-dmin");
    REFUSED(m.options.dmin = 0, "-dmin");
    REFUSED(m.structure.cell[0] = 0, "-cell");
    REFUSED(m.structure.cell[0] = 1e5, "-dmin");
    REFUSED(m.structure.n_atoms = 0, "no atom");
    test_model_free(&good);
}

UNIT_TEST(displacements_just_below_0_are_0)
{
    test_model m = test_model_make(&orthorhombic, 1, 6);
    notices h;
    nb_sites s;
    m.structure.atoms->B = -0.7;
    s = sites_of(&m, &h);
    check_close(s.site->B_low, 0, 0);
    assert_int_equal(h.count, 1);
    nb_sites_free(&s);
    test_model_free(&m);
}

UNIT_TEST(failed_allocations_are_errors)
{
    test_model m = test_model_make(&orthorhombic, 5, 7);
    int tries = 0, status = NB_ERR_NOMEM;
    m.options.k_sol = 0.4;
    m.options.dmin = 4;
    for (long i = 1; status == NB_ERR_NOMEM; i++, tries++) {
        nb_partials p;
        nb_error err = {0};
        nb_alloc_fail_after(i);
        status = nb_partials_make(&m.structure, &m.options, "m.pdb", NULL, &p, &err);
        nb_alloc_fail_after(0);
        nb_partials_free(&p);
    }
    assert_int_equal(status, NB_OK);
    assert_true(tries > 20);
    test_model_free(&m);
}

__attribute__((constructor)) static void needs_gemmi(void)
{
    if (!*nb_gemmi_version())
        nb_skip_tests(__FILE__, "this build has no gemmi");
}
