/* SPDX-License-Identifier: MIT */
#include "sites_check.h"

#include <math.h>

#include "../base/error.h"

enum { B_LOWEST = -1 }; /* A^2; between it and 0 B counts as 0 */

static int is_chosen(const nb_atom *a, const nb_model_options *o)
{
    return (o->model == 0 || a->model == o->model - 1) &&
           !(o->drop_hydrogens && a->Z == 1);
}

int nb_atom_counts(const nb_atom *atom, const nb_model_options *options)
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

/** Why the atom cannot be used, or NULL. */
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
        if (nb_atom_counts(&s->atoms[i], o) && !nb_element_f0(s->atoms[i].Z, abc)) {
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

static void say_assumptions(const nb_structure *s, const nb_model_options *o,
                            const char *name, const nb_hooks *hooks)
{
    size_t below = 0, given = 0;
    for (size_t i = 0; i < s->n_atoms; i++)
        below +=
            nb_atom_counts(&s->atoms[i], o) && !s->atoms[i].has_U && s->atoms[i].B < 0;
    for (int i = 0; i < s->n_ncs; i++)
        given += s->ncs[i].is_given != 0;
    if (s->blank_occupancies)
        nb_notice(hooks, "%s: %zu blank occupancies count as 1", name,
                  s->blank_occupancies);
    if (s->blank_B)
        nb_notice(hooks, "%s: %zu blank B factors count as 0", name, s->blank_B);
    if (s->missing_U)
        nb_notice(hooks, "%s: %zu atoms without a displacement parameter: U is 0", name,
                  s->missing_U);
    if (below)
        nb_notice(hooks, "%s: %zu B factors between -1 and 0 count as 0", name, below);
    if (!o->apply_ncs && (size_t)s->n_ncs > given)
        nb_notice(hooks,
                  "%s: %zu NCS operators whose copies are not in the file are ignored "
                  "(-ncs apply takes them)",
                  name, (size_t)s->n_ncs - given);
}

nb_status nb_atoms_check(const nb_structure *structure, const nb_model_options *options,
                         const char *name, const nb_hooks *hooks, nb_error *err)
{
    nb_status status = NB_OK;
    size_t count = 0;
    if (options->model < 0 || options->model > structure->n_models)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "-model %d: the file has %d model%s", options->model,
                          structure->n_models, structure->n_models == 1 ? "" : "s");
    status = check_numbers(structure, options, name, err);
    if (status == NB_OK)
        status = check_elements(structure, options, name, err);
    if (status != NB_OK)
        return status;
    for (size_t i = 0; i < structure->n_atoms; i++)
        count += (size_t)nb_atom_counts(&structure->atoms[i], options);
    if (count == 0)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "no atom counts: each is of occupancy 0, of another model or a "
                          "dropped hydrogen");
    say_assumptions(structure, options, name, hooks);
    return NB_OK;
}
