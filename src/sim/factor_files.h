/* SPDX-License-Identifier: MIT */
/** Kinds of files of structure factors, for messages. */
#ifndef NB_API_FACTOR_FILES_H
#define NB_API_FACTOR_FILES_H

#include "../io/structure/gemmi.h"
#include "../io/table/hkl.h"

/** "an MTZ file", and in *flag which flags take it (NULL: none); NULL: nothing that is known. */
const char *nb_content_means(nb_content kind, const char *data, size_t n,
                             const char **flag);

/** The rows of -hkl, a file or an array.  Its bytes go on with *hash.  *list is the caller's
 * (nb_hkl_list_free); its name is static or cfg's.  Errors: NB_ERR_INPUT, NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_hkl_load(const nb_config *cfg, nb_hkl_list *list, uint64_t *hash,
                      nb_error *err);

#endif
