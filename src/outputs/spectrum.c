/* SPDX-License-Identifier: MIT */
/* The spectrum of -spectrum: its file, its lines in reports, and calls for programs. */

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../model/units.h"
#include "report.h"
#include "../sim/sim.h"
#include "write.h"

nb_status nb_sim_write_spectrum(const nb_sim *sim, nb_error *err)
{
    const nb_spectrum *s = &sim->model.spectrum;
    nb_draft t = {0};
    if (!sim->cfg.spectrum_out[0])
        return NB_OK;
    nb_draft_put(
        &t, "# -spectrum %s: wavelengths (A) and weights; factor of the fluence %.12g\n",
        s->kind, s->factor);
    for (int i = 0; i < s->n; i++)
        nb_draft_put(&t, "%s%.12g %.12g", i ? " " : "", s->A[i], s->weight[i]);
    nb_draft_put(&t, "\n");
    return nb_draft_write(&t, sim->cfg.spectrum_out, "the spectrum", NB_OK, err);
}

/* ------------------------------------------------------------------ reports */

void nb_json_spectrum(nb_json root, const nb_spectrum *s)
{
    nb_json o, list;
    if (!s->n)
        return;
    o = nb_json_object(root, "spectrum");
    nb_json_text(o, "kind", s->kind);
    nb_json_number(o, "wavelengths", s->n);
    nb_json_number(o, "factor", s->factor);
    list = nb_json_array(o, "parts");
    for (int i = 0; i < s->parts; i++) {
        const nb_spectrum_part *p = &s->part[i];
        nb_json one = nb_json_add_object(list);
        nb_json_number(one, "photons", p->photons);
        nb_json_number(one, "centre_eV", p->centre_eV);
        nb_json_number(one, "fwhm_eV", p->fwhm);
        if (p->law == NB_SPECTRUM_CHAOTIC)
            nb_json_number(one, "modes", p->modes);
    }
}

/* ------------------------------------------------------------------ programs */

nb_status nb_spectrum_of_frame(const nb_sim *sim, const nb_config *cfg, nb_spectrum *out,
                               nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    const nb_spectrum_use use = {sim->in.files->points, sim->in.files->n_points,
                                 nb_beam_wavelength(all),
                                 .seed = cfg->seed.set ? cfg->seed.value : sim->seed};
    return nb_spectrum_make(all, &use, out, err);
}

nb_status nb_sim_spectrum(const nb_sim *sim, int64_t seed, nb_spectrum_line *lines,
                          int *n, double *factor, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && n);
    NB_OWN_CONFIG cfg = {0};
    nb_spectrum s;
    nb_status st;
    *n = sim->model.spectrum.n;
    if (!lines || !*n)
        return NB_OK;
    nb_config_copy(&cfg, &sim->cfg);
    cfg.wavelengths = sim->model.spectrum.each;
    cfg.seed = (nb_seed){1, seed};
    st = nb_spectrum_of_frame(sim, &cfg, &s, err);
    for (int i = 0; !st && i < s.n; i++)
        lines[i] = (nb_spectrum_line){NB_HC_EV_ANGSTROM / s.A[i], s.A[i], s.weight[i],
                                      i / s.each};
    if (!st && factor)
        *factor = s.factor;
    if (!st)
        nb_spectrum_free(&s);
    return st;
}
