/* SPDX-License-Identifier: MIT */
#include "expt.h"

#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"

#include "expt_parts.h"

static nb_status choose(const nb_node *root, const nb_geometry_typed *typed,
                        const nb_hooks *hooks, nb_node *experiment, nb_error *err)
{
    nb_node list = nb_node_member(root, "experiment");
    nb_node id = nb_node_member(root, "__id__");
    int n = nb_node_count(&list);
    if (!cJSON_IsString(id.json) || strcmp(id.json->valuestring, "ExperimentList") != 0)
        return nb_node_fail(
            &id, "must be ExperimentList: not a file of DIALS experiments", err);
    if (n < 1)
        return nb_node_fail(&list, "must be an array that is not empty", err);
    if (typed->experiment >= n)
        return nb_fail_at(err, NB_ERR_INPUT, root->file, 0,
                          "-expt_number %d: the file has %d experiment%s, from 0",
                          typed->experiment, n, n == 1 ? "" : "s");
    if (typed->experiment < 0 && n > 1)
        nb_notice(hooks, "%s: the first of %d experiments is used (-expt_number)",
                  root->file, n);
    *experiment = nb_node_element(&list, typed->experiment < 0 ? 0 : typed->experiment);
    if (!cJSON_IsObject(experiment->json))
        return nb_node_fail(experiment, "must be an object", err);
    return NB_OK;
}

static nb_status read_models(const nb_node *root, const nb_node *experiment,
                             const nb_geometry_typed *typed, const nb_hooks *hooks,
                             nb_detector_spec *out, nb_error *err)
{
    double turned[9];
    nb_node model;
    nb_status st;
    if ((st = nb_node_model(root, experiment, "beam", &model, err)) ||
        (st = nb_expt_beam(&model, typed, out, err)) ||
        (st = nb_node_model(root, experiment, "goniometer", &model, err)) ||
        (st = nb_expt_goniometer(&model, out, turned, err)) ||
        (st = nb_node_model(root, experiment, "scan", &model, err)) ||
        (st = nb_expt_scan(&model, out, err)) ||
        (st = nb_node_model(root, experiment, "crystal", &model, err)))
        return st;
    return nb_expt_crystal(&model, turned, hooks, out, err);
}

static nb_status read_root(const nb_node *root, const nb_geometry_typed *typed,
                           const nb_hooks *hooks, nb_detector_spec *out, nb_error *err)
{
    nb_node experiment, detector;
    nb_status st;
    if ((st = choose(root, typed, hooks, &experiment, err)) ||
        (st = nb_node_model(root, &experiment, "detector", &detector, err)))
        return st;
    if (!detector.json)
        return nb_node_fail(&experiment, "the experiment has no detector", err);
    if ((st = nb_expt_detector(&detector, out, err)))
        return st;
    if ((st = read_models(root, &experiment, typed, hooks, out, err)))
        nb_detector_spec_free(out);
    return st;
}

nb_status nb_expt_parse(const char *data, size_t n, const char *name,
                        const nb_geometry_typed *typed, const nb_hooks *hooks,
                        nb_detector_spec *out, nb_error *err)
{
    nb_node root = {name, NULL, ""};
    const char *stop = data;
    cJSON *json = cJSON_ParseWithLengthOpts(data, n, &stop, 0);
    nb_status st;
    long line = 1;
    memset(out, 0, sizeof *out);
    if (!json) {
        for (const char *p = data; p < stop && p < data + n; p++)
            line += *p == '\n';
        return nb_fail_at(err, NB_ERR_INPUT, name, line, "not valid JSON");
    }
    root.json = json;
    while (stop < data + n && (nb_text_blank(*stop) || *stop == '\n' || !*stop))
        stop++;
    st = stop < data + n
             ? nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "text follows the JSON object at byte %td", stop - data)
             : read_root(&root, typed, hooks, out, err);
    cJSON_Delete(json);
    return st;
}
