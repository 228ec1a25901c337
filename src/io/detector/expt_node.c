/* SPDX-License-Identifier: MIT */
#include "expt_parts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"

static nb_node below(const nb_node *node, const cJSON *json, const char *name)
{
    nb_node child = *node;
    size_t used = strlen(child.pointer);
    child.json = json && cJSON_IsNull(json) ? NULL : json;
    snprintf(child.pointer + used, sizeof child.pointer - used, "/%s", name);
    return child;
}

nb_node nb_node_member(const nb_node *node, const char *key)
{
    const cJSON *json = cJSON_IsObject(node->json)
                            ? cJSON_GetObjectItemCaseSensitive(node->json, key)
                            : NULL;
    return below(node, json, key);
}

nb_node nb_node_item(const nb_node *node, const cJSON *item, int i)
{
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    return below(node, item, name);
}

nb_node nb_node_element(const nb_node *node, int i)
{
    return nb_node_item(
        node, cJSON_IsArray(node->json) ? cJSON_GetArrayItem(node->json, i) : NULL, i);
}

int nb_node_has(const nb_node *node, const char *key)
{
    return nb_node_member(node, key).json != NULL;
}

nb_status nb_node_fail(const nb_node *node, const char *what, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, node->file, 0, "%s: %s",
                      node->pointer[0] ? node->pointer : "/", what);
}

int nb_node_count(const nb_node *node)
{
    return cJSON_IsArray(node->json) ? cJSON_GetArraySize(node->json) : -1;
}

nb_status nb_node_number(const nb_node *node, double *value, nb_error *err)
{
    *value = cJSON_IsNumber(node->json) ? node->json->valuedouble : NAN;
    if (isfinite(*value))
        return NB_OK;
    return nb_node_fail(node, "must be a finite number", err);
}

nb_status nb_node_optional(const nb_node *node, const char *key, double *value,
                           nb_error *err)
{
    const nb_node number = nb_node_member(node, key);
    return number.json ? nb_node_number(&number, value, err) : NB_OK;
}

nb_status nb_node_whole(const nb_node *node, int low, int high, int *value, nb_error *err)
{
    char what[80];
    double number;
    if (nb_node_number(node, &number, err))
        return NB_ERR_INPUT;
    *value = (int)fmax(fmin(number, INT_MAX), INT_MIN);
    if (number == floor(number) && number >= low && number <= high)
        return NB_OK;
    snprintf(what, sizeof what, "%g: must be a whole number from %d to %d", number, low,
             high);
    return nb_node_fail(node, what, err);
}

nb_status nb_node_numbers(const nb_node *node, int n, double *values, nb_error *err)
{
    const cJSON *item;
    char what[48];
    int i = 0;
    if (nb_node_count(node) != n) {
        snprintf(what, sizeof what, "must be an array of %d numbers", n);
        return nb_node_fail(node, what, err);
    }
    cJSON_ArrayForEach(item, node->json)
    {
        values[i] = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        if (!isfinite(values[i++]))
            return nb_node_fail(node, "holds something that is no finite number", err);
    }
    return NB_OK;
}

nb_status nb_node_member_numbers(const nb_node *node, const char *key, int n,
                                 double *values, nb_error *err)
{
    nb_node member = nb_node_member(node, key);
    return nb_node_numbers(&member, n, values, err);
}

nb_status nb_expt_model_of(const nb_expt_table *table, const nb_node *experiment,
                           const char *key, nb_node *out, nb_error *err)
{
    nb_node index = nb_node_member(experiment, key);
    int i;
    nb_status st;
    *out = index;
    if (!index.json)
        return NB_OK;
    if (table->n < 1)
        return nb_node_fail(&table->list, "must be an array that is not empty", err);
    NB_FORWARD(nb_node_whole(&index, 0, table->n - 1, &i, err));
    *out = table->item ? nb_node_item(&table->list, table->item[i], i)
                       : nb_node_element(&table->list, i);
    if (!cJSON_IsObject(out->json))
        return nb_node_fail(out, "must be an object", err);
    return NB_OK;
}

nb_status nb_expt_model(const nb_node *root, const nb_node *experiment, const char *key,
                        nb_node *out, nb_error *err)
{
    nb_expt_table table = {nb_node_member(root, key), NULL, 0};
    table.n = nb_node_count(&table.list);
    return nb_expt_model_of(&table, experiment, key, out, err);
}
