/* SPDX-License-Identifier: MIT */
/* -realism: the flags that each word stands for. */
#include <string.h>

#include "../base/error.h"
#include "params.h"

enum { MX = 1 << NB_REALISM_MX, SSX = 1 << NB_REALISM_SSX, XFEL = 1 << NB_REALISM_XFEL };

/* Sources and ranges: docs/physics.md, section 20. */
static const struct {
    int of;
    const char *flag, *value;
} rows[] = {
    {MX | SSX, "calibration", "0.01"},
    {XFEL, "calibration", "0.03"},
    {MX, "vary", "fluence:normal:1%,overlap:offset:8%,spindle:normal:0.002"},
    {SSX, "vary",
     "fluence:normal:1%,overlap:offset:40%,crystal_volume:lognormal:60%,"
     "cell:normal:0.2%,mosaic:lognormal:30%"},
    {XFEL, "vary",
     "fluence:normal:10%,lambda:normal:0.1%,overlap:offset:40%,"
     "crystal_volume:lognormal:60%,cell:normal:0.2%,mosaic:lognormal:30%"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static int is_of(int row, const nb_config *cfg)
{
    return cfg->realism && rows[row].of >> cfg->realism & 1;
}

const char *nb_realism_vary(const nb_config *cfg)
{
    for (int i = 0; i < ROWS; i++)
        if (is_of(i, cfg) && !strcmp(rows[i].flag, "vary"))
            return rows[i].value;
    return "";
}

nb_status nb_realism_apply(nb_config *cfg, const nb_hooks *hooks, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < ROWS && !st; i++) {
        const nb_param *p = nb_param_find(rows[i].flag);
        if (!is_of(i, cfg) || p->flags & NB_PARAM_SERIES || nb_param_is_set(p, cfg))
            continue;
        st = nb_param_put(p, cfg, &rows[i].value, 1, err);
        if (!st)
            nb_notice(hooks, "-realism %s: -%s %s",
                      nb_param_choice("realism", (int)cfg->realism), p->name,
                      rows[i].value);
    }
    return st;
}
