/* SPDX-License-Identifier: MIT */
#include "json_memory.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "common.h"

#include <cjson/cJSON.h>

static atomic_int ran_out;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        atomic_store(&ran_out, 1);
    return memory;
}

void nb_json_watch(void)
{
    cJSON_Hooks hooks = {allocate, free};
    atomic_store(&ran_out, 0);
    cJSON_InitHooks(&hooks);
}

nb_status nb_json_memory(const char *what, nb_error *err)
{
    if (!atomic_load(&ran_out))
        return NB_OK;
    nb_cli_fail(err, "%s: out of memory", what);
    err->code = NB_ERR_NOMEM;
    return NB_ERR_NOMEM;
}
