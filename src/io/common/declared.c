/* SPDX-License-Identifier: MIT */
#include "panel_spec.h"

#include <math.h>

#include "../../base/error.h"

nb_status nb_declared_check(const char *name, double wanted, double stored, double max_MB,
                            nb_error *err)
{
    double limit = 1e6 * (max_MB > 0 ? max_MB : NB_DECLARED_MB);
    if (wanted <= NB_DECLARED_RATIO * stored || wanted <= limit)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "declares %.0f MB of data, but the file has only %.3g MB: it may "
                      "be damaged; type -max_read %.0f to read it anyway",
                      wanted / 1e6, stored / 1e6, ceil(wanted / 1e6));
}
