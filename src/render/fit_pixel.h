/* SPDX-License-Identifier: MIT */
/** A pixel of an observed image: its loss, and its numbers for the normal equations. */
#ifndef NB_RENDER_FIT_PIXEL_H
#define NB_RENDER_FIT_PIXEL_H

#include "../nanobragg/derivatives.h"
#include "../physics/ray.h"
#include "backend.h"

#define NB_LEAST_PHOTONS 1e-9 /* smallest model in a logarithm or a denominator */

/** An observation that is compared with a scene. */
typedef struct nb_slope_fit {
    const nb_observation *seen;
    const nb_scene *scene;
    double wavelength_A; /* wavelength for the radial background */
} nb_slope_fit;

/** One pixel: loss, derivatives by the model m (photons), and the two knots of its radial
 * background. */
typedef struct nb_fit_pixel {
    double loss, slope, weight; /* dloss/dm; Fisher information of m */
    /* index of the first of the two knots; -1 without a radial background */
    int knot;
    double hat[2]; /* weights of the two knots */
} nb_fit_pixel;

NB_HD nb_fit_pixel nb_no_pixel(void)
{
    nb_fit_pixel p;
    p.loss = p.slope = p.weight = p.hat[0] = p.hat[1] = 0;
    p.knot = -1;
    return p;
}

NB_HD nb_fit_pixel nb_poisson_pixel(double n, double m)
{
    nb_fit_pixel p = nb_no_pixel();
    n = n > 0 ? n : 0;
    m = m > NB_LEAST_PHOTONS ? m : NB_LEAST_PHOTONS;
    p.loss = m - n + (n > 0 ? n * log(n / m) : 0);
    p.slope = 1 - n / m;
    p.weight = 1 / m;
    return p;
}

NB_HD nb_fit_pixel nb_gauss_pixel(double n, double m, double sigma)
{
    double V = (m > NB_LEAST_PHOTONS ? m : NB_LEAST_PHOTONS) + sigma * sigma, d = n - m;
    nb_fit_pixel p = nb_no_pixel();
    p.loss = 0.5 * (d * d / V + log(V));
    p.slope = -d / V + (1 - d * d / V) / (2 * V);
    p.weight = 1 / V + 1 / (2 * V * V);
    return p;
}

/** Set p->knot and p->hat at a pixel's sin(theta)/lambda. Returns the radial background
 * there: linear between knots, constant outside. */
NB_HD double nb_radial_pixel(const nb_slope_fit *fit, const nb_span *span, int f,
                             nb_fit_pixel *p)
{
    const nb_panel *panel = &fit->scene->panels[span->panel];
    const nb_observation *seen = fit->seen;
    nb_vec3 d = nb_unit(nb_panel_point(panel, (span->fast + f + 0.5) * panel->pixel_fast,
                                       (span->slow + 0.5) * panel->pixel_slow, 0));
    double x = nb_norm(nb_sub(d, panel->beam)) / (2 * fit->wavelength_A), t;
    int k = 0, last = seen->n_knots - 1;
    if (seen->n_knots == 1) {
        p->knot = 0;
        p->hat[0] = 1;
        p->hat[1] = 0;
        return seen->values[0];
    }
    while (k < last - 1 && x >= seen->knots[k + 1])
        k++;
    t = (x - seen->knots[k]) / (seen->knots[k + 1] - seen->knots[k]);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    p->knot = k;
    p->hat[0] = 1 - t;
    p->hat[1] = t;
    return p->hat[0] * seen->values[k] + p->hat[1] * seen->values[k + 1];
}

NB_HD nb_fit_pixel nb_fit_compare(const nb_slope_fit *fit, const nb_span *span, int f,
                                  double image)
{
    const nb_observation *seen = fit->seen;
    const size_t at = span->at + (size_t)f;
    nb_fit_pixel hats = nb_no_pixel(), p;
    double m = image;
    if (seen->background)
        m += seen->background[at];
    if (seen->n_knots > 0)
        m += nb_radial_pixel(fit, span, f, &hats);
    p = seen->likelihood == NB_LIKELIHOOD_GAUSS
            ? nb_gauss_pixel(seen->photons[at], m, seen->sigma)
            : nb_poisson_pixel(seen->photons[at], m);
    p.knot = hats.knot;
    p.hat[0] = hats.hat[0];
    p.hat[1] = hats.hat[1];
    return p;
}

#endif
