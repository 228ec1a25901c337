/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/text.h"

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

/** The array owns the item, or it was freed. */
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
    char digits[NB_TEXT_NUMBER];
    if (!isfinite(value))
        return cJSON_CreateNull();
    nb_text_format(value, digits);
    return cJSON_CreateRaw(digits);
}

void nb_json_number(nb_json to, const char *key, double value)
{
    cJSON *item = new_number(value);
    if (item && cJSON_AddItemToObject(to.json, key, item))
        return;
    cJSON_Delete(item);
    *to.failed = 1;
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

nb_status nb_json_print(nb_json root, const char *what, char **text, nb_error *err)
{
    char *printed = *root.failed || !root.json ? NULL : cJSON_Print(root.json);
    *text = NULL;
    cJSON_Delete(root.json);
    if (!printed)
        return nb_fail(err, NB_ERR_NOMEM, "out of memory (for %s)", what);
    *text = nb_strdup(printed, err);
    cJSON_free(printed);
    return *text ? NB_OK : NB_ERR_NOMEM;
}
