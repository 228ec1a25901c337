/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../common/panel_spec.h"
#include "expt_parts.h"

#define MM 1e-3

/** A coordinate frame: axes f, s, n = f x s, and an origin [mm]. */
typedef struct frame {
    double f[3], s[3], n[3], origin[3];
} frame;

enum { DEEPEST = 100 };

/** Read f, s and origin of a node. f and s may have any length but 0 and become unit
 * vectors. */
static nb_status read_frame(const nb_node *node, frame *out, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_node_member_numbers(node, "fast_axis", 3, out->f, err));
    NB_FORWARD(nb_node_member_numbers(node, "slow_axis", 3, out->s, err));
    NB_FORWARD(nb_node_member_numbers(node, "origin", 3, out->origin, err));
    if (!(nb_length3(out->f) > 0) || !(nb_length3(out->s) > 0))
        return nb_node_fail(node, "fast_axis and slow_axis need a direction", err);
    nb_unit3(out->f);
    nb_unit3(out->s);
    nb_cross3(out->f, out->s, out->n);
    if (!(nb_length3(out->n) > 1e-3))
        return nb_node_fail(node, "fast_axis is along slow_axis", err);
    nb_unit3(out->n);
    return NB_OK;
}

static void turn(const frame *parent, double v[3])
{
    double w[3];
    for (int i = 0; i < 3; i++)
        w[i] = parent->f[i] * v[0] + parent->s[i] * v[1] + parent->n[i] * v[2];
    memcpy(v, w, sizeof w);
}

/** Convert a child from the frame of its parent to the frame of the root. */
static void into_root(const frame *parent, frame *child)
{
    turn(parent, child->f);
    turn(parent, child->s);
    turn(parent, child->n);
    turn(parent, child->origin);
    for (int i = 0; i < 3; i++)
        child->origin[i] += parent->origin[i];
}

/** Position of each panel in the hierarchy. */
typedef struct tree {
    frame *parents; /* [n]: frame of the parent of each panel */
    char *seen;     /* [n]: number of times that a panel is in the tree */
    int n;
} tree;

static nb_status walk_child(const nb_node *node, const frame *parent, int depth, tree *t,
                            nb_error *err);

static nb_status walk(const nb_node *node, const frame *own, int depth, tree *t,
                      nb_error *err)
{
    nb_node children = nb_node_member(node, "children");
    nb_node child = children;
    const cJSON *item;
    nb_status st = NB_OK;
    int i = 0;
    if (nb_node_count(&children) < 0)
        return nb_node_fail(&children, "must be an array", err);
    cJSON_ArrayForEach(item, children.json)
    {
        child = nb_node_item(&children, item, i++);
        if ((st = walk_child(&child, own, depth, t, err)))
            break;
    }
    return st;
}

static nb_status walk_child(const nb_node *node, const frame *parent, int depth, tree *t,
                            nb_error *err)
{
    nb_node panel = nb_node_member(node, "panel");
    frame own;
    nb_status st;
    int k;
    if (!panel.json) {
        if (depth == DEEPEST)
            return nb_node_fail(node, "too many groups in groups", err);
        NB_FORWARD(read_frame(node, &own, err));
        into_root(parent, &own);
        return walk(node, &own, depth + 1, t, err);
    }
    NB_FORWARD(nb_node_whole(&panel, 0, t->n - 1, &k, err));
    if (t->seen[k]++)
        return nb_node_fail(&panel, "the panel stands twice in the hierarchy", err);
    t->parents[k] = *parent;
    return NB_OK;
}

static nb_status walk_root(const nb_node *root, tree *t, nb_error *err)
{
    frame own;
    nb_status st = read_frame(root, &own, err);
    NB_TRY(walk(root, &own, 0, t, err));
    for (int k = 0; !st && k < t->n; k++)
        if (!t->seen[k])
            st = nb_node_fail(root, "a panel does not stand in the hierarchy", err);
    return st;
}

/* --- one panel --- */

static nb_status copy_text(const nb_node *node, const char *key, char *out, size_t size,
                           nb_error *err)
{
    nb_node text = nb_node_member(node, key);
    if (!text.json)
        return NB_OK;
    if (!cJSON_IsString(text.json) || strlen(text.json->valuestring) >= size)
        return nb_node_fail(&text, "must be a short text", err);
    memset(out, 0, size);
    memcpy(out, text.json->valuestring, strlen(text.json->valuestring));
    return NB_OK;
}

static nb_status read_sizes(const nb_node *node, nb_panel_spec *p, nb_error *err)
{
    nb_node size = nb_node_member(node, "image_size"), one;
    nb_node pixel = nb_node_member(node, "pixel_size");
    nb_node place = nb_node_member(node, "raw_image_offset");
    nb_status st;
    if (nb_node_count(&size) != 2)
        return nb_node_fail(&size, "must be two whole numbers", err);
    NB_FORWARD(nb_node_numbers(&pixel, 2, p->pixel, err));
    for (int i = 0; i < 2; i++) {
        one = nb_node_element(&size, i);
        NB_FORWARD(nb_node_whole(&one, 1, NB_PANEL_EDGE, &p->size[i], err));
        p->pixel[i] *= MM;
        one = nb_node_element(&place, i);
        if (place.json && (st = nb_node_whole(&one, 0, 1 << 30, &p->place[i], err)))
            return st;
    }
    return NB_OK;
}

/** Read the sensor of a panel; old files have it in px_mm_strategy. */
static nb_status read_sensor(const nb_node *node, double *thickness, double *mu,
                             nb_error *err)
{
    const nb_node strategy = nb_node_member(node, "px_mm_strategy");
    nb_status st;
    NB_FORWARD(nb_node_optional(node, "thickness", thickness, err));
    NB_FORWARD(nb_node_optional(node, "mu", mu, err));
    if (!(*thickness > 0) && (st = nb_node_optional(&strategy, "t0", thickness, err)))
        return st;
    return *mu == 0 ? nb_node_optional(&strategy, "mu", mu, err) : NB_OK;
}

static nb_status read_values(const nb_node *node, nb_panel_spec *p, nb_error *err)
{
    double mu = 0, trusted[2] = {0, 0};
    nb_status st;
    NB_FORWARD(copy_text(node, "name", p->name, sizeof p->name, err));
    NB_FORWARD(copy_text(node, "material", p->material, sizeof p->material, err));
    NB_FORWARD(read_sensor(node, &p->thickness, &mu, err));
    NB_FORWARD(nb_node_optional(node, "gain", &p->gain, err));
    if (nb_node_has(node, "trusted_range") &&
        (st = nb_node_member_numbers(node, "trusted_range", 2, trusted, err)))
        return st;
    p->thickness *= MM;
    p->attenuation = mu != 0 ? mu / MM : NAN;
    p->saturation = trusted[1] > trusted[0] ? trusted[1] : NAN;
    return NB_OK;
}

static nb_status read_panel(const nb_node *node, const frame *parent, nb_panel_spec *p,
                            nb_error *err)
{
    nb_place_in_file at = {node->file, 0, node->pointer};
    frame own;
    nb_status st;
    NB_FORWARD(read_frame(node, &own, err));
    NB_FORWARD(read_sizes(node, p, err));
    NB_FORWARD(read_values(node, p, err));
    if (parent)
        into_root(parent, &own);
    nb_turn_dxtbx(own.f);
    nb_turn_dxtbx(own.s);
    nb_turn_dxtbx(own.origin);
    for (int i = 0; i < 3; i++)
        p->origin[i] = own.origin[i] * MM;
    memcpy(p->fast, own.f, sizeof own.f);
    memcpy(p->slow, own.s, sizeof own.s);
    return nb_panel_spec_check(p, &at, err);
}

static nb_status mask_boxes(const nb_node *panel, int k, nb_detector_spec *out,
                            nb_error *err)
{
    nb_node list = nb_node_member(panel, "mask"), box = list;
    const cJSON *item;
    double v[4];
    nb_status st = NB_OK;
    int i = 0, n = nb_node_count(&list);
    if (!list.json || n == 0)
        return NB_OK;
    if (n < 0)
        return nb_node_fail(&list, "must be an array of rectangles", err);
    NB_FORWARD(nb_spec_need_mask(out, err));
    cJSON_ArrayForEach(item, list.json)
    {
        box = nb_node_item(&list, item, i++);
        NB_FORWARD(nb_node_numbers(&box, 4, v, err));
        for (int j = 0; j < 4; j++)
            v[j] = fmax(fmin(floor(v[j]), 1 << 30), -(1 << 30));
        nb_spec_mask_box(out, k, (int[2]){(int)v[0], (int)v[2]},
                         (int[2]){(int)v[1], (int)v[3]});
    }
    return NB_OK;
}

static nb_status read_panels(const nb_node *panels, const tree *t, nb_detector_spec *out,
                             nb_error *err)
{
    nb_node node = *panels;
    const cJSON *item;
    nb_status st = NB_OK;
    int k = 0;
    cJSON_ArrayForEach(item, panels->json)
    {
        node = nb_node_item(panels, item, k);
        NB_FORWARD(read_panel(&node, t ? &t->parents[k] : NULL, &out->panels[k], err));
        k++;
    }
    NB_FORWARD(nb_spec_check_size(out, panels->file, err));
    k = 0;
    cJSON_ArrayForEach(item, panels->json)
    {
        node = nb_node_item(panels, item, k);
        NB_FORWARD(mask_boxes(&node, k++, out, err));
    }
    nb_spec_drop_mask(out);
    return NB_OK;
}

nb_status nb_expt_detector(const nb_node *detector, nb_detector_spec *out, nb_error *err)
{
    nb_node panels = nb_node_member(detector, "panels");
    nb_node root = nb_node_member(detector, "hierarchy");
    int n = nb_node_count(&panels);
    tree t = {NULL, NULL, n};
    nb_status st;
    memset(out, 0, sizeof *out);
    if (n < 1 || n > NB_PANELS_MAX)
        return nb_node_fail(&panels, "must be an array of 1 to 4096 panels", err);
    NB_FORWARD(nb_detector_spec_new(n, out, err));
    if (root.json) {
        t.parents = nb_alloc((size_t)n, sizeof *t.parents, "hierarchy", err);
        t.seen = nb_alloc((size_t)n, 1, "hierarchy", err);
        st = t.parents && t.seen ? walk_root(&root, &t, err) : NB_ERR_NOMEM;
    }
    NB_TRY(read_panels(&panels, root.json ? &t : NULL, out, err));
    nb_free(t.parents);
    nb_free(t.seen);
    if (st)
        nb_detector_spec_free(out);
    return st;
}
