/* SPDX-License-Identifier: MIT */
/* The exact panels of our own masters: /entry/simulation/panels. */
#include "nxmx_own.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../model/frame.h"
#include "../../params/params.h"

#define PANELS "/entry/simulation/panels"

/** All of a set of n rows of `width` numbers; NULL: it is not that. */
static double *rows_of(const nb_h5_input *in, const char *path, int n, int width)
{
    nb_h5_set set;
    double *values = NULL;
    if (!nb_h5_there(in, path) || !nb_h5_set_open(in, path, -1, &set))
        return NULL;
    if (set.rank == (width > 1 ? 2 : 1) &&
        set.dims[0] * set.dims[1] * set.dims[2] == (hsize_t)n * (hsize_t)width &&
        set.dims[2] == (hsize_t)(width > 1 ? width : n))
        (void)nb_h5_set_doubles(&set, &values, NULL);
    nb_h5_set_close(&set);
    return values;
}

static void turn(nb_convention convention, const double lab[3], double out[3])
{
    nb_nexus_of_lab(convention, nb_v3(lab[0], lab[1], lab[2]), out);
}

typedef struct columns {
    double *origin, *fast, *slow, *pixel, *thickness, *attenuation, *gain, *saturation;
} columns;

static void use(const columns *c, nb_convention convention, int k, nb_panel_spec *p)
{
    turn(convention, c->origin + 3 * k, p->origin);
    turn(convention, c->fast + 3 * k, p->fast);
    turn(convention, c->slow + 3 * k, p->slow);
    p->pixel[0] = c->pixel[2 * k];
    p->pixel[1] = c->pixel[2 * k + 1];
    p->thickness = c->thickness[k];
    p->attenuation = c->thickness[k] > 0 ? c->attenuation[k] : NAN;
    p->gain = c->gain[k];
    p->saturation = c->saturation[k];
}

nb_status nb_nxmx_read_own(const nb_h5_input *in, int convention, nb_detector_spec *d,
                           nb_error *err)
{
    char said[16];
    const int n = d->n_panels;
    columns c;
    nb_status st = NB_OK;
    if (!nb_h5_there(in, PANELS) ||
        !nb_h5_get_string(in, PANELS, "convention", said, sizeof said) ||
        strcmp(said, nb_param_choice("convention", convention)) != 0)
        return NB_OK;
    c = (columns){
        rows_of(in, PANELS "/origin", n, 3),    rows_of(in, PANELS "/fast", n, 3),
        rows_of(in, PANELS "/slow", n, 3),      rows_of(in, PANELS "/pixel", n, 2),
        rows_of(in, PANELS "/thickness", n, 1), rows_of(in, PANELS "/attenuation", n, 1),
        rows_of(in, PANELS "/gain", n, 1),      rows_of(in, PANELS "/saturation", n, 1)};
    if (c.origin && c.fast && c.slow && c.pixel && c.thickness && c.attenuation &&
        c.gain && c.saturation)
        for (int k = 0; !st && k < n; k++) {
            const nb_place_in_file at = {in->name, 0, PANELS};
            use(&c, (nb_convention)convention, k, &d->panels[k]);
            st = nb_panel_spec_check(&d->panels[k], &at, err);
        }
    nb_free(c.origin);
    nb_free(c.fast);
    nb_free(c.slow);
    nb_free(c.pixel);
    nb_free(c.thickness);
    nb_free(c.attenuation);
    nb_free(c.gain);
    nb_free(c.saturation);
    return st;
}
#else
typedef int nb_nxmx_own_is_absent; /* a file must not be empty */
#endif
