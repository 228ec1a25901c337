/* SPDX-License-Identifier: MIT */
#include "detector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "../base/xraylib_lib.h"
#include "units.h"

#define DENSEST 1000 /* g/cm3; a larger number must be a typing error */

static const struct known {
    const char *name, *formula;
    double density; /* g/cm3 */
} known[] = {
    {"Si", "Si", 2.33},      {"Silicon", "Si", 2.33},    {"Ge", "Ge", 5.323},
    {"GaAs", "GaAs", 5.317}, {"CdTe", "CdTe", 5.85},     {"CZT", "Cd9Zn1Te10", 5.78},
    {"CsI", "CsI", 4.51},    {"Gd2O2S", "Gd2O2S", 7.32}, {"GOS", "Gd2O2S", 7.32},
    {"Se", "Se", 4.28},      {"diamond", "C", 3.51},
};

static nb_status fail_unknown(const char *text, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT,
                   "-sensor %s: unknown material; type Si, Ge, GaAs, CdTe, CZT, CsI, "
                   "Gd2O2S, Se, diamond, or a formula with its density in g/cm3 "
                   "(Bi4Ge3O12:7.13)",
                   text);
}

/** Read name, formula and density (NaN: unknown). */
static nb_status read_name(const char *text, nb_material *out, const char **formula,
                           nb_error *err)
{
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    memset(out, 0, sizeof *out);
    out->density = NAN;
    *formula = out->name;
    if (n >= sizeof out->name)
        return fail_unknown(text, err);
    memcpy(out->name, text, n);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(out->name, known[i].name)) {
            *formula = known[i].formula;
            out->density = known[i].density;
        }
    if (!colon || (nb_text_number(colon + 1, &out->density) && out->density > 0 &&
                   out->density <= DENSEST))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "-sensor %s: '%s' is no density in g/cm3 above 0, at most %d", text,
                   colon + 1, DENSEST);
}

/** Check a chemical formula. An element without density gets the density of xraylib. */
static nb_status check_formula(const char *text, const char *formula, double *density,
                               nb_error *err)
{
#ifdef NB_HAVE_XRAYLIB
    struct compoundData *parts = CompoundParser(formula, NULL);
    if (!parts)
        return fail_unknown(text, err);
    if (isnan(*density) && parts->nElements == 1 && !strpbrk(formula, "0123456789("))
        *density = ElementDensity(parts->Elements[0], NULL);
    FreeCompoundData(parts);
#else
    (void)formula;
#endif
    if (*density > 0)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "-sensor %s: a formula needs its density in g/cm3 (Bi4Ge3O12:7.13)",
                   text);
}

nb_status nb_material_find(const char *text, double wavelength_A, nb_material *out,
                           nb_error *err)
{
    const double keV = NB_HC_EV_ANGSTROM / wavelength_A / 1000;
    const char *formula;
    nb_status st;
    NB_FORWARD(read_name(text, out, &formula, err));
    NB_FORWARD(nb_xraylib_need("-sensor", "-detector_abs", err));
    NB_FORWARD(check_formula(text, formula, &out->density, err));
#ifdef NB_HAVE_XRAYLIB
    /* converts 1/cm to 1/m */
    out->mu = CS_Total_CP(formula, keV, NULL) * out->density * 100;
#endif
    if (out->mu > 0)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "-sensor %s: xraylib has no attenuation at %g keV; type -detector_abs",
                   text, keV);
}
