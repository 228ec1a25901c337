/* SPDX-License-Identifier: MIT */
#include "crystal.h"

#include <math.h>

#include "../base/error.h"
#include "../base/text.h"
#include "../base/xraylib_lib.h"
#include "../params/params.h"
#include "../physics/limits.h"
#include "units.h"

/** Ratio of absorbed energy per mass to energy fluence, m^2/kg, from photoelectrons and
 * Compton recoil. The mean recoil is that of Klein and Nishina within 1 % up to 100
 * keV. */
static nb_status absorbed_part(const nb_settings *cfg, double eV, double *part,
                               nb_error *err)
{
    const char *typed = cfg->value.dose_material, *material = typed[0] ? typed : "H2O";
    nb_status st;
    *part = 0;
    NB_FORWARD(nb_xraylib_need("-dose auto", "-dose x", err));
#ifdef NB_HAVE_XRAYLIB
    const double a = eV / 510998.95, recoil = a / (1 + 4.2 * a), keV = eV / 1000;
    *part = 0.1 * (CS_Photo_CP(material, keV, NULL) +
                   recoil * CS_Compt_CP(material, keV, NULL)); /* cm2/g to m2/kg */
#endif
    if (*part > 0)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "-dose_material %.60s: xraylib has no absorption of it at %g eV; give "
                   "a formula, as H2O, or type -dose x",
                   material, eV);
}

nb_status nb_dose_of_frame(const nb_settings *cfg, double fluence, double wavelength_A,
                           double *MGy, nb_error *err)
{
    const double limit = NB_ROW(dose_MGy)->high;
    const double eV = NB_HC_EV_ANGSTROM / wavelength_A, joule = 1.602176634e-19;
    double part = 0;
    nb_status st;
    *MGy = cfg->value.dose_MGy;
    if (*MGy != NB_DOSE_AUTO)
        return NB_OK;
    st = absorbed_part(cfg, eV, &part, err);
    *MGy = fluence * eV * joule * part * 1e-6;
    if (!st && *MGy > limit)
        st = nb_fail(
            err, NB_ERR_INPUT,
            "-dose auto: a fluence of %g photons/m^2 is %g MGy a frame, and above "
            "%g MGy nothing is known; type other photons (-fluence, -flux), or "
            "-dose x",
            fluence, *MGy, limit);
    return st;
}

nb_status nb_damage_of(const nb_settings *cfg, double fluence, double wavelength_A,
                       nb_damage *out, nb_error *err)
{
    const nb_config *c = &cfg->value;
    const int halves = NB_TYPED(cfg, damage_half);
    nb_status st = NB_OK;
    *out = (nb_damage){.growth = 1};
    out->given = NB_TYPED(cfg, dose_MGy);
    if (!out->given)
        return NB_OK;
    if (NB_TYPED(cfg, damage_dose)) {
        out->dose = c->damage_dose;
    } else {
        st = nb_dose_of_frame(cfg, fluence, wavelength_A, &out->dose, err);
        out->dose = nb_typeable(out->dose / 2);
    }
    out->B = NB_TYPED_OR(cfg, damage_B, halves ? 0 : 1) * out->dose;
    out->growth = 1 + 0.01 * c->damage_cell_pct * out->dose;
    out->fall = halves ? log(2) * out->dose / c->damage_half : 0;
    if (!st && !(out->growth > 0.01 && out->growth < 100))
        st = nb_fail(err, NB_ERR_INPUT,
                     "-damage_cell %g: at %g MGy the cell's edges would be %g times as "
                     "long; type a smaller one, or a smaller -dose",
                     c->damage_cell_pct, out->dose, out->growth);
    return st;
}

int nb_damage_weakens(const nb_damage *damage)
{
    return damage->B != 0 || damage->fall != 0;
}

/** Metric G with 1/d^2 = G . (hh kk ll hk hl kl), in 1/A^2. The last three numbers
 * include a factor of 2. */
static void metric_of(const double cell[6], double G[6])
{
    const double ca = cos(cell[3] * NB_DEG), cb = cos(cell[4] * NB_DEG),
                 cg = cos(cell[5] * NB_DEG);
    const double v2 = 1 - ca * ca - cb * cb - cg * cg + 2 * ca * cb * cg;
    const double a = cell[0], b = cell[1], c = cell[2];
    G[0] = (1 - ca * ca) / (v2 * a * a);
    G[1] = (1 - cb * cb) / (v2 * b * b);
    G[2] = (1 - cg * cg) / (v2 * c * c);
    G[3] = 2 * (ca * cb - cg) / (v2 * a * b);
    G[4] = 2 * (ca * cg - cb) / (v2 * a * c);
    G[5] = 2 * (cb * cg - ca) / (v2 * b * c);
}

/** Calculate exp(-k (A l^2 + B l + C)) for l = lmin + i, s2 = A B C, from the largest
 * value outwards. */
static void row_factors(double k, const double s2[3], int lmin, int n, double *factor)
{
    const double top = -s2[1] / (2 * s2[0]) - lmin;
    const int start = top > 0 ? top < n - 1 ? (int)(top + 0.5) : n - 1 : 0;
    const double l = lmin + start, second = exp(-2 * k * s2[0]);
    double up = exp(-k * (s2[0] * (2 * l + 1) + s2[1])),
           down = exp(-k * (s2[0] * (1 - 2 * l) - s2[1]));
    factor[start] = exp(-k * ((s2[0] * l + s2[1]) * l + s2[2]));
    for (int i = start + 1; i < n; i++, up *= second)
        factor[i] = factor[i - 1] * up;
    for (int i = start - 1; i >= 0; i--, down *= second)
        factor[i] = factor[i + 1] * down;
}

void nb_damage_factors(const nb_damage *damage, const double cell[6],
                       const nb_factor_table *t, double *to)
{
    const size_t rows = (size_t)nb_table_count(t) * (size_t)t->nh * (size_t)t->nk;
    const double keep = t->default_F;
    double G[6];
    metric_of(cell, G);
    for (size_t r = 0; r < rows; r++) {
        const double k = t->kmin + (double)(r % (size_t)t->nk),
                     h = t->hmin + (double)(r / (size_t)t->nk % (size_t)t->nh);
        const double s2[3] = {G[2], G[4] * h + G[5] * k,
                              (G[0] * h + G[3] * k) * h + G[1] * k * k};
        const double *F = t->F + r * (size_t)t->nl;
        double *out = to + r * (size_t)t->nl;
        row_factors(damage->B / 4, s2, t->lmin, t->nl, out);
        for (int i = 0; damage->fall != 0 && i < t->nl; i++) {
            const double l = t->lmin + i;
            out[i] *=
                exp(-0.5 * damage->fall * sqrt(fmax(0, (s2[0] * l + s2[1]) * l + s2[2])));
        }
        for (int i = 0; i < t->nl; i++)
            out[i] = keep != 0 && F[i] == keep ? F[i] : F[i] * out[i];
    }
}
