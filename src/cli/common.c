/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <stdio.h>
#include <string.h>

int nb_cli_exit_status(nb_status status)
{
    switch (status) {
    case NB_OK:
        return 0;
    case NB_ERR_INPUT:
    case NB_ERR_UNSUPPORTED:
        return 2;
    case NB_ERR_CANCELLED:
        return 130;
    default:
        return 1;
    }
}

void nb_cli_say(const char *kind, const char *text)
{
    char line[1024];

    snprintf(line, sizeof line, "%s", text);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "nanobragg: %s: %s\n", kind, line);
}

nb_status nb_cli_check_stdout(nb_error *err)
{
    if (!fflush(stdout) && !ferror(stdout))
        return NB_OK;
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_IO;
    snprintf(err->message, sizeof err->message, "standard output could not be written");
    return err->code;
}
