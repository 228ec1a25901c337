/* SPDX-License-Identifier: MIT */
#include "left_out.h"

#include <string.h>

#include "common.h"

nb_status nb_cli_leave_out(const char *mask, double max_read_MB, nb_image *image,
                           nb_error *err)
{
    nb_config typed;
    nb_image read;
    nb_error why = {0};
    nb_status st;
    if (!mask)
        return NB_OK;
    nb_config_defaults(&typed);
    typed.max_read_MB = max_read_MB;
    memset(&read, 0, sizeof read);
    st = nb_image_read(mask, image->fast, image->slow, &typed, &read, &why);
    if (st)
        nb_cli_fail(err, "-mask: %.400s", why.message);
    else
        st = nb_image_leave_out(image, &read, mask, err);
    nb_image_free(&read);
    return st;
}
