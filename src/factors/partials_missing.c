/* SPDX-License-Identifier: MIT */
/* Stands where sums of a model are not in the library yet; any other definition wins. */
#include "../base/error.h"
#include "model.h"

__attribute__((weak)) nb_status nb_partials_make(const nb_structure *structure,
                                                 const nb_model_options *options,
                                                 const char *name, const nb_hooks *hooks,
                                                 nb_partials *out, nb_error *err)
{
    (void)structure, (void)options, (void)hooks;
    *out = (nb_partials){0};
    return nb_fail(err, NB_ERR_UNSUPPORTED, "%s: this build cannot sum a model", name);
}

__attribute__((weak)) void nb_partials_free(nb_partials *partials)
{
    (void)partials;
}
