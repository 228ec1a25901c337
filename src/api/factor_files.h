/* SPDX-License-Identifier: MIT */
/** Kinds of files of structure factors, for messages. */
#ifndef NB_API_FACTOR_FILES_H
#define NB_API_FACTOR_FILES_H

#include "../io/gemmi.h"

/** "an MTZ file", and in *flag which flags take it (NULL: none); NULL: nothing that is known. */
const char *nb_content_means(nb_content kind, const char *data, size_t n,
                             const char **flag);

/** -hkl could not be read (st, err): if it is a file for another flag, say so instead. */
nb_status nb_hkl_refuse(const char *data, size_t n, const char *path, nb_status st,
                        nb_error *err);

#endif
