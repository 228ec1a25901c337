/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "factors.h"

enum { B_LOWEST = -1 }; /* A^2; a B between -1 and 0 counts as 0 */

static int is_chosen(const nb_atom *a, const nb_model_options *o)
{
    return (o->model == 0 || a->model == o->model - 1) &&
           !(o->drop_hydrogens && a->Z == 1);
}

/* True for an atom of the chosen model with occupancy > 0, except dropped hydrogens. */
static int atom_counts(const nb_atom *atom, const nb_model_options *options)
{
    return is_chosen(atom, options) && atom->occupancy > 0;
}

static int all_finite(const double *v, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return 0;
    return 1;
}

/** Reason why the atom cannot be used, or NULL. */
static const char *fault(const nb_atom *a)
{
    if (!all_finite(a->r, 3))
        return "a coordinate that is not a number";
    if (!(a->occupancy >= 0) || !isfinite(a->occupancy))
        return "an occupancy that is negative or not a number";
    if (a->has_U ? !all_finite(a->U, 6) : !isfinite(a->B))
        return "a displacement that is not a number";
    if (!a->has_U && a->B < B_LOWEST)
        return "a B factor below -1";
    return NULL;
}

static nb_status check_numbers(const nb_structure *s, const nb_model_options *o,
                               const char *name, nb_error *err)
{
    for (size_t i = 0; i < s->n_atoms; i++) {
        const nb_atom *a = &s->atoms[i];
        const char *why = is_chosen(a, o) ? fault(a) : NULL;
        if (why)
            return nb_fail_at(err, NB_ERR_INPUT, name, a->line,
                              "atom %s (serial %d) has %s: mend the file", a->name,
                              a->serial, why);
    }
    return NB_OK;
}

static nb_status check_elements(const nb_structure *s, const nb_model_options *o,
                                const char *name, nb_error *err)
{
    const nb_atom *first = NULL;
    size_t unknown = 0;
    double abc[9];
    for (size_t i = 0; i < s->n_atoms; i++)
        if (atom_counts(&s->atoms[i], o) && !nb_element_f0(s->atoms[i].Z, abc)) {
            first = first ? first : &s->atoms[i];
            unknown++;
        }
    if (!first)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, name, first->line,
                      "%zu atom%s of an element without scattering factors, the first %s "
                      "(serial %d, element '%s'): give the element or remove %s",
                      unknown, unknown == 1 ? " is" : "s are", first->name, first->serial,
                      first->element, unknown == 1 ? "it" : "them");
}

static void say(const nb_hooks *hooks, const char *name, size_t n, const char *what)
{
    if (n)
        nb_notice(hooks, "%s: %zu %s", name, n, what);
}

static void say_assumptions(const nb_structure *s, const nb_model_options *o,
                            const char *name, const nb_hooks *hooks)
{
    size_t below = 0, given = 0;
    for (size_t i = 0; i < s->n_atoms; i++)
        below += atom_counts(&s->atoms[i], o) && !s->atoms[i].has_U && s->atoms[i].B < 0;
    for (int i = 0; i < s->n_ncs; i++)
        given += s->ncs[i].is_given != 0;
    say(hooks, name, s->blank_occupancies, "blank occupancies count as 1");
    say(hooks, name, s->blank_B, "blank B factors count as 0");
    say(hooks, name, s->missing_U, "atoms without a displacement parameter: U is 0");
    if (s->has_residual_B)
        nb_notice(
            hooks,
            "%s: its B factors are residual and lack the part of its TLS groups, so F "
            "is too strong at high resolution; add it first (tlsanl, phenix.tls)",
            name);
    say(hooks, name, below, "B factors between -1 and 0 count as 0");
    if (!o->apply_ncs)
        say(hooks, name, (size_t)s->n_ncs - given,
            "NCS operators whose copies are not in the file are ignored (-ncs apply "
            "takes "
            "them)");
}

/* Refuse a model that cannot be summed, and note assumptions. Errors: NB_ERR_INPUT. */
static nb_status atoms_check(const nb_structure *structure,
                             const nb_model_options *options, const char *name,
                             const nb_hooks *hooks, nb_error *err)
{
    nb_status st = NB_OK;
    size_t count = 0;
    if (options->model < 0 || options->model > structure->n_models)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "-model %d: the file has %d model%s", options->model,
                          structure->n_models, structure->n_models == 1 ? "" : "s");
    NB_FORWARD(check_numbers(structure, options, name, err));
    NB_FORWARD(check_elements(structure, options, name, err));
    for (size_t i = 0; i < structure->n_atoms; i++)
        count += (size_t)atom_counts(&structure->atoms[i], options);
    if (count == 0)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "no atom counts: each is of occupancy 0, of another model or a "
                          "dropped hydrogen");
    say_assumptions(structure, options, name, hooks);
    return NB_OK;
}

#define FRAME_DIFFERENCE 1e-4 /* smaller differences of SCALEn and cell are ignored */
#define FRAME_EDGES 1e-3      /* limit of the relative difference of edges from SCALEn */
#define FRAME_ANGLES 0.1      /* deg; limit of the difference of angles from SCALEn */
#define SPECIAL_DISTANCE 0.5  /* A; nearer images are one site in PDB and mmCIF */
/* if the order times q is larger, q of the file is not yet divided by the order */
#define SPECIAL_OCCUPANCY 1.01

/** Transform of Cartesian to fractional coordinates: x = M r + v. */
typedef struct frame {
    double M[9], v[3];
} frame;

/** Cell with the columns of A as axes. */
static void cell_of_axes(const double A[9], double cell[6])
{
    for (int i = 0; i < 3; i++)
        cell[i] = sqrt(A[i] * A[i] + A[3 + i] * A[3 + i] + A[6 + i] * A[6 + i]);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double dot = A[j] * A[k] + A[3 + j] * A[3 + k] + A[6 + j] * A[6 + k];
        cell[3 + i] = acos(dot / (cell[j] * cell[k])) * (180 / M_PI);
    }
}

/** True if the frame of the file belongs to this cell. */
static int frame_fits(const double given[12], const double cell[6])
{
    double A[9], other[6], det = nb_invert(given, A);
    if (!(fabs(det) > 0) || !isfinite(det))
        return 0;
    cell_of_axes(A, other);
    for (int i = 0; i < 3; i++)
        if (!(fabs(other[i] - cell[i]) <= FRAME_EDGES * cell[i]) ||
            !(fabs(other[3 + i] - cell[3 + i]) <= FRAME_ANGLES))
            return 0;
    return 1;
}

static void find_frame(const nb_structure *s, const char *name, const nb_hooks *hooks,
                       frame *out)
{
    double A[9], own[12] = {0};
    int differs = 0;
    nb_cell_axes(s->cell, A);
    nb_invert(A, own);
    for (int i = 0; s->has_frame && i < 12; i++)
        differs |= !(fabs(s->frame[i] - own[i]) <= FRAME_DIFFERENCE);
    if (differs && !frame_fits(s->frame, s->cell)) {
        nb_notice(hooks,
                  "%s: the matrix from Cartesian to fractional coordinates (SCALEn, "
                  "fract_transf) is of another cell and is ignored",
                  name);
        differs = 0;
    }
    memcpy(out->M, differs ? s->frame : own, sizeof out->M);
    memcpy(out->v, (differs ? s->frame : own) + 9, sizeof out->v);
}

/** Exponents beta of T(h) from U: beta.h = 2 pi^2 s^T U s with s = h M. */
static void set_beta(const double M[9], const double U[6], double beta[6])
{
    nb_turn_symmetric(M, U, beta);
    for (int i = 0; i < 6; i++)
        beta[i] *= (i < 3 ? 2 : 4) * M_PI * M_PI;
}

/** Data for placing the atoms. */
typedef struct placing {
    const nb_structure *structure;
    frame frame;
    double G[6], A[9];
} placing;

static void place_small(const placing *p, const nb_atom *a, nb_site *out)
{
    const double stars[9] = {sqrt(p->G[0]), 0, 0, 0, sqrt(p->G[1]), 0, 0, 0,
                             sqrt(p->G[2])};
    memcpy(out->x, a->r, sizeof out->x);
    if (a->has_U)
        set_beta(stars, a->U, out->beta);
}

static void place_cartesian(const placing *p, const nb_atom *a, const nb_ncs *copy,
                            nb_site *out)
{
    double r[3], U[6];
    memcpy(r, a->r, sizeof r);
    memcpy(U, a->U, sizeof U);
    if (copy) {
        nb_transform(copy->R, a->r, r);
        nb_turn_symmetric(copy->R, a->U, U);
    }
    for (int i = 0; copy && i < 3; i++)
        r[i] += copy->t[i];
    nb_transform(p->frame.M, r, out->x);
    for (int i = 0; i < 3; i++)
        out->x[i] += p->frame.v[i];
    if (a->has_U)
        set_beta(p->frame.M, U, out->beta);
}

static void place(const placing *p, const nb_atom *a, const nb_ncs *copy, nb_site *out)
{
    memset(out, 0, sizeof *out);
    out->atom = a;
    out->Z = a->Z;
    out->q = a->occupancy;
    if (p->structure->kind == NB_STRUCTURE_SMALL)
        place_small(p, a, out);
    else
        place_cartesian(p, a, copy, out);
    if (a->has_U) {
        double b[6], U[6];
        for (int i = 0; i < 6; i++)
            b[i] = i < 3 ? out->beta[i] : out->beta[i] / 2;
        nb_turn_symmetric(p->A, b, U); /* gives 2 pi^2 U in Cartesian axes */
        nb_principal_limits(U, &out->B_low, &out->B_high);
        out->B_low *= 4;
        out->B_high *= 4;
    } else {
        out->B_low = out->B_high = fmax(a->B, 0);
        for (int i = 0; i < 6; i++)
            out->beta[i] = out->B_low / 4 * p->G[i];
    }
}

/** Divide occupancies by the orders of special positions and the number of models. */
static void weigh(const placing *p, int models, nb_sites *sites, const char *name,
                  const nb_hooks *hooks)
{
    const nb_structure *s = p->structure;
    const int is_small = s->kind == NB_STRUCTURE_SMALL;
    size_t divided = 0, contradicted = 0, near = 0;
    for (size_t i = 0; i < sites->count; i++) {
        nb_site *site = &sites->site[i];
        int n = is_small ? nb_small_site_order(s, p->A, site->atom, &contradicted, &near)
                         : nb_site_order(&s->symmetry, p->A, site->x, SPECIAL_DISTANCE);
        sites->special += n > 1;
        if (n > 1 && (is_small || n * site->q > SPECIAL_OCCUPANCY)) {
            divided += !is_small;
            site->q /= n;
        }
        site->q /= models;
    }
    say(hooks, name, divided,
        "atoms on special positions have the occupancy of a general one; it is divided "
        "by "
        "the number of operators that keep the position");
    say(hooks, name, contradicted,
        "atoms have coordinates that contradict the symmetry that the file gives their "
        "sites (site_symmetry_order, multiplicity); the coordinates count");
    say(hooks, name, near,
        "atoms stand within 0.5 A of their own images; as the file gives no "
        "site_symmetry_order, they count as general positions");
}

/** List the atoms of the sum and their NCS copies, in order of Z. */
static void place_all(const placing *p, const nb_model_options *o, nb_sites *out)
{
    const nb_structure *s = p->structure;
    int max_Z = 0;
    for (size_t i = 0; i < s->n_atoms; i++)
        max_Z = s->atoms[i].Z > max_Z ? s->atoms[i].Z : max_Z;
    for (int Z = 1; Z <= max_Z; Z++)
        for (size_t i = 0; i < s->n_atoms; i++) {
            const nb_atom *a = &s->atoms[i];
            if (a->Z != Z || !atom_counts(a, o))
                continue;
            for (int c = -1; c < (o->apply_ncs ? s->n_ncs : 0); c++)
                if (c < 0 || !s->ncs[c].is_given) {
                    out->alternates += a->is_alternate != 0;
                    place(p, a, c < 0 ? NULL : &s->ncs[c], &out->site[out->count++]);
                }
        }
}

nb_status nb_sites_make(const nb_structure *structure, const nb_model_options *options,
                        const char *name, const nb_hooks *hooks, nb_sites *out,
                        nb_error *err)
{
    placing p = {.structure = structure};
    size_t copies = options->apply_ncs ? (size_t)structure->n_ncs + 1 : 1, room;
    nb_status st;
    memset(out, 0, sizeof *out);
    NB_FORWARD(atoms_check(structure, options, name, hooks, err));
    if (!nb_size_mul(structure->n_atoms, copies, &room))
        room = SIZE_MAX;
    out->site = nb_alloc_raw(room, sizeof *out->site, "atoms", err);
    NB_NEED(out->site);
    nb_reciprocal_metric(structure->cell, p.G);
    nb_cell_axes(structure->cell, p.A);
    find_frame(structure, name, hooks, &p.frame);
    place_all(&p, options, out);
    weigh(&p, options->model == 0 ? structure->n_models : 1, out, name, hooks);
    return NB_OK;
}

void nb_sites_free(nb_sites *sites)
{
    nb_free(sites->site);
    memset(sites, 0, sizeof *sites);
}
