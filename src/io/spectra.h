/* SPDX-License-Identifier: MIT */
/** Spectra of shots (`-spectra`): one a line, pairs of wavelength and weight. */
#ifndef NB_IO_SPECTRA_H
#define NB_IO_SPECTRA_H

#include "../model/beam.h"
#include "../nanobragg.h"

/** Spectrum i: lines[first[i]] to lines[first[i + 1] - 1], as a source list has them. */
typedef struct nb_spectra {
    nb_source_line *lines; /* owned */
    size_t *first;         /* owned, [count + 1] */
    int count;
} nb_spectra;

/** Parse n bytes of text: each line that is not blank is a spectrum, `wavelength weight` again and
 * again, the wavelength in A.  Delimiters: blanks and , ; : ; `#` starts a comment.  Every source
 * stands at `position` (m).  At least `needed` spectra are read, further ones are not looked at.
 * *out is the caller's (nb_spectra_free), zero on error.
 * Errors: NB_ERR_INPUT with the line (not a number, a wavelength without weight, not in
 * 0..10000 A, a negative weight, weights all zero, too few spectra); NB_ERR_NOMEM. */
nb_status nb_spectra_parse(const char *data, size_t n, const char *name, nb_vec3 position,
                           int needed, nb_spectra *out, nb_error *err);
void nb_spectra_free(nb_spectra *spectra); /* NULL is fine */

#endif
