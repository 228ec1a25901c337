/* SPDX-License-Identifier: MIT */
/* Choose an experiment of a list by its number or by the name of an image. */
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../hdf5/hdf5_read.h"
#include "expt_parts.h"

/** Last part of a path. */
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** Number in `name` at the signs # of the template; -1 if the name does not fit. */
static int number_of(const char *template, const char *name)
{
    const size_t before = strcspn(template, "#"), signs = strspn(template + before, "#");
    const char *after = template + before + signs, *digits = name + before;
    size_t n = 0;
    int number;
    if (!signs || strncmp(template, name, before) != 0)
        return -1;
    while (digits[n] >= '0' && digits[n] <= '9')
        n++;
    if (n < signs || strcmp(digits + n, after) != 0 ||
        nb_text_int(digits, digits + n, &number) != digits + n)
        return -1;
    return number;
}

/** Name of a file, and number of the frame from 0; -1 for a file of one image. */
typedef struct wanted {
    char name[NB_PATH_MAX];
    int frame;
} wanted;

/** Number (from 1) of the wanted image in a list of files; 0 if not found. */
static int in_list(const nb_node *set, const wanted *w)
{
    nb_node files = nb_node_member(set, "images"),
            frames = nb_node_member(set, "single_file_indices");
    for (int i = 0; i < nb_node_count(&files); i++) {
        nb_node file = nb_node_element(&files, i), frame = nb_node_element(&frames, i);
        double number = 0;
        if (!cJSON_IsString(file.json) ||
            strcmp(base_of(file.json->valuestring), base_of(w->name)) != 0)
            continue;
        if (w->frame < 0 ||
            (!nb_node_number(&frame, &number, NULL) ? number == w->frame : w->frame == i))
            return i + 1;
    }
    return 0;
}

/** Number of the wanted image of an experiment, as in image_range; 0 if not found. */
static int image_of(const nb_node *set, const nb_node *scan, const wanted *w)
{
    nb_node text = nb_node_member(set, "template");
    const char *template = cJSON_IsString(text.json) ? text.json->valuestring : NULL;
    const int first = nb_expt_first_image(scan), images = nb_expt_images(scan);
    int number;
    if (!template)
        return in_list(set, w);
    if (strchr(template, '#'))
        number = number_of(base_of(template), base_of(w->name));
    else if (strcmp(base_of(template), base_of(w->name)) == 0)
        number = w->frame < 0 ? first : w->frame + 1;
    else
        return 0;
    return number >= first && number < first + (images > 0 ? images : 1) ? number : 0;
}

/** Arrays of the file that the choice of an experiment needs. */
enum { EXPERIMENT, IMAGESET, SCAN, TABLES };
typedef nb_expt_table tables[TABLES];

static nb_status fill(const nb_node *root, const char *key, nb_expt_table *t,
                      nb_error *err)
{
    const cJSON *item;
    int i = 0;
    t->list = nb_node_member(root, key);
    t->n = nb_node_count(&t->list);
    if (t->n < 1)
        return NB_OK;
    t->item = nb_alloc_raw((size_t)t->n, sizeof *t->item, "experiments", err);
    NB_NEED(t->item);
    for (item = t->list.json->child; item; item = item->next)
        t->item[i++] = item;
    return NB_OK;
}

/** Fill all tables. A file without experiment is an error. Always call free_all. */
static nb_status fill_all(const nb_node *root, tables t, nb_error *err)
{
    static const char *const keys[TABLES] = {"experiment", "imageset", "scan"};
    nb_node id = nb_node_member(root, "__id__");
    nb_status st = NB_OK;
    memset(t, 0, sizeof(tables));
    if (!cJSON_IsString(id.json) || strcmp(id.json->valuestring, "ExperimentList") != 0)
        return nb_node_fail(
            &id, "must be ExperimentList: not a file of DIALS experiments", err);
    for (int k = 0; k < TABLES; k++)
        NB_TRY(fill(root, keys[k], &t[k], err));
    if (!st && t[EXPERIMENT].n < 1)
        st = nb_node_fail(&t[EXPERIMENT].list, "must be an array that is not empty", err);
    return st;
}

static void free_all(tables t)
{
    for (int k = 0; k < TABLES; k++)
        nb_free(t[k].item);
}

/** Fill *out with experiment i; out->image is the number of image w; w may be NULL. */
static nb_status look_at(const nb_expt_table *t, int i, const wanted *w,
                         nb_expt_choice *out, nb_error *err)
{
    nb_node set, scan;
    nb_status st;
    memset(out, 0, sizeof *out);
    out->number = i;
    out->experiment = nb_node_item(&t[EXPERIMENT].list, t[EXPERIMENT].item[i], i);
    if (!cJSON_IsObject(out->experiment.json))
        return nb_node_fail(&out->experiment, "must be an object", err);
    if (t[IMAGESET].n < 1)
        return NB_OK;
    NB_FORWARD(nb_expt_model_of(&t[IMAGESET], &out->experiment, "imageset", &set, err));
    NB_FORWARD(nb_expt_model_of(&t[SCAN], &out->experiment, "scan", &scan, err));
    out->has_images = nb_node_has(&set, "template") || nb_node_has(&set, "images");
    out->image = out->has_images && w ? image_of(&set, &scan, w) : 0;
    return NB_OK;
}

/** Split "file.h5:12" into file and frame, even if the file does not exist. */
static wanted wanted_of(const char *image)
{
    const char *colon = strrchr(image, ':');
    wanted w = {.frame = -1};
    double number;
    if (nb_hdf5_frame_of(image, w.name, &w.frame))
        return w;
    snprintf(w.name, sizeof w.name, "%s", image);
    if (colon && colon - image < NB_PATH_MAX && nb_text_number(colon + 1, &number) &&
        number >= 0 && number <= 1e9) {
        w.frame = (int)number;
        w.name[colon - image] = '\0';
    }
    return w;
}

nb_status nb_expt_find(const nb_node *root, const nb_expt_names *of, nb_expt_choice *out,
                       nb_error *err)
{
    tables t;
    nb_status st = fill_all(root, t, err);
    const int n = t[EXPERIMENT].n;
    int next = 0; /* images are usually in the order of their experiments */
    for (int k = 0; k < of->count && !st; k++) {
        const wanted w = wanted_of(of->names[k]);
        out[k].image = 0;
        for (int i = 0; i < n && !st && !out[k].image; i++)
            st = look_at(t, (next + i) % n, &w, &out[k], err);
        if (!st && out[k].image)
            next = out[k].number + 1;
    }
    free_all(t);
    return st;
}

/** Find the first experiment that has the named image. */
static nb_status by_image(const nb_expt_table *t, const nb_geometry_typed *typed,
                          const nb_hooks *hooks, nb_expt_choice *out, nb_error *err)
{
    const int only = typed->experiment, n = t[EXPERIMENT].n;
    const char *file = t[EXPERIMENT].list.file;
    const wanted w = wanted_of(typed->image);
    nb_expt_choice one;
    int found = 0;
    nb_status st = NB_OK;
    for (int i = only < 0 ? 0 : only; !st && i < (only < 0 ? n : only + 1); i++) {
        if ((st = look_at(t, i, &w, &one, err)) || !one.image)
            continue;
        if (found++ == 0)
            *out = one;
    }
    if (!st && !found && only >= 0)
        st = nb_fail_at(err, NB_ERR_INPUT, file, 0,
                        "-expt_image %.200s: experiment %d (-expt_number) has no such "
                        "image",
                        typed->image, only);
    else if (!st && !found)
        st = nb_fail_at(err, NB_ERR_INPUT, file, 0,
                        "-expt_image %.200s: no experiment has an image of this name",
                        typed->image);
    else if (!st && found > 1)
        nb_notice(hooks,
                  "%s: %d experiments have the image %.200s; number %d is used "
                  "(-expt_number)",
                  file, found, typed->image, out->number);
    return st;
}

nb_status nb_expt_choose(const nb_node *root, const nb_geometry_typed *typed,
                         const nb_hooks *hooks, nb_expt_choice *out, nb_error *err)
{
    tables t;
    nb_status st = fill_all(root, t, err);
    const int n = t[EXPERIMENT].n;
    if (!st && typed->experiment >= n)
        st = nb_fail_at(err, NB_ERR_INPUT, root->file, 0,
                        "-expt_number %d: the file has %d experiment%s, from 0",
                        typed->experiment, n, n == 1 ? "" : "s");
    if (!st && typed->image && typed->image[0]) {
        st = by_image(t, typed, hooks, out, err);
    } else if (!st) {
        if (typed->experiment < 0 && n > 1)
            nb_notice(
                hooks,
                "%s: the first of %d experiments is used (-expt_number, -expt_image)",
                root->file, n);
        st = look_at(t, typed->experiment < 0 ? 0 : typed->experiment, NULL, out, err);
    }
    free_all(t);
    return st;
}
