/* SPDX-License-Identifier: MIT */
/* A fit as JSON. */
#include "../sim/report.h"
#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"

static void add_parameters(nb_json root, const nb_refinement *r)
{
    nb_json all = nb_json_object(root, "parameters");
    for (int i = 0; i < r->n_parameters; i++) {
        const nb_refined *p = &r->parameters[i];
        nb_json one = nb_json_object(all, p->name);
        nb_json_number(one, "start", p->start);
        nb_json_number(one, "value", p->value);
        nb_json_number(one, "sigma", p->sigma);
        nb_json_text(one, "unit", p->unit);
        nb_json_flag(one, "at_bound", p->at_bound);
    }
}

static void add_matrix(nb_json to, const char *key, const double *m, int n)
{
    nb_json rows = nb_json_array(to, key);
    for (int i = 0; i < n; i++)
        nb_json_add_numbers(rows, m + i * n, n);
}

static void add_stages(nb_json root, const nb_refinement *r)
{
    nb_json list = nb_json_array(root, "stages");
    for (int i = 0; i < r->n_stages; i++) {
        const nb_refine_stage *s = &r->stages[i];
        nb_json one = nb_json_add_object(list);
        nb_json_text(one, "name", s->name);
        nb_json_number(one, "pixels", (double)s->pixels);
        nb_json_number(one, "evaluations", s->evaluations);
        nb_json_number(one, "loss", s->loss);
        nb_json_flag(one, "converged", s->converged);
        nb_json_number(one, "seconds", s->seconds);
    }
}

static void add_spots(nb_json root, const nb_refinement *r)
{
    nb_json list = nb_json_array(root, "spots");
    for (int i = 0; i < r->n_spots; i++) {
        const nb_refined_spot *s = &r->spots[i];
        const double pixel[2] = {s->pixel[0], s->pixel[1]};
        const double hkl[3] = {s->hkl[0], s->hkl[1], s->hkl[2]};
        nb_json one = nb_json_add_object(list);
        nb_json_numbers(one, "hkl", hkl, 3);
        nb_json_numbers(one, "pixel", pixel, 2);
        nb_json_number(one, "model", s->model);
        nb_json_number(one, "observed", s->observed);
        nb_json_number(one, "chi2", s->chi2);
    }
}

nb_status nb_refinement_json(const nb_refinement *r, char **json, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(r && json);
    int failed = 0;
    nb_json root = {cJSON_CreateObject(), &failed}, correlation, names;
    char *text = NULL, *line;
    nb_status st;
    *json = NULL;
    nb_json_text(root, "status", r->status);
    nb_json_flag(root, "converged", r->converged);
    nb_json_number(root, "loss", r->loss);
    nb_json_number(root, "deviance_per_pixel", r->deviance_per_pixel);
    nb_json_number(root, "pixels", (double)r->pixels);
    nb_json_number(root, "evaluations", r->evaluations);
    nb_json_number(root, "images", r->images);
    nb_json_number(root, "seconds", r->seconds);
    add_parameters(root, r);
    if (r->rotated) {
        nb_json_numbers(root, "misset_deg", r->misset_deg, 3);
        nb_json_numbers(root, "rotation_sigma_deg", r->rotation_sigma_deg, 3);
        add_matrix(root, "rotation_covariance_deg2", &r->rotation_covariance[0][0], 3);
    }
    correlation = nb_json_object(root, "parameter_correlation");
    names = nb_json_array(correlation, "names");
    for (int i = 0; i < r->n_correlated; i++)
        nb_json_add_text(names, r->correlated[i]);
    add_matrix(correlation, "matrix", r->correlation, r->n_correlated);
    nb_json_number(root, "picture_correlation", r->picture_correlation);
    add_stages(root, r);
    add_spots(root, r);
    if ((st = nb_json_print(root, "the refinement", &text, err)))
        return st;
    line = nb_strdup(text, err);
    cJSON_Minify(line ? line : text); /* one line */
    nb_free(text);
    *json = line;
    return line ? NB_OK : NB_ERR_NOMEM;
}
