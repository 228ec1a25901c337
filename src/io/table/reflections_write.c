/* SPDX-License-Identifier: MIT */
#include "hkl.h"

#include <stdio.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"

enum { LINE = 500 }; /* bytes; the longest line is the head with five numbers */

static int format_head(const nb_reflections *list, char *text)
{
    char diffuse[40] = "", off[60] = "";
    if (list->diffuse > 0)
        snprintf(diffuse, sizeof diffuse, "diffuse %.9g, ", list->diffuse);
    if (list->off_panels > 0)
        snprintf(off, sizeof off, ", moved off the panels %.9g", list->off_panels);
    return snprintf(
        text, LINE,
        "# nanobragg " NB_VERSION ": %zu reflections; photons of the "
        "background %.9g, %snot listed %.9g%s; units: fast, slow pixel; intensity, peak "
        "photon; "
        "phi deg; wavelength A; excitation 1/A; F electron; d A; background "
        "photon/pixel; "
        "pixels pixel; sigma photon\n"
        "%sh\tk\tl\t%sfast\tslow\tintensity\tpeak\tphi\twavelength\texcitation\tF\td\t"
        "background\tpixels\tsigma\n",
        list->count, list->background, diffuse, list->unassigned, off,
        list->crystals ? "crystal\ttwin\t" : "", list->panels > 1 ? "panel\t" : "");
}

static int format_one(const nb_reflection *s, const nb_reflections *list, char *text)
{
    char panel[16] = "", crystal[32] = "";
    if (list->panels > 1)
        snprintf(panel, sizeof panel, "%d\t", s->panel);
    if (list->crystals)
        snprintf(crystal, sizeof crystal, "%d\t%d\t", s->crystal, s->twin);
    return snprintf(
        text, LINE,
        "%s%d\t%d\t%d\t%s%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.6g\t%.9g\t%.9g\t"
        "%.9g\t%.9g\t%.9g\n",
        crystal, s->h, s->k, s->l, panel, s->fast, s->slow, s->intensity, s->peak,
        s->phi_deg, s->wavelength_A, s->excitation, s->F, s->d, s->background, s->pixels,
        s->sigma);
}

nb_status nb_reflections_write(const char *path, const nb_reflections *list, nb_error *err)
{
    char *text = nb_alloc_raw(list->count + 1, LINE, "list of spots", err);
    size_t used;
    nb_status st;
    NB_NEED(text);
    used = (size_t)format_head(list, text);
    for (size_t i = 0; i < list->count; i++)
        used += (size_t)format_one(&list->list[i], list, text + used);
    st = nb_outfile_put(path, text, used, err);
    nb_free(text);
    return st;
}
