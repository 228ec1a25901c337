/* SPDX-License-Identifier: MIT */
#include "../base/store.h"
#include "params.h"

static uint64_t hash_field(uint64_t h, const void *of, const nb_param *p)
{
    const void *field = (const char *)of + p->offset;
    const nb_seed *seed = field;
    const nb_opt3 *three = field;
    /* hash the members only, because the padding has no defined value */
    if (p->kind == NB_KIND_SEED)
        return nb_hash_bytes(h, &seed->value, seed->set ? sizeof seed->value : 0);
    if (p->kind == NB_KIND_VECTOR || p->kind == NB_KIND_POINT)
        return nb_hash_bytes(h, three->v, three->set ? sizeof three->v : 0);
    if (nb_param_is_text(p))
        return nb_hash_bytes(h, nb_text_at(of, p->offset),
                             strlen(nb_text_at(of, p->offset)) + 1);
    return nb_hash_bytes(h, field, p->size);
}

uint64_t nb_params_hash(uint64_t h, const void *of, unsigned series, unsigned counts)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    for (const nb_param *p = table; p < table + count; p++)
        if ((p->flags & (NB_PARAM_VIEW | NB_PARAM_SERIES)) == series && p->flags & counts)
            h = hash_field(h, of, p);
    return h;
}
