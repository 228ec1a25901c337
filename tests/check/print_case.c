/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cases.h"

/** Prints parameters that differ from their defaults. */
static void print_words(FILE *out, const nb_config *cfg)
{
    char text[4096], unset[4096];
    nb_config defaults;
    size_t count;
    const nb_param *rows = nb_params(&count);
    nb_config_defaults(&defaults);
    for (size_t i = 0; i < count; i++) {
        const nb_param *p = &rows[i];
        if (p->flags & (NB_PARAM_SERIES | NB_PARAM_VIEW) || p->kind == NB_KIND_PRESET ||
            nb_param_get(p, cfg, " ", text, sizeof text, NULL) ||
            nb_param_get(p, &defaults, " ", unset, sizeof unset, NULL) ||
            strcmp(text, unset) == 0)
            continue;
        fprintf(out, " -%s %s", p->name, text);
    }
}
/** Prints the panels of a detector that flags cannot describe. */
static void print_panels(FILE *out, const nb_detector_spec *detector)
{
    for (int k = 0; detector && k < detector->n_panels; k++) {
        const nb_panel_spec *p = &detector->panels[k];
        const double *o = p->origin, *f = p->fast, *s = p->slow;
        fprintf(out,
                "#   panel %d: %d x %d pixels of %g x %g m at %.17g %.17g %.17g, fast "
                "%.17g %.17g %.17g, slow %.17g %.17g %.17g, thick %g m, 1/%g m\n",
                k, p->size[0], p->size[1], p->pixel[0], p->pixel[1], o[0], o[1], o[2],
                f[0], f[1], f[2], s[0], s[1], s[2], p->thickness, 1 / p->attenuation);
    }
}

void check_print_case(FILE *out, const check_case *c)
{
    const nb_factor_table *sf = &c->inputs.table;
    fprintf(out, "#   nanobragg");
    if (sf->nh)
        fprintf(out, " -hkl <random, %d..%d %d..%d %d..%d>", sf->hmin,
                sf->hmin + sf->nh - 1, sf->kmin, sf->kmin + sf->nk - 1, sf->lmin,
                sf->lmin + sf->nl - 1);
    if (sf->n_tables > 1)
        fprintf(out, " <%d tables for the sources>", sf->n_tables);
    print_words(out, &c->cfg);
    if (c->sources)
        fprintf(out, " -sourcefile <random, %d lines>", c->inputs.n_sources);
    fprintf(out, "%s%s\n", c->mask ? " -mask <random>" : "",
            c->scan ? " -mat <random, it changes along the frame>" : "");
    print_panels(out, c->cfg.detector);
}
