/* SPDX-License-Identifier: MIT */
/* A fit in words. */
#include <math.h>
#include <string.h>

#include "refine.h"

void nb_refine_print_stage(FILE *out, const nb_refine_stage *s)
{
    const int images = !strncmp(s->name, "search", 6) || !strcmp(s->name, "orientations");
    fprintf(out, "%-18s %8lld pixels %4d %s  loss %.6g%s  %.3f s\n", s->name,
            (long long)s->pixels, s->evaluations, images ? "images     " : "evaluations",
            s->loss, s->converged ? "" : " (still falling)", s->seconds);
    fflush(out);
}

void nb_refine_print(FILE *out, const nb_refinement *r)
{
    fprintf(out,
            "\nparameter                 start            value        sigma  unit\n");
    for (int i = 0; i < r->n_parameters; i++) {
        const nb_refined *p = &r->parameters[i];
        char sigma[24] = "-";
        if (!isnan(p->sigma))
            snprintf(sigma, sizeof sigma, "%.2g", p->sigma);
        fprintf(out, "%-16s %14.8g %16.9g %12s  %s%s\n", p->name, p->start, p->value,
                sigma, p->unit, p->at_bound ? " (at its bound)" : "");
    }
    if (r->rotated)
        fprintf(out,
                "misset           %.5f %.5f %.5f deg, sigma about the lab axes %.2g %.2g "
                "%.2g deg\n",
                r->misset_deg[0], r->misset_deg[1], r->misset_deg[2],
                r->rotation_sigma_deg[0], r->rotation_sigma_deg[1],
                r->rotation_sigma_deg[2]);
    fprintf(
        out,
        "%s: deviance per pixel %.4f over %lld pixels, correlation %.4f, %d evaluations, "
        "%d images, %.2f s\n",
        r->status, r->deviance_per_pixel, (long long)r->pixels, r->picture_correlation,
        r->evaluations, r->images, r->seconds);
}
