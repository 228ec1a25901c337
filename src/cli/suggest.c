/* SPDX-License-Identifier: MIT */
/* Suggestions for an unknown flag, by letters and by meaning. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "options.h"

/* Words of other programs, and common words, for our flags. */
static const struct {
    const char *words, *flag;
} meanings[] = {
    {"adu_per_photon quantum_gain", "gain"},
    {"offset pedestal bias", "adc"},
    {"wavelength wave", "lambda"},
    {"size image_size npix npixels xpixels nx ny", "detpixels"},
    {"pixelsize pixel_size psize", "pixel"},
    {"detector_distance dist clen camera_length", "distance"},
    {"beam_center beam_centre beamcenter centre center", "Xbeam"},
    {"space_group symmetry", "sg"},
    {"photons intensity", "fluence"},
    {"orientation matrix_file umat", "mat"},
    {"rotation oscillation osc_range", "osc"},
    {"start_angle osc_start", "phi"},
    {"images n_images nframes", "frames"},
    {"bandwidth dispersion_percent", "dispersion"},
    {"sensor_thickness thickness", "detector_thick"},
    {"sensor_material material", "sensor"},
    {"resolution d_min res", "dmin"},
    {"nthreads num_threads cores jobs_n j", "threads"},
    {"gpu", "device"},
    {"out o outfile", "floatfile"},
    {"mmcif model_file coordinates", "pdb"},
    {"labels columns columnlabel", "mtzlabel"},
    {"kmask bulk_solvent solvent", "ksol"},
    {"fp fdp f_prime", "fprime"},
};

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

#define NAME_MAX_LENGTH 48

/** Levenshtein distance without regard to case; two equal texts give 0. */
static int edit_distance(const char *a, const char *b)
{
    int row[NAME_MAX_LENGTH + 1];
    int n = (int)strlen(b);

    if (n > NAME_MAX_LENGTH || strlen(a) > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            int same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);
            int here = least(row[j + 1] + 1, row[j] + 1, diagonal + !same);
            diagonal = row[j + 1];
            row[j + 1] = here;
        }
    }
    return row[n];
}

/** Spellings of a flag one after the other: the name first.  Returns 0 at the end. */
static int next_spelling(const nb_flag *flag, const char **cursor, int *started,
                         char word[64])
{
    if (*started)
        return nb_next_word(cursor, word, 64);
    *started = 1;
    *cursor = flag->synonyms;
    return snprintf(word, 64, "%s", flag->name) > 0;
}

/** A slip of the fingers: one letter in four at most. */
static int nearest_letters(const char *name, char *nearest, size_t size)
{
    int best = 1 + ((int)strlen(name) + 2) / 4, found = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));) {
        char word[64];
        const char *cursor = NULL;
        int started = 0;
        while (next_spelling(f, &cursor, &started, word)) {
            int distance = edit_distance(name, word);
            if (distance >= best || distance >= (int)strlen(name))
                continue;
            best = distance;
            found = 1;
            snprintf(nearest, size, "%s", word);
        }
    }
    return found;
}

/** A flag that does what the word says. */
static int same_meaning(const char *name, char *nearest, size_t size)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const char *cursor = meanings[i].words;
        char word[64];
        while (nb_next_word(&cursor, word, sizeof word))
            if (!strcasecmp(word, name))
                return snprintf(nearest, size, "%s", meanings[i].flag) > 0;
    }
    return 0;
}

int nb_flag_nearest(const char *argument, char *nearest, size_t size)
{
    const char *name = nb_bare_name(argument);
    return name &&
           (same_meaning(name, nearest, size) || nearest_letters(name, nearest, size));
}
