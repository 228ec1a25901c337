/* SPDX-License-Identifier: MIT */
#include "reflection_table.h"

#include <string.h>

#include "../base/memory.h"

enum { FIRST_ROOM = 64 };

static unsigned hash(int h, int k, int l, int panel)
{
    unsigned x = (unsigned)h * 0x9e3779b1u ^ (unsigned)k * 0x85ebca77u ^
                 (unsigned)l * 0xc2b2ae3du ^ (unsigned)panel * 0x27d4eb2fu;
    return x ^ x >> 15;
}

/** Slot of h, k, l on a panel, or an empty slot if the table lacks it. */
static int *find_slot(const nb_reflection_table *t, int h, int k, int l, int panel)
{
    unsigned mask = (unsigned)t->n_slots - 1, i = hash(h, k, l, panel) & mask;
    for (;; i = (i + 1) & mask) {
        const nb_reflection_entry *e = t->slots[i] ? &t->list[t->slots[i] - 1] : NULL;
        if (!e || (e->h == h && e->k == k && e->l == l && e->panel == panel))
            return &t->slots[i];
    }
}

static int grow(nb_reflection_table *t)
{
    const int room = t->room ? 2 * t->room : FIRST_ROOM;
    int *slots = nb_alloc(2 * (size_t)room, sizeof *slots, "spots", NULL);
    if (!slots || room > 0x1fffffff ||
        nb_grow(&t->list, (size_t)t->count, (size_t)room, sizeof *t->list, "spots", NULL) ||
        nb_grow(&t->touched, (size_t)t->n_touched, (size_t)room, sizeof *t->touched,
                "spots", NULL)) {
        nb_free(slots);
        return 0;
    }
    nb_free(t->slots);
    t->slots = slots;
    t->room = room;
    t->n_slots = 2 * room;
    for (int i = 0; i < t->count; i++)
        *find_slot(t, t->list[i].h, t->list[i].k, t->list[i].l, t->list[i].panel) = i + 1;
    return 1;
}

nb_reflection_entry *nb_reflection_entry_of(nb_reflection_table *t, int h, int k, int l)
{
    nb_reflection_entry *e = t->count ? &t->list[t->last] : NULL;
    int *slot;
    if (e && e->h == h && e->k == k && e->l == l && e->panel == t->panel)
        return e;
    if (t->count == t->room && !grow(t))
        return NULL;
    slot = find_slot(t, h, k, l, t->panel);
    if (!*slot) {
        e = &t->list[t->count];
        memset(e, 0, sizeof *e);
        e->h = h;
        e->k = k;
        e->l = l;
        e->panel = t->panel;
        *slot = ++t->count;
    }
    t->last = *slot - 1;
    return &t->list[t->last];
}

int nb_reflection_add(nb_reflection_table *t, const int hkl[3], const double sums[NB_SUMS])
{
    nb_reflection_entry *e = nb_reflection_entry_of(t, hkl[0], hkl[1], hkl[2]);
    if (!e)
        return 0;
    if (e->pixel[NB_SUM_WEIGHT] == 0 && sums[NB_SUM_WEIGHT] > 0)
        t->touched[t->n_touched++] = t->last;
    for (int i = 0; i < NB_SUMS; i++)
        e->pixel[i] += sums[i];
    return 1;
}

double nb_reflection_weight(const nb_reflection_table *t)
{
    double total = 0;
    for (int i = 0; i < t->n_touched; i++)
        total += t->list[t->touched[i]].pixel[NB_SUM_WEIGHT];
    return total;
}

void nb_reflection_end_pixel(nb_reflection_table *t, double photons, double background)
{
    const double all = photons + (background > 0 ? background : 0);
    const double total = nb_reflection_weight(t);
    for (int i = 0; i < t->n_touched; i++) {
        nb_reflection_entry *e = &t->list[t->touched[i]];
        double share = photons / total, here = e->pixel[NB_SUM_WEIGHT] * share;
        for (int j = 0; j < NB_SUMS; j++)
            e->sum[j] += share * e->pixel[j];
        e->peak = here > e->peak ? here : e->peak;
        e->square += here * here;
        e->under += here * background;
        if (all > 0) /* 0 if the number of photons is too small to divide by */
            e->fit += here * here / all;
        memset(e->pixel, 0, sizeof e->pixel);
    }
    t->n_touched = 0;
}

int nb_reflection_merge(nb_reflection_table *t, const nb_reflection_table *from)
{
    t->photons += from->photons;
    for (int i = 0; i < from->count; i++) {
        const nb_reflection_entry *e = &from->list[i];
        nb_reflection_entry *to;
        t->panel = e->panel;
        to = nb_reflection_entry_of(t, e->h, e->k, e->l);
        if (!to)
            return 0;
        for (int j = 0; j < NB_SUMS; j++)
            to->sum[j] += e->sum[j];
        to->peak = e->peak > to->peak ? e->peak : to->peak;
        to->square += e->square;
        to->under += e->under;
        to->fit += e->fit;
    }
    return 1;
}

void nb_reflection_table_free(nb_reflection_table *t)
{
    nb_free(t->list);
    nb_free(t->slots);
    nb_free(t->touched);
    memset(t, 0, sizeof *t);
}
