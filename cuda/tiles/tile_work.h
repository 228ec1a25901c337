/* SPDX-License-Identifier: MIT */
/** The work of a warp for an image in blocks of rays (src/plan/tiles.h). Host and device
 * compile it; a test on the host runs the lanes of a warp one after the other.
 *
 *   item       a first (largest) block of rays of a panel, 4 x 4 or 8 x 8, at all layers
 *   budget     limit of the sum of the bounds of all groups and steps that are left out
 *   stack      memory of a warp for lists of groups, for each size of block, and of steps
 *   sums       sums of terms as integers: the order of blocks changes no byte
 *
 * The statement after NB_EACH_LANE is the code of one lane. Variables that differ between
 * lanes have the type NB_LANE_OF and are read by NB_LANE. */
#ifndef NB_CUDA_TILE_WORK_H
#define NB_CUDA_TILE_WORK_H

#include "tile_lists.h"

enum {
    NB_TILE_WHOLE = 24, /* limit of groups for which one task is a whole first block */
    NB_TILE_PARTS = 176 /* limit of groups of a task */
};

/* Part of a budget that the test of a block's groups may spend; the tests of its quarters
 * or steps may spend the remaining budget. */
#define NB_TILE_FIRST_PART 0.3f
#define NB_TILE_PART 0.5f

/* ------------------------------------------------------------------ terms */

/** Add the terms of a ray to its pixel. */
NB_TILE_HD void nb_tile_add_ray(const nb_tile_walk *k, int ray, double sum)
{
    const nb_spot_pass *s = &k->p->spots;
    const nb_panel *panel = &s->panels[k->panel];
    const int u = k->u + (ray & ((1 << k->bits) - 1)), v = k->v + (ray >> k->bits),
              os = s->scene.oversample;
    const size_t pixel =
        panel->first_pixel + (size_t)(v / os) * (size_t)panel->columns + (size_t)(u / os);
    if (!(sum > 0))
        return;
    if (s->sensors[panel->sensor].absorb || s->scene.oversample_omega)
        sum *= nb_tile_factor(k->p, k->panel, k->layer, u, v);
    NB_TILE_ADD(&s->sums[pixel], nb_spot_whole(s, sum, NB_LAW_DECAY));
    s->marks[pixel / NB_SPOT_MARK] = 1;
}

/** Part of a pixel's sum, electrons^2 [sr]: rays first_ray, first_ray + rays .. of all
 * layers, steps first_step, first_step + steps .. */
NB_TILE_HD double nb_tile_pixel_sum(const nb_tile_pass *p, size_t pixel,
                                    unsigned first_ray, unsigned rays, int64_t first_step,
                                    int64_t steps, const int how)
{
    const nb_tiles *t = &p->tiles;
    const int k = nb_spot_panel_of(&p->spots, pixel);
    const nb_panel *panel = &p->spots.panels[k];
    const nb_sensor *sensor = &p->spots.sensors[panel->sensor];
    const unsigned os = (unsigned)p->spots.scene.oversample, of_layer = os * os;
    const size_t at = pixel - panel->first_pixel;
    const int u0 = (int)(at % (size_t)panel->columns * os),
              v0 = (int)(at / (size_t)panel->columns * os);
    double sum = 0;
    NB_TILE_ROLLED
    for (unsigned i = first_ray; i < of_layer * (unsigned)sensor->layers; i += rays) {
        const int layer = (int)(i / of_layer), u = u0 + (int)(i % os),
                  v = v0 + (int)(i % of_layer / os);
        const nb_vec3 d = nb_tile_direction(p, k, layer, u, v);
        nb_tile_sum total = {0, 0};
        NB_TILE_ROLLED
        for (int64_t step = first_step; step < (int64_t)t->orientations * t->sources;
             step += steps)
            nb_tile_sum_add(p, &total, (int)(step / t->sources), (int)(step % t->sources),
                            d, how);
        sum += nb_tile_sum_end(p, &total) *
               (sensor->absorb || p->spots.scene.oversample_omega
                    ? nb_tile_factor(p, k, layer, u, v)
                    : 1);
    }
    return sum;
}

/** Orientation and source of step i of the list stack[steps ..] (nb_tile_few_steps). */
NB_TILE_HD void nb_tile_step_of(const nb_tile_walk *k, const nb_tile_task *task,
                                int steps, int i, int *m, int *source)
{
    const uint32_t entry = k->w->stack[steps + i],
                   group = k->w->stack[task->list + (int)(entry / NB_TILE_STEPS)];
    const int step = (int)(entry % NB_TILE_STEPS);
    *m = nb_tile_orientation(&k->p->tiles, nb_tile_row(k->p, group), step);
    *source = nb_tile_source(&k->p->tiles, nb_tile_column_of(k->p, group), step);
}

NB_TILE_HD nb_vec3 nb_tile_leaf_direction(const nb_tile_walk *k, int block, int ray)
{
    const int at = nb_tile_leaf_ray(k, block, ray);
    return nb_v3(k->w->ray[0][at], k->w->ray[1][at], k->w->ray[2][at]);
}

/** Add the sums of the four rays of a task's block to their pixels. */
NB_TILE_HD void nb_tile_add_rays(nb_tile_walk *k, const nb_tile_task *task,
                                 const NB_LANE_ARG(double, sum))
{
    NB_EACH_LANE(lane)
    if (lane < 4) {
        const int ray = nb_tile_leaf_ray(k, task->block, lane);
        if (k->wanted >> ray & 1)
            nb_tile_add_ray(k, ray, NB_LANE(sum));
    }
}

/** Sum the terms of n steps, stack[steps ..], for the four rays of a block. A quarter of
 * the lanes works for each ray. */
NB_TILE_HD void nb_tile_sum_terms(nb_tile_walk *k, const nb_tile_task *task, int steps,
                                  int n, const int how)
{
    NB_LANE_OF(double, sum);
    NB_EACH_LANE(lane)
    {
        const nb_vec3 d = nb_tile_leaf_direction(k, task->block, lane % 4);
        nb_tile_sum total = {0, 0};
        NB_TILE_TWICE
        for (int i = lane / 4; i < n; i += NB_TILE_LANES / 4) {
            int m, source;
            nb_tile_step_of(k, task, steps, i, &m, &source);
            nb_tile_sum_add(k->p, &total, m, source, d, how);
        }
        NB_LANE(sum) = nb_tile_sum_end(k->p, &total);
    }
    nb_lanes_add_quads(NB_LANE_PASS(sum));
    nb_tile_add_rays(k, task, sum);
}

#ifdef NB_GPU_DEVICE_PASS
/** nb_tile_sum_terms in floats: each lane takes a step, for all four rays. */
static __device__ __forceinline__ void nb_tile_sum_fast(nb_tile_walk *k,
                                                        const nb_tile_task *task,
                                                        int steps, int n, const int how)
{
    float run[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int i = (int)(threadIdx.x % NB_TILE_LANES); i < n; i += NB_TILE_LANES) {
        int m, source;
        nb_tile_step_of(k, task, steps, i, &m, &source);
        const nb_tile_fast step = nb_tile_fast_of(k->p, m, source);
        if (!(step.weight > 0))
            continue;
#pragma unroll 1
        for (int ray = 0; ray < 4; ray++) {
            const nb_vec3 d = nb_tile_leaf_direction(k, task->block, ray);
            const float weight = nb_tile_fast_weight(k->p, &step, d),
                        term = nb_tile_fast_term(k->p, &step, d, how & NB_TILE_SHAPE);
#pragma unroll
            for (int j = 0; j < 4; j++)
                run[j] = fmaf(ray == j ? weight : 0.0f, term, run[j]);
        }
    }
    nb_tile_add_rays(k, task, nb_lanes_add_fours(run) * k->p->tiles.unit);
}
#endif

/** Sum the steps of a task's groups for a block of 2 x 2 rays, a few groups at a time.
 * Returns the spent budget. */
NB_TILE_HD float nb_tile_steps_of(nb_tile_walk *k, const nb_tile_task *of, const int how)
{
    const int room = (of->end - of->to) / NB_TILE_STEPS;
    float spent = 0;
    NB_TILE_ROLLED
    for (int i = 0, n; i < of->n; i += n) {
        nb_tile_task part = *of;
        float more;
        n = of->n - i < room ? of->n - i : room;
        part.list += i;
        part.n = n;
        part.budget = nb_tile_part_of(of->budget - spent, n, of->n - i);
        const int kept = nb_tile_few_steps(k, &part, &more, how & NB_TILE_SHAPE);
        spent += more;
        k->tally[NB_TILE_TERMS] += (unsigned)(kept + 7) / 8;
        if (kept > 0 && !k->p->only_count) {
#ifdef NB_GPU_DEVICE_PASS
            if (!(how & NB_TILE_EXACT))
                nb_tile_sum_fast(k, &part, part.to, kept, how);
            else
#endif
                nb_tile_sum_terms(k, &part, part.to, kept, how);
        }
        nb_lanes_meet();
    }
    return spent;
}

/* ------------------------------------------------------------------ blocks */

/** Test the groups of a task from number i on, as many as fit on the stack. *next: the
 * task with the groups that the block keeps. Returns the number of tested groups. */
NB_TILE_HD int nb_tile_some_groups(nb_tile_walk *k, const nb_tile_task *of, int i,
                                   float *spent, nb_tile_task *next, const int how)
{
    const int limit = (of->end - of->to) / 2, n = of->n - i < limit ? of->n - i : limit;
    const float budget = nb_tile_part_of(of->budget - *spent, n, of->n - i);
    nb_tile_task part = *of;
    float more;
    part.list += i;
    part.n = n;
    part.budget = NB_TILE_PART * budget;
    *next = part;
    next->list = part.to;
    next->n = nb_tile_fewer_groups(k, &part, &more, how & NB_TILE_SHAPE);
    next->to = part.to + next->n;
    next->budget = budget - more;
    *spent += more;
    return n;
}

/** Run a block of 2 x 2 rays: select groups, sum their steps; returns the spent budget. */
NB_TILE_HD float nb_tile_leaf(nb_tile_walk *k, const nb_tile_task *of, const int how)
{
    const uint64_t rays = (uint64_t)3 | (uint64_t)3 << (1 << k->bits);
    float spent = 0;
    if (!(k->wanted & rays << nb_tile_leaf_ray(k, of->block, 0)))
        return 0;
    NB_TILE_ROLLED
    for (int i = 0; i < of->n;) {
        nb_tile_task next;
        i += nb_tile_some_groups(k, of, i, &spent, &next, how);
        if (next.n > 0)
            spent += nb_tile_steps_of(k, &next, how);
    }
    return spent;
}

/** Run the four blocks of 2 x 2 rays in block q of 4 x 4. Returns the largest spent
 * budget. */
NB_TILE_HD float nb_tile_leaves(nb_tile_walk *k, const nb_tile_task *of, int q,
                                const int how)
{
    float largest = 0;
    const int n = k->only > 0 ? 1 : 4;
    NB_TILE_ROLLED
    for (int i = 0; i < n; i++) {
        nb_tile_task leaf = *of;
        leaf.block = k->only > 0 ? k->only
                     : k->bits == NB_TILE_SMALL
                         ? 1 + i
                         : 5 + (q / 2 * 2 + i / 2) * 4 + q % 2 * 2 + i % 2;
        largest = fmaxf(largest, nb_tile_leaf(k, &leaf, how));
    }
    return largest;
}

/** Run block q of 4 x 4 rays: the first block, or one of its quarters. Returns the spent
 * budget. */
NB_TILE_HD float nb_tile_quarter(nb_tile_walk *k, const nb_tile_task *of, int q,
                                 const int how)
{
    const int large = k->bits == NB_TILE_LARGE && k->only == 0;
    float spent = 0;
    if (large && !(k->wanted & (uint64_t)0x0f0f0f0f << (q / 2 * 32 + q % 2 * 4)))
        return 0;
    NB_TILE_ROLLED
    for (int i = 0; i < of->n;) {
        nb_tile_task next = *of;
        next.block = 1 + q;
        if (large) {
            const nb_tile_task quarter = next;
            i += nb_tile_some_groups(k, &quarter, i, &spent, &next, how);
        } else {
            i = of->n;
        }
        if (next.n > 0)
            spent += nb_tile_leaves(k, &next, q, how);
    }
    return spent;
}

/** Run a task whose rays are set, with the groups stack[list ..]. to: first free entry of
 * the stack. */
NB_TILE_HD void nb_tile_run_late(nb_tile_walk *k, const nb_tile_late *t, int list, int to,
                                 const int how)
{
    const int quarters = k->bits == NB_TILE_LARGE && k->only == 0 ? 4 : 1;
    const nb_tile_task of = {0, list, t->n, to, to + NB_TILE_ROOM, t->budget};
    float largest = 0;
    NB_TILE_ROLLED
    for (int q = 0; q < quarters; q++)
        largest = fmaxf(largest, nb_tile_quarter(k, &of, q, how));
    k->lack = fmaxf(k->lack, (t->others + largest) * t->photons);
}

/** Set the walk to a task. */
NB_TILE_HD void nb_tile_turn(nb_tile_walk *k, const nb_tile_late *t)
{
    k->panel = t->panel;
    k->layer = t->layer;
    k->u = t->u;
    k->v = t->v;
    k->bits = k->p->grids[t->panel].bits;
    k->wanted = t->wanted;
    k->only = t->block;
}

/** Run a task at once, because the queue is full. This is rare, so the function is not
 * inlined. Returns the photons that are left out of a pixel. */
NB_HD_CALL float nb_tile_run_now(const nb_tile_pass *p, nb_tile_shared *w,
                                 const nb_tile_late *t, const int place[2], int how)
{
    nb_tile_walk walk;
    memset(&walk, 0, sizeof walk);
    walk.p = p;
    walk.w = w;
    nb_tile_turn(&walk, t);
    nb_tile_aim(&walk);
    nb_tile_run_late(&walk, t, place[0], place[1], how);
    return walk.lack;
}

/** Reserve entries of the queue for tasks and words; at: their first indices. Returns 0
 * if the queue is full. */
NB_TILE_HD int nb_tile_reserve(const nb_tile_walk *k, unsigned tasks, unsigned words,
                               unsigned at[2])
{
    const nb_tile_queue *q = &k->p->queue;
    if (q->tasks_max == 0)
        return 0;
    at[0] = nb_lanes_reserve(&q->used[0], tasks);
    at[1] = nb_lanes_reserve(&q->used[1], words);
    if (at[0] + tasks <= q->tasks_max && at[1] + words <= q->words_max)
        return 1;
    NB_EACH_LANE(lane)
    for (unsigned i = at[0] + (unsigned)lane; i < at[0] + tasks && i < q->tasks_max;
         i += NB_TILE_LANES)
        q->tasks[i].n = 0;
    return 0;
}

/** Upper limit of the tasks of a first block with this number of groups: each task has a
 * block of 2 x 2 rays and some of the groups. */
NB_HD int nb_tile_task_limit(int64_t groups)
{
    /* least number of groups if whole rows share a budget */
    const int64_t least = NB_TILE_CHUNK - NB_TILE_ROW,
                  chunks = (groups + least - 1) / least;
    return (int)((groups + NB_TILE_PARTS - 1) / NB_TILE_PARTS + chunks)
           << 2 * (NB_TILE_LARGE - 1);
}

/** Put the kept groups of a first block into the queue: as one task, or as several tasks
 * that each have a block of 2 x 2 rays and some of the groups. budget: total budget of a
 * ray. */
NB_TILE_HD void nb_tile_defer(nb_tile_walk *k, const nb_tile_task *of, float budget,
                              const int how)
{
    const nb_tile_queue *queue = &k->p->queue;
    const int level = k->bits - 1, whole = of->n <= NB_TILE_WHOLE;
    const int first = whole ? 0 : level == 1 ? 1 : 5, leaves = whole ? 1 : 1 << 2 * level;
    const int parts = (of->n + NB_TILE_PARTS - 1) / NB_TILE_PARTS;
    unsigned at[2] = {0, 0};
    const int waits = nb_tile_reserve(k, (unsigned)(leaves * parts), (unsigned)of->n, at);
    if (waits)
        NB_EACH_LANE(lane)
    for (int i = lane; i < of->n; i += NB_TILE_LANES)
        queue->words[at[1] + (unsigned)i] = k->w->stack[of->list + i];
    NB_TILE_ROLLED
    for (int i = 0; i < leaves * parts; i++) {
        const int part = i % parts, from = of->n * part / parts;
        nb_tile_late t;
        t.wanted = k->wanted;
        t.panel = k->panel;
        t.layer = k->layer;
        t.u = k->u;
        t.v = k->v;
        t.photons = k->photons;
        t.block = first + i / parts;
        t.n = of->n * (part + 1) / parts - from;
        t.list = at[1] + (unsigned)from;
        t.budget = nb_tile_part_of(of->budget, t.n, of->n);
        t.others = budget - t.budget;
        if (!waits) {
            const int place[2] = {of->list + from, of->to};
            k->lack = fmaxf(k->lack, nb_tile_run_now(k->p, k->w, &t, place, how));
            continue;
        }
        NB_EACH_LANE(lane)
        if (lane == 0)
            queue->tasks[at[0] + (unsigned)i] = t;
    }
}

/** Run task i of the queue. */
NB_TILE_HD void nb_tile_late_item(nb_tile_walk *k, unsigned i, const int how)
{
    const nb_tile_late t = k->p->queue.tasks[i];
    if (t.n == 0)
        return;
    nb_tile_turn(k, &t);
    nb_tile_aim(k);
    NB_EACH_LANE(lane)
    for (int j = lane; j < t.n; j += NB_TILE_LANES)
        k->w->stack[j] = k->p->queue.words[t.list + (unsigned)j];
    nb_lanes_meet();
    nb_tile_run_late(k, &t, 0, t.n, how);
}

/** Run a first block at a layer, whose rays are set. Returns the spent budget; 0 if tasks
 * are queued, because the tasks then report the spent budget. */
NB_TILE_HD float nb_tile_block_at(nb_tile_walk *k, float budget, const int how)
{
    const nb_tiles *t = &k->p->tiles;
    const int all = k->p->by_rows ? t->rows : t->rows * t->columns, chunk = k->p->chunk;
    float spent = 0;
    int late = 0;
    NB_TILE_ROLLED
    for (int first = 0, n; first < all; first += n) {
        n = all - first < chunk ? all - first : chunk;
        const float part = nb_tile_part_of(budget - spent, n, all - first);
        nb_tile_task of = {0, 0, 0, 0, NB_TILE_STACK, 0};
        float more;
        of.n = of.to = nb_tile_first_groups(k, first, n, NB_TILE_FIRST_PART * part, &more,
                                            how & NB_TILE_SHAPE);
        of.budget = part - more;
        spent += more;
        if (of.n == 0)
            continue;
        nb_tile_defer(k, &of, budget, how);
        spent += of.budget;
        late = 1;
    }
    return late ? 0 : spent;
}

/** Run item i. */
NB_TILE_HD void nb_tile_item(nb_tile_walk *k, int64_t i, const int how)
{
    const nb_tile_pass *p = k->p;
    int layers;
    double photons;
    k->only = NB_TILE_CORNERS;
    nb_tile_place(k, i);
    if (k->wanted == 0)
        return;
    photons = nb_tile_photons(p, k->panel, k->u, k->v);
    k->photons = (float)(photons * (1 + 1e-6));
    layers = p->only_count ? 1 : p->spots.sensors[p->spots.panels[k->panel].sensor].layers;
    NB_TILE_ROLLED
    for (k->layer = 0; k->layer < layers; k->layer++) {
        const float budget = (float)(NB_TILE_MARGIN * p->bound / photons);
        nb_tile_aim(k);
        k->tally[NB_TILE_FIRST]++;
        k->lack = fmaxf(k->lack, nb_tile_block_at(k, budget, how) * k->photons);
    }
}

#endif
