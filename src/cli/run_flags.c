/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flags.h"

enum { EXTRA = 5 }; /* places for program, -floatfile NAME, one more flag, NULL */

static nb_status no_memory(nb_error *err)
{
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_NOMEM;
    snprintf(err->message, sizeof err->message, "out of memory (command line)");
    return err->code;
}

nb_status nb_run_flags_set(nb_run_flags *f, int at, const char *text, nb_error *err)
{
    char *copy = strdup(text);
    if (!copy)
        return no_memory(err);
    free(f->argv[at]);
    f->argv[at] = copy;
    f->count = at < f->count ? f->count : at + 1;
    return NB_OK;
}

void nb_run_flags_free(nb_run_flags *f)
{
    for (int i = 0; f->argv && i < f->count; i++)
        free(f->argv[i]);
    free(f->argv);
    memset(f, 0, sizeof *f);
}

static int has_hkl(char **flags, int count)
{
    for (int i = 0; i < count; i++) {
        const nb_flag *o = nb_flag_find(flags[i]);
        if (o && !strcmp(o->name, "hkl"))
            return 1;
    }
    return 0;
}

/** Path of the option's file for a program that runs in another folder. */
static nb_status place(const nb_flag *flag, const char *file, int with_hkl,
                       char path[NB_PATH_MAX], nb_error *err)
{
    const char *slash = strrchr(file, '/');
    char here[NB_PATH_MAX];
    /* -hkl writes the cache of -dump */
    int writes =
        (flag->flags & NB_PARAM_OUTPUT) != 0 || (!strcmp(flag->name, "dump") && with_hkl);
    int n;
    if (writes && strncmp(file, "/dev/", 5))
        n = snprintf(path, NB_PATH_MAX, "%s", slash ? slash + 1 : file);
    else if (writes || file[0] == '/' || !getcwd(here, sizeof here))
        n = snprintf(path, NB_PATH_MAX, "%s", file);
    else
        n = snprintf(path, NB_PATH_MAX, "%s/%s", here, file);
    return n < NB_PATH_MAX
               ? NB_OK
               : nb_cli_fail(err, "-%s %.60s...: the path is too long", flag->name, file);
}

nb_status nb_run_flags_make(char **flags, int count, nb_run_flags *out, nb_error *err)
{
    int with_hkl = has_hkl(flags, count);
    char path[NB_PATH_MAX];
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    out->argv = calloc((size_t)count + EXTRA, sizeof *out->argv);
    if (!out->argv)
        return no_memory(err);
    st = nb_run_flags_set(out, 0, "program", err);
    for (int i = 0; i < count && !st; i++) {
        const nb_flag *flag = i > 0 ? nb_flag_find(flags[i - 1]) : NULL;
        int is_path = flag && flag->kind == NB_KIND_FILE;
        if (is_path)
            st = place(flag, flags[i], with_hkl, path, err);
        if (!st)
            st = nb_run_flags_set(out, out->count, is_path ? path : flags[i], err);
    }
    if (!st)
        st = nb_run_flags_set(out, out->count, "-floatfile", err);
    if (!st)
        st = nb_run_flags_set(out, out->count, "floatimage.bin", err);
    if (st)
        nb_run_flags_free(out);
    return st;
}
