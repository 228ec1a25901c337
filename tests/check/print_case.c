/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "cases.h"
#include "physics/shapes.h"

static void number(FILE *out, const char *flag, double value)
{
    if (!isnan(value))
        fprintf(out, " -%s %.17g", flag, value);
}

static void count(FILE *out, const char *flag, int value)
{
    if (value)
        fprintf(out, " -%s %d", flag, value);
}

static void flag_if(FILE *out, const char *flag, int on)
{
    if (on)
        fprintf(out, " -%s", flag);
}

static void print_crystal(FILE *out, const nb_config *cfg)
{
#define NB_DO(number, law, height, width, reach, step, rate, name, flag, ...)            \
    [number] = flag,
    static const char *const shapes[] = {NB_SHAPES(NB_DO)};
#undef NB_DO
    fprintf(out, " -cell %.17g %.17g %.17g %.17g %.17g %.17g", cfg->cell[0], cfg->cell[1],
            cfg->cell[2], cfg->cell[3], cfg->cell[4], cfg->cell[5]);
    fprintf(out, " -Na %.17g -Nb %.17g -Nc %.17g -%s -fudge %.17g", cfg->N[0], cfg->N[1],
            cfg->N[2], shapes[cfg->shape], cfg->fudge);
    if (cfg->misset_mode == NB_MISSET_FIXED)
        fprintf(out, " -misset %.17g %.17g %.17g", cfg->misset_deg[0], cfg->misset_deg[1],
                cfg->misset_deg[2]);
    number(out, "mosaic", cfg->mosaic_spread_deg);
    count(out, "mosaic_domains", cfg->mosaic_domains);
    if (cfg->mosaic_seed.set)
        fprintf(out, " -mosaic_seed %lld", (long long)cfg->mosaic_seed.value);
    number(out, "phi", cfg->phi_deg);
    number(out, "osc", cfg->osc_deg);
    count(out, "phisteps", cfg->phi_steps);
    flag_if(out, "compat", cfg->compat);
    flag_if(out, "interpolate", cfg->interpolate == NB_ON);
    flag_if(out, "nointerpolate", cfg->interpolate == NB_OFF);
}

static void print_beam(FILE *out, const nb_config *cfg)
{
    number(out, "lambda", cfg->lambda_A);
    number(out, "hdivrange", cfg->hdiv_range_mrad);
    count(out, "hdivsteps", cfg->hdiv_steps);
    number(out, "vdivrange", cfg->vdiv_range_mrad);
    count(out, "vdivsteps", cfg->vdiv_steps);
    flag_if(out, "square_div", cfg->square_div);
    number(out, "dispersion", cfg->dispersion_pct);
    count(out, "dispsteps", cfg->dispersion_steps);
    number(out, "polar", cfg->polarization);
    flag_if(out, "nopolar", cfg->nopolar);
    number(out, "fluence", cfg->fluence);
}

static void print_detector(FILE *out, const nb_config *cfg)
{
    static const char *const conventions[] = {"mosflm", "mosflm", "xds",
                                              "adxv",   "denzo",  "dials"};
    if (cfg->convention < NB_CONV_CUSTOM)
        fprintf(out, " -%s", conventions[cfg->convention]);
    fprintf(out, " -detpixels_x %d -detpixels_y %d", cfg->detpixels[0], cfg->detpixels[1]);
    number(out, "pixel", cfg->pixel_mm);
    number(out, "distance", cfg->distance_mm);
    number(out, "close_distance", cfg->close_distance_mm);
    number(out, "Xbeam", cfg->Xbeam_mm);
    number(out, "Ybeam", cfg->Ybeam_mm);
    number(out, "ORGX", cfg->orgx);
    number(out, "ORGY", cfg->orgy);
    number(out, "detector_rotx", cfg->rot_deg[0]);
    number(out, "detector_roty", cfg->rot_deg[1]);
    number(out, "detector_rotz", cfg->rot_deg[2]);
    number(out, "twotheta", cfg->twotheta_deg);
    flag_if(out, "pivot beam", cfg->pivot == NB_PIVOT_BEAM);
    flag_if(out, "pivot sample", cfg->pivot == NB_PIVOT_SAMPLE);
    flag_if(out, "curved_det", cfg->curved);
    flag_if(out, "curved_omega exact", cfg->curved_omega == NB_OMEGA_EXACT);
    flag_if(out, "point_pixel", cfg->point_pixel);
    number(out, "detector_thick", cfg->thick_um);
    number(out, "detector_abs", cfg->abs_um);
    count(out, "detector_thicksteps", cfg->thick_steps);
    flag_if(out, "layer_depth mean", cfg->layer_depth == NB_LAYER_MEAN);
    flag_if(out, "layer_depth front", cfg->layer_depth == NB_LAYER_FRONT);
    count(out, "oversample", cfg->oversample);
    flag_if(out, "oversample_thick", cfg->oversample_thick);
    flag_if(out, "oversample_polar", cfg->oversample_polar);
    flag_if(out, "oversample_omega", cfg->oversample_omega);
    if (cfg->roi_set)
        fprintf(out, " -roi %d %d %d %d", cfg->roi[0], cfg->roi[1], cfg->roi[2],
                cfg->roi[3]);
}

/** The panels of a detector that no flags describe. */
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
    fprintf(out, "#   nanobragg -default_F %.17g", sf->default_F);
    if (sf->nh)
        fprintf(out, " -hkl <random, %d..%d %d..%d %d..%d>", sf->hmin,
                sf->hmin + sf->nh - 1, sf->kmin, sf->kmin + sf->nk - 1, sf->lmin,
                sf->lmin + sf->nl - 1);
    if (sf->n_tables > 1)
        fprintf(out, " <%d tables for the sources>", sf->n_tables);
    print_crystal(out, &c->cfg);
    print_beam(out, &c->cfg);
    if (!c->cfg.detector)
        print_detector(out, &c->cfg);
    if (c->sources)
        fprintf(out, " -sourcefile <random, %d lines>", c->inputs.n_sources);
    flag_if(out, "mask <random>", c->mask != NULL);
    flag_if(out, "mat <random, it changes along the frame>", c->scan != NULL);
    if (c->cfg.water_um > 0)
        number(out, "water", c->cfg.water_um);
    if (c->cfg.dmin_A > 0)
        number(out, "dmin", c->cfg.dmin_A);
    fputc('\n', out);
    print_panels(out, c->cfg.detector);
}
