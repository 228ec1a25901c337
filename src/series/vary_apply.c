/* SPDX-License-Identifier: MIT */
/* From the drawn numbers of -vary to a configuration. */
#include "frames.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "../model/crystal.h"
#include "../model/units.h"
#include "../params/params.h"

/** Unset the member that gives the same quantity in another unit. */
static void unset_other(const nb_param *row, nb_config *cfg)
{
    const nb_param *p =
        row->other ? nb_param_of((nb_member){row->other, row->size}) : NULL;
    for (int i = 0; p && i < nb_param_elements(p); i++)
        ((double *)(void *)((char *)cfg + p->offset))[i] = p->unset;
}

static nb_status write_row(const nb_vary_item *item, double value, nb_config *cfg,
                           nb_error *err)
{
    const nb_param *p = item->row;
    const int n = nb_param_elements(p);
    double *to = (double *)(void *)((char *)cfg + p->offset);
    char text[NB_TEXT_NUMBER];
    const char *const words[] = {text};
    nb_status st = NB_OK;
    unset_other(p, cfg);
    nb_text_format(value, text);
    if (NB_IS(p, mosaic_spread_deg) && nb_mosaic_widen(value, item->centre, 1, cfg))
        return NB_OK;
    if (n == 1)
        st = nb_param_put(p, cfg, words, 1, err);
    for (int i = n - 1; n > 1 && i >= 0; i--) {
        const double old = nb_param_is_unset(p, to[i]) ? item->centre : to[i];
        double own = i == 0 || old == item->centre
                         ? value
                         : nb_typeable(old * value / item->centre);
        to[i] = nb_vary_is_count(item) && i ? fmax(1, floor(own + 0.5)) : own;
    }
    return st;
}

static void write_edges(double value, double centre, nb_config *cfg)
{
    for (int i = 2; i >= 0; i--)
        if (i < cfg->cell_count && cfg->cell[i] != 0)
            cfg->cell[i] = i == 0 ? value : nb_typeable(cfg->cell[i] * value / centre);
}

/** Fix the angles of the misset; draw them if the misset is random. */
static nb_status fix_misset(nb_config *cfg, nb_error *err)
{
    double angles[3];
    nb_status st = NB_OK;
    if (cfg->misset_mode == NB_MISSET_RANDOM) {
        const nb_seed *seed = cfg->misset_seed.set ? &cfg->misset_seed : &cfg->seed;
        st = nb_misset_random(seed->value, 0, angles, err);
        for (int i = 0; i < 3 && !st; i++)
            cfg->misset_deg[i] = angles[i] / NB_DEG;
    } else if (cfg->misset_mode == NB_MISSET_NONE) {
        memset(cfg->misset_deg, 0, sizeof cfg->misset_deg);
    }
    cfg->misset_mode = NB_MISSET_FIXED;
    return st;
}

/** Rotate the misset about lab axes, and write the result as angles. */
static nb_status turn(const double rotation_deg[3], nb_config *cfg, nb_error *err)
{
    const nb_vec3 r = nb_v3(rotation_deg[0] * NB_DEG, rotation_deg[1] * NB_DEG,
                            rotation_deg[2] * NB_DEG);
    const nb_vec3 units[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double angles[3];
    nb_mat3 U;
    nb_status st;
    if (nb_norm(r) == 0)
        return NB_OK;
    NB_FORWARD(fix_misset(cfg, err));
    for (int i = 0; i < 3; i++) {
        const double *m = cfg->misset_deg;
        const nb_vec3 c = nb_turn(
            r, nb_rotate_xyz(units[i], m[0] * NB_DEG, m[1] * NB_DEG, m[2] * NB_DEG));
        U.m[i] = c.x;
        U.m[3 + i] = c.y;
        U.m[6 + i] = c.z;
    }
    nb_rotation_angles(&U, angles);
    for (int i = 0; i < 3; i++)
        cfg->misset_deg[i] = nb_typeable(angles[i] / NB_DEG);
    return NB_OK;
}

/** Multiply the crystal's blocks. */
static void scale_blocks(double factor, nb_config *cfg)
{
    if (NB_GIVEN(cfg, crystal_volume_um3))
        cfg->crystal_volume_um3 = nb_typeable(cfg->crystal_volume_um3 * factor);
    else
        cfg->blocks = nb_typeable(NB_VALUE_OR(cfg, blocks, 1) * factor);
}

nb_status nb_vary_apply(const nb_vary *v, nb_crystal_at at, nb_config *cfg, nb_error *err)
{
    double rotation[3] = {0}, value, overlap = 1;
    int turns = 0;
    nb_status st = NB_OK;
    for (int i = 0; i < v->n && !st; i++) {
        const nb_vary_item *item = &v->items[i];
        if ((st = nb_vary_draw(v, i, at, &value, err)))
            break;
        switch (item->to) {
        case NB_VARY_CRYSTALS:
            st = nb_config_set_number(cfg, "crystals", (int)value, err);
            break;
        case NB_VARY_ROTATION:
            rotation[item->axis] += value;
            turns = 1;
            break;
        case NB_VARY_SPINDLE:
            rotation[0] += value * v->spindle.x;
            rotation[1] += value * v->spindle.y;
            rotation[2] += value * v->spindle.z;
            turns = 1;
            break;
        case NB_VARY_OVERLAP:
            overlap = value;
            break;
        case NB_VARY_MISSET:
            st = fix_misset(cfg, err);
            cfg->misset_deg[item->axis] = value;
            break;
        case NB_VARY_EDGES:
            write_edges(value, item->centre, cfg);
            break;
        case NB_VARY_CELL:
            cfg->cell[item->axis] = value;
            break;
        default:
            st = write_row(item, value, cfg, err);
        }
    }
    if (overlap != 1)
        scale_blocks(overlap, cfg);
    return st || !turns ? st : turn(rotation, cfg, err);
}
