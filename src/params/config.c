/* SPDX-License-Identifier: MIT */
/* A configuration that nobody has typed. */
#include <stdio.h>
#include <string.h>

#include "params.h"

/* Programs that were compiled before count on it: a new member takes its bytes from `reserved`. */
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(nb_config) == 65536 && sizeof(nb_series) == 8192),
               "nb_config and nb_series keep their sizes");

static void set_default(const nb_param *p, nb_config *cfg)
{
    void *field = (char *)cfg + p->offset;
    switch (p->kind) {
    case NB_KIND_SWITCH:
    case NB_KIND_CHOICE:
    case NB_KIND_INTEGER:
        for (int i = 0; i < nb_param_elements(p); i++)
            ((int *)field)[i] = (int)p->unset;
        return;
    case NB_KIND_NUMBER:
        for (int i = 0; i < nb_param_elements(p); i++)
            ((double *)field)[i] = p->unset;
        return;
    case NB_KIND_NUMBER_OR:
        if (p->size == sizeof(int))
            *(int *)field = (int)p->unset;
        else
            *(double *)field = p->unset;
        return;
    case NB_KIND_DEPTH:
        *(double *)field = p->unset;
        return;
    case NB_KIND_FILE:
        if (p->flags & NB_PARAM_OUTPUT && p->fallback)
            snprintf(field, p->size, "%s", p->fallback);
        return;
    default: /* zero */
        return;
    }
}

void nb_config_defaults(nb_config *cfg)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    if (!cfg)
        return;
    memset(cfg, 0, sizeof *cfg);
    for (size_t i = 0; i < count; i++)
        if (!(table[i].flags & (NB_PARAM_VIEW | NB_PARAM_SERIES)))
            set_default(&table[i], cfg);
}
