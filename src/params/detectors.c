/* SPDX-License-Identifier: MIT */
/* Detectors by name, with the numbers that their makers publish. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "params.h"

/* clang-format off */
/* Modules and gaps give the sizes that the makers publish: 6M 2463 x 2527, EIGER 16M 4150
 * x 4371, EIGER2 16M 4148 x 4362. Sources: DECTRIS, technology of PILATUS (20-bit
 * counters, 0.32 mm Si), specifications of PILATUS3 X (0.45 mm), PILATUS3 X CdTe (1 mm),
 * EIGER X, EIGER2 X, EIGER2 X CdTe (0.75 mm; two columns where sensors meet), the list of
 * pyFAI 2025. Only the first and the last of these sources were read. These numbers are
 * not yet compared with data sheets: 0.45 mm Si of PILATUS3 and EIGER2, 0.32 mm of
 * JUNGFRAU, largest count 65535 of CCDs. */
#define PILATUS(name, nf, ns, material, um, source) \
    {name, {nf, ns}, {487, 195}, {7, 17}, 0, 0, 172, material, um, 1048575, 1, NULL, source}
#define EIGER(name, nf, ns) \
    {name, {nf, ns}, {1030, 514}, {10, 37}, 0, 0, 75, "Si", 450, 0, 1, NULL, "DECTRIS, EIGER X"}
#define EIGER2(name, nf, ns) \
    {name, {nf, ns}, {1028, 512}, {12, 38}, 0, 0, 75, "Si", 450, 0, 1, NULL, "DECTRIS, EIGER2 X"}, \
    {name "_cdte", {nf, ns}, {1028, 512}, {12, 38}, 2, 0, 75, "CdTe", 750, 0, 1, NULL, "DECTRIS, EIGER2 X CdTe; pyFAI"}
/* mm: edge of the active area; pixels: number along the edge (Rayonix, MX series and
 * MX-HS series). Binnings and 40 um of phosphor: pyFAI 2025. */
#define RAYONIX(name, mm, pixels, binnings) \
    {name, {1, 1}, {pixels, pixels}, {0, 0}, 0, 0, 1000.0 * (mm) / (pixels), "Gd2O2S", 40, 65535, 0, binnings, \
        "Rayonix, MX series; pyFAI"}
#define FAST_BINNINGS "1 2 3 4 5 6 8 10"
/* The beamline places the modules. */
#define MOVABLE(name) {name, {0, 0}, {0, 0}, {0, 0}, 0, 0, 0, "", 0, 0, 0, NULL, ""}

static const nb_known_detector known[] = {
    PILATUS("pilatus_300k", 1, 3, "Si", 320, "DECTRIS, PILATUS"),
    PILATUS("pilatus_1m", 2, 5, "Si", 320, "DECTRIS, PILATUS"),
    PILATUS("pilatus_2m", 3, 8, "Si", 320, "DECTRIS, PILATUS"),
    PILATUS("pilatus_6m", 5, 12, "Si", 320, "DECTRIS, PILATUS"),
    PILATUS("pilatus3_300k", 1, 3, "Si", 450, "DECTRIS, PILATUS3 X"),
    PILATUS("pilatus3_1m", 2, 5, "Si", 450, "DECTRIS, PILATUS3 X"),
    PILATUS("pilatus3_2m", 3, 8, "Si", 450, "DECTRIS, PILATUS3 X"),
    PILATUS("pilatus3_6m", 5, 12, "Si", 450, "DECTRIS, PILATUS3 X"),
    EIGER("eiger_1m", 1, 2),
    EIGER("eiger_4m", 2, 4),
    EIGER("eiger_9m", 3, 6),
    EIGER("eiger_16m", 4, 8),
    EIGER2("eiger2_1m", 1, 2),
    EIGER2("eiger2_4m", 2, 4),
    EIGER2("eiger2_9m", 3, 6),
    EIGER2("eiger2_16m", 4, 8),
    /* integrates charge; a double-width pixel between chips counts as two; A. Mozzanica
     * et al., Synchrotron Radiation News 31, 16 (2018) */
    {"jungfrau_4m", {2, 4}, {1030, 514}, {8, 36}, 0, 0, 75, "Si", 320, 0, 0, NULL, "PSI; pyFAI"},
    RAYONIX("rayonix_mx170hs", 170, 3840, FAST_BINNINGS),
    RAYONIX("rayonix_mx225", 225, 6144, "1 2 4 8"),
    RAYONIX("rayonix_mx225hs", 225, 5760, FAST_BINNINGS),
    RAYONIX("rayonix_mx300", 300, 8192, "1 2 4 8"),
    RAYONIX("rayonix_mx300hs", 300, 7680, FAST_BINNINGS),
    RAYONIX("rayonix_mx325", 325, 8192, "1 2 4 8"),
    RAYONIX("rayonix_mx340hs", 340, 7680, FAST_BINNINGS),
    {"mar165", {1, 1}, {4096, 4096}, {0, 0}, 0, 1, 39.5, "Gd2O2S", 40, 65535, 0, "1 2 4 8", "Rayonix, SX165; pyFAI"},
    RAYONIX("mar225", 225, 6144, "1 2 4 8"),
    MOVABLE("agipd_1m"),
    MOVABLE("cspad"),
    MOVABLE("epix10k_2m"),
    MOVABLE("jungfrau_16m"),
};
/* clang-format on */
enum { COUNT = sizeof known / sizeof *known, LETTERS = 64 };

const nb_known_detector *nb_known_detectors(size_t *count)
{
    *count = COUNT;
    return known;
}

/** Write the letters and digits of a name, in lower case and without the binning, to
 * out. */
static void letters_of(const char *name, char out[LETTERS])
{
    size_t n = 0;
    for (; *name && *name != ':' && n + 1 < LETTERS; name++)
        if (isalnum((unsigned char)*name))
            out[n++] = (char)tolower((unsigned char)*name);
    out[n] = '\0';
}

static nb_status refuse_name(const char *name, const char *letters, nb_error *err)
{
    int far[COUNT];
    char list[160] = "";
    for (int i = 0; i < COUNT; i++) {
        char own[LETTERS];
        letters_of(known[i].name, own);
        far[i] = nb_text_edits(letters, own);
    }
    for (int n = 0; n < 3; n++) {
        const size_t used = strlen(list);
        int best = 0;
        for (int i = 1; i < COUNT; i++)
            best = far[i] < far[best] ? i : best;
        far[best] = 2 * LETTERS;
        snprintf(list + used, sizeof list - used, "%s%s", n ? ", " : "", known[best].name);
    }
    return nb_fail(err, NB_ERR_INPUT,
                   "-detector %.60s: an unknown detector; the nearest names are %s "
                   "(nanobragg -help detectors lists all)",
                   name, list);
}

/** Read the binning n of "name:n"; 1 for a name alone. */
static nb_status read_binning(const nb_known_detector *d, const char *name, int *binning,
                              nb_error *err)
{
    const char *colon = strchr(name, ':');
    *binning = 1;
    if (!colon)
        return NB_OK;
    for (const char *p = d->binnings; p && *p; p += strcspn(p, " "), p += *p == ' ') {
        const size_t n = strcspn(p, " ");
        if (strlen(colon + 1) == n && !memcmp(colon + 1, p, n)) {
            *binning = atoi(p);
            return NB_OK;
        }
    }
    return nb_fail(err, NB_ERR_INPUT, "-detector %.60s: the binnings of %s are %s", name,
                   d->name, d->binnings ? d->binnings : "1 alone; leave :n out");
}

int nb_detector_pixels(const nb_known_detector *d, int axis, int binning)
{
    const int n = d->modules[axis];
    return (n * d->module[axis] + (n - 1) * d->gap[axis]) / binning;
}

static nb_status check_size(const nb_config *cfg, const nb_known_detector *d, int binning,
                            nb_error *err)
{
    for (int i = 0; i < 2; i++) {
        const int typed = cfg->detpixels[i];
        const char *flag = NB_GIVEN(cfg, detsize_mm[i]) ? "size"
                           : typed && typed != nb_detector_pixels(d, i, binning)
                               ? "pixels"
                               : NULL;
        if (flag)
            return nb_fail(err, NB_ERR_INPUT,
                           "-det%s contradicts -detector %.60s, which has %d x %d "
                           "pixels; for a part of it type -roi",
                           flag, cfg->detector_name, nb_detector_pixels(d, 0, binning),
                           nb_detector_pixels(d, 1, binning));
    }
    return NB_OK;
}

nb_status nb_detector_named(const nb_config *cfg, const nb_known_detector **out,
                            int *binning, nb_error *err)
{
    const char *name = cfg->detector_name;
    char letters[LETTERS], own[LETTERS];
    nb_status st;
    *out = NULL;
    *binning = 1;
    if (!name[0])
        return NB_OK;
    letters_of(name, letters);
    for (int i = 0; i < COUNT && !*out; i++) {
        letters_of(known[i].name, own);
        *out = strcmp(letters, own) == 0 ? &known[i] : NULL;
    }
    if (!*out)
        return refuse_name(name, letters, err);
    if (cfg->compat)
        return nb_fail(err, NB_ERR_INPUT,
                       "-detector %.60s contradicts -compat: the old program knows no "
                       "detectors; leave one of them out",
                       name);
    if (!(*out)->modules[0])
        return nb_fail(err, NB_ERR_INPUT,
                       "-detector %.60s: its modules stand where the beamline puts "
                       "them; give the beamline's file by -geom, -expt or -nxmx",
                       name);
    st = read_binning(*out, name, binning, err);
    return st ? st : check_size(cfg, *out, *binning, err);
}

int nb_detector_says_saturation(const nb_config *cfg)
{
    const nb_known_detector *d;
    int binning;
    return !nb_detector_named(cfg, &d, &binning, NULL) && d &&
           d->saturation == cfg->saturation;
}
