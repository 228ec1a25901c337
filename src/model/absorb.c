/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "../base/xraylib_lib.h"
#include "units.h"

static nb_status fail_mu(const char *text, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT,
                   "-absorb_mu %.60s: must be 0 to 1e4 (1/mm), or a formula with its "
                   "density in g/cm3, as C6H12O6:1.54",
                   text);
}

/** Attenuation (1/m) of a material typed as formula:density. */
static nb_status mu_of_formula(const char *text, double wavelength_A, double *mu,
                               nb_error *err)
{
    const char *colon = strchr(text, ':');
    double density = 0;
    char formula[64];
    nb_status st = NB_OK;
    *mu = 0;
    if (!colon || !nb_text_number(colon + 1, &density) ||
        !(density > 0 && density <= 1000))
        return fail_mu(text, err);
    memcpy(formula, text, (size_t)(colon - text));
    formula[colon - text] = '\0';
    NB_FORWARD(nb_xraylib_need("-absorb_mu", "-absorb_mu x, 1/mm", err));
#ifdef NB_HAVE_XRAYLIB
    *mu = CS_Total_CP(formula, NB_HC_EV_ANGSTROM / wavelength_A / 1000, NULL) * density *
          100; /* converts 1/cm to 1/m */
#else
    (void)wavelength_A;
#endif
    return *mu > 0 ? NB_OK : fail_mu(text, err);
}

static nb_status read_mu(const char *text, double wavelength_A, double *mu, nb_error *err)
{
    if (!nb_text_number(text, mu))
        return mu_of_formula(text, wavelength_A, mu, err);
    if (!(*mu >= 0 && *mu <= 1e4))
        return fail_mu(text, err);
    *mu *= 1e3;
    return NB_OK;
}

nb_status nb_absorber_of(const nb_settings *cfg, const nb_geometry *g,
                         const nb_crystal *x, const nb_frame_turn *turn,
                         double wavelength_A, nb_absorber *out, nb_error *err)
{
    const nb_vec3 a = nb_unit(x->astar), c = nb_unit(x->c),
                  axes[3] = {a, nb_unit(nb_cross(c, a)), c};
    nb_absorb_words words;
    nb_status st = nb_absorb_read(cfg->value.absorb, &words, err);
    memset(out, 0, sizeof *out);
    if (st || !words.given)
        return st;
    st = read_mu(cfg->value.absorb_mu, wavelength_A, &out->mu, err);
    out->box = words.box;
    out->beam = g->beam;
    for (int i = 0; i < 3; i++)
        out->half[i] = 0.5e-6 * words.size_um[i];
    if (words.box)
        out->turns = turn->steps < NB_TURNS_MAX ? turn->steps : NB_TURNS_MAX;
    for (int k = 0; k < out->turns; k++)
        for (int i = 0; i < 3; i++)
            out->axis[k][i] = nb_rotate_about(
                axes[i], g->spindle, turn->first + turn->range * (k + 0.5) / out->turns);
    return st;
}
