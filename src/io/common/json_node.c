/* SPDX-License-Identifier: MIT */
#include "json_node.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"

static void note(nb_json to, const cJSON *added)
{
    *to.failed |= !added;
}

nb_json nb_json_object(nb_json to, const char *key)
{
    nb_json child = {cJSON_AddObjectToObject(to.json, key), to.failed};
    note(to, child.json);
    return child;
}

nb_json nb_json_array(nb_json to, const char *key)
{
    nb_json child = {cJSON_AddArrayToObject(to.json, key), to.failed};
    note(to, child.json);
    return child;
}

nb_json nb_json_at(nb_json of, const char *key)
{
    return (nb_json){cJSON_GetObjectItemCaseSensitive(of.json, key), of.failed};
}

/** Append an item, which the array then owns; after a failure the item is freed. */
static cJSON *append(nb_json to, cJSON *item)
{
    if (item && cJSON_AddItemToArray(to.json, item))
        return item;
    cJSON_Delete(item);
    *to.failed = 1;
    return NULL;
}

nb_json nb_json_add_object(nb_json to)
{
    nb_json child = {append(to, cJSON_CreateObject()), to.failed};
    return child;
}

void nb_json_add_text(nb_json to, const char *value)
{
    append(to, cJSON_CreateString(value));
}

void nb_json_text(nb_json to, const char *key, const char *value)
{
    note(to, cJSON_AddStringToObject(to.json, key, value));
}

void nb_json_flag(nb_json to, const char *key, int value)
{
    note(to, cJSON_AddBoolToObject(to.json, key, value));
}

static cJSON *new_number(double value)
{
    return isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull();
}

static void add(nb_json to, const char *key, cJSON *item)
{
    if (item && cJSON_AddItemToObject(to.json, key, item))
        return;
    cJSON_Delete(item);
    *to.failed = 1;
}

void nb_json_number(nb_json to, const char *key, double value)
{
    add(to, key, new_number(value));
}

void nb_json_whole(nb_json to, const char *key, int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    add(to, key, cJSON_CreateRaw(digits));
}

void nb_json_numbers(nb_json to, const char *key, const double *v, int n)
{
    nb_json list = nb_json_array(to, key);
    for (int i = 0; i < n; i++)
        append(list, new_number(v[i]));
}

void nb_json_vector(nb_json to, const char *key, double scale, nb_vec3 v)
{
    double values[3] = {v.x * scale, v.y * scale, v.z * scale};
    nb_json_numbers(to, key, values, 3);
}

void nb_json_add_numbers(nb_json to, const double *v, int n)
{
    nb_json list = {append(to, cJSON_CreateArray()), to.failed};
    for (int i = 0; i < n; i++)
        append(list, new_number(v[i]));
}

void nb_json_add_number(nb_json to, double value)
{
    append(to, new_number(value));
}

int nb_json_write_numbers(cJSON *item)
{
    for (; item; item = item->next) {
        if (cJSON_IsNumber(item)) {
            if (!(item->valuestring = cJSON_malloc(NB_TEXT_NUMBER)))
                return 0;
            nb_text_format(item->valuedouble, item->valuestring);
            item->type += cJSON_Raw - cJSON_Number;
        } else if (!nb_json_write_numbers(item->child)) {
            return 0;
        }
    }
    return 1;
}

nb_status nb_json_print(nb_json root, const char *what, char **text, nb_error *err)
{
    char *printed = *root.failed || !root.json || !nb_json_write_numbers(root.json)
                        ? NULL
                        : cJSON_Print(root.json);
    *text = NULL;
    cJSON_Delete(root.json);
    if (!printed)
        return nb_fail(err, NB_ERR_NOMEM, "out of memory (for %s)", what);
    *text = nb_strdup(printed, err);
    cJSON_free(printed);
    return *text ? NB_OK : NB_ERR_NOMEM;
}
