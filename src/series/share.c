/* SPDX-License-Identifier: MIT */
#include "share.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "run.h"

/* Every process sends several messages within the time limit of the others. A pause of the
 * whole job (a suspended terminal) does not count: a step of the clock counts at most as
 * one tick. */
static const double longest_tick = 0.1;
enum { DEFAULT_PATIENCE = 60, BEATS = 10, CLOSING_PATIENCE = 10, TICK_NS = 1000000 };

typedef enum word {
    ASK,    /* for a block */
    DEAL,   /* a block */
    DONE,   /* a frame */
    FAILED, /* or was interrupted: end everything */
    STOP,
    ENDED,
    RESULT,
    ALIVE,
    NO_MORE
} word;

typedef struct message {
    word word;
    int number; /* DEAL, ENDED: block; FAILED: frame; STOP: leave frames unfinished; RESULT:
                   the lost process, or -1 */
    int count; /* ENDED: frames of a partial data file */
    nb_finished frame;
    nb_error error; /* FAILED, RESULT */
} message;

struct nb_post {
    struct nb_post *next;
    int to;
    message message;
};

/** Put a message into the box. With the lock held. If memory is exhausted the series ends. */
static void post(nb_run *run, int to, const message *m)
{
    nb_share *s = &run->share;
    nb_error err = {0};
    struct nb_post *p = nb_alloc(1, sizeof *p, "message", &err);
    if (!p) {
        nb_run_stop_with(run, INT_MAX, NB_ERR_NOMEM, &err);
        return;
    }
    p->to = to;
    p->message = *m;
    if (s->last_post)
        s->last_post->next = p;
    else
        s->first_post = p;
    s->last_post = p;
}

static void post_word(nb_run *run, int to, word w, int number)
{
    message m = {0};
    m.word = w;
    m.number = number;
    post(run, to, &m);
}

static void post_to_all(nb_run *run, const message *m)
{
    for (int r = 1; r < nb_ranks_count(run->ranks); r++)
        if (r != nb_ranks_lost(run->ranks))
            post(run, r, m);
}

/** From rank 0 to all, from another to rank 0. */
static void post_on(nb_run *run, const message *m)
{
    if (nb_ranks_rank(run->ranks) == 0)
        post_to_all(run, m);
    else
        post(run, 0, m);
}

nb_status nb_share_open(nb_run *run, int per_block, nb_error *err)
{
    nb_share *s = &run->share;
    const char *patience = getenv("NANOBRAGG_RANK_TIMEOUT");
    size_t ranks = (size_t)nb_ranks_count(run->ranks);
    s->per_block = per_block;
    s->blocks = (run->frames.count + per_block - 1) / per_block;
    s->patience = patience ? strtod(patience, NULL) : 0;
    if (!(s->patience > 0))
        s->patience = DEFAULT_PATIENCE;
    s->finished = nb_alloc((size_t)run->frames.count, 1, "frames", err);
    s->peers = nb_alloc(ranks, sizeof *s->peers, "ranks", err);
    return s->finished && s->peers ? NB_OK : NB_ERR_NOMEM;
}

void nb_share_close(nb_run *run)
{
    nb_share *s = &run->share;
    while (s->first_post) {
        struct nb_post *p = s->first_post;
        s->first_post = p->next;
        nb_free(p);
    }
    s->last_post = NULL;
    nb_free(s->finished);
    nb_free(s->peers);
    s->finished = NULL;
    s->peers = NULL;
}

/* --- dealing --- */

static int frames_of(const nb_run *run, int block)
{
    int left = run->frames.count - block * run->share.per_block;
    return left < run->share.per_block ? left : run->share.per_block;
}

static void take_block(nb_run *run, int block)
{
    run->share.first = block * run->share.per_block;
    run->share.left = frames_of(run, block);
}

/** Get a block, now or when rank 0 has answered. */
static void want_block(nb_run *run)
{
    nb_share *s = &run->share;
    if (s->left || s->asked || s->over)
        return;
    if (nb_ranks_rank(run->ranks) > 0) {
        s->asked = 1;
        post_word(run, 0, ASK, 0);
    } else if (s->next_block < s->blocks) {
        take_block(run, s->next_block++);
    } else {
        s->over = 1;
    }
}

int nb_share_take(nb_run *run)
{
    nb_share *s = &run->share;
    int k = -1;
    want_block(run);
    if (s->left) {
        k = s->first++;
        if (--s->left == 0)
            want_block(run);
    }
    return k;
}

/* --- finished frames --- */

/** Rank 0's books. */
static nb_status record(nb_run *run, const nb_finished *f, nb_error *err)
{
    nb_status st = NB_OK;
    pthread_mutex_lock(&run->book_lock);
    if (run->files.done)
        st = nb_file_sink_commit(&run->files, f, err);
    if (!st && run->hdf5.done)
        st = nb_spool_put(&run->truth, f->frame, &f->truth, err);
    pthread_mutex_unlock(&run->book_lock);
    return st;
}

static void add_clipped(nb_clipped *c, int frame, int64_t pixels)
{
    c->pixels += pixels;
    c->frames += pixels > 0;
    if (pixels > c->most || (pixels > 0 && pixels == c->most && frame < c->worst)) {
        c->most = pixels;
        c->worst = frame;
    }
}

/** Facts of the frames, in any order. */
static void add_facts(nb_series_progress *p, const nb_finished *f)
{
    const nb_hdf5_facts *facts = &f->truth.facts;
    add_clipped(&p->clipped_output, f->frame, f->file_clipped);
    add_clipped(&p->clipped_hdf5, f->frame, (int64_t)facts->clipped);
    if (facts->max < p->max || (facts->max == p->max && f->frame > p->max_frame))
        return;
    p->max = facts->max;
    p->max_frame = f->frame;
    p->max_fast = (int)facts->max_fast;
    p->max_slow = (int)facts->max_slow;
}

static void count(nb_run *run, const nb_finished *f)
{
    add_facts(&run->progress, f);
    run->share.finished[f->frame] = 1;
    run->progress.done++;
    run->progress.kept += f->kept;
    run->progress.bytes += f->bytes;
    run->progress.seconds = nb_monotonic_seconds() - run->start;
    atomic_store(&run->committed, run->progress.done);
}

nb_status nb_share_finished(nb_run *run, const nb_finished *frame, nb_error *err)
{
    nb_status st = NB_OK;
    int here = nb_ranks_rank(run->ranks) == 0;
    message m = {0};
    if (here && (st = record(run, frame, err)))
        return st;
    m.word = DONE;
    m.frame = *frame;
    pthread_mutex_lock(&run->lock);
    count(run, frame);
    if (!here)
        post(run, 0, &m);
    pthread_mutex_unlock(&run->lock);
    return st;
}

int nb_share_readable(const nb_run *run)
{
    const nb_share *s = &run->share;
    int n = 0, block, inside;
    while (n < run->frames.count && s->finished[n])
        n++;
    if (n == run->frames.count)
        return n;
    block = n / s->per_block;
    inside =
        0; /* of the first incomplete block: the frames that its process could make readable */
    for (int r = 0; r < nb_ranks_count(run->ranks); r++)
        if (s->peers[r].block == block && s->peers[r].partial > inside)
            inside = s->peers[r].partial;
    return block * s->per_block + inside;
}

/* --- talking --- */

static void lose(nb_run *run, int rank)
{
    nb_error err;
    nb_status st = nb_fail(&err, NB_ERR_DEVICE,
                           "rank %d of %d is lost (no message for %.0f s); the same "
                           "command with -resume keeps the finished frames",
                           rank, nb_ranks_count(run->ranks), run->share.patience);
    nb_ranks_broken(run->ranks, rank);
    if (rank == 0) {
        run->share.has_result = run->share.orphan = 1;
        run->share.result = st;
    } else {
        run->share.peers[rank].ended = 1;
    }
    nb_run_stop_with(run, INT_MAX, st, &err);
}

static void listen_to_done(nb_run *run, const nb_finished *f)
{
    nb_error err = {0};
    nb_status st;
    if (f->frame < 0 || f->frame >= run->frames.count)
        return;
    pthread_mutex_unlock(&run->lock);
    st = record(run, f, &err);
    pthread_mutex_lock(&run->lock);
    if (st)
        nb_run_stop_with(run, f->frame, st, &err);
    else
        count(run, f);
    if (nb_run_tell(run))
        nb_run_cancel(run);
}

static void listen_to_failure(nb_run *run, int from, const message *m)
{
    nb_error err;
    nb_status st = m->error.code;
    if (st == NB_ERR_CANCELLED)
        nb_run_cancel(run);
    nb_fail(&err, st, "rank %d: %s", from, m->error.message);
    nb_run_stop_with(run, m->number, st, &err);
}

static void deal_to(nb_run *run, int rank)
{
    nb_share *s = &run->share;
    if (s->next_block < s->blocks && !atomic_load(&run->stop))
        post_word(run, rank, DEAL, s->next_block++);
    else
        post_word(run, rank, NO_MORE, 0);
}

/** The messages to rank 0, with the lock held. */
static void listen_as_first(nb_run *run, int from, const message *m)
{
    nb_peer *peer = &run->share.peers[from];
    peer->silence = 0;
    if (m->word == ASK)
        deal_to(run, from);
    else if (m->word == DONE)
        listen_to_done(run, &m->frame);
    else if (m->word == FAILED)
        listen_to_failure(run, from, m);
    else if (m->word == ENDED) {
        peer->ended = 1;
        peer->block = m->number;
        peer->partial = m->count;
    }
}

/** The messages to the others, with the lock held. */
static void listen_as_other(nb_run *run, const message *m)
{
    nb_share *s = &run->share;
    s->silence = 0;
    if (m->word == DEAL && m->number < s->blocks)
        take_block(run, m->number);
    if (m->word == DEAL || m->word == NO_MORE)
        s->asked = 0;
    if (m->word == NO_MORE)
        s->over = 1;
    if (m->word == STOP && m->number)
        nb_run_cancel(run);
    if (m->word == STOP)
        atomic_store(&run->stop, s->told = 1);
    if (m->word == RESULT) {
        s->has_result = 1;
        s->result = m->error.code;
        if (m->number >= 0)
            nb_ranks_broken(run->ranks, m->number);
    }
    pthread_cond_broadcast(&run->moved);
}

/** If this process stops for any reason, all do. */
static void tell_stop(nb_run *run)
{
    message m = {0};
    int first = nb_ranks_rank(run->ranks) == 0, cancelled = atomic_load(&run->cancel);
    if (run->share.told || !atomic_load(&run->stop))
        return;
    run->share.told = 1;
    m.word = first ? STOP : FAILED;
    m.number = first ? cancelled : run->error_frame;
    if (run->status)
        m.error = run->error;
    m.error.code = run->status ? run->status : NB_ERR_CANCELLED;
    post_on(run, &m);
}

static void say_alive(nb_run *run)
{
    message m = {0};
    m.word = ALIVE;
    post_on(run, &m);
}

/** Find processes without a message for too long. A process that closes its files may take
 * longer. */
static void watch(nb_run *run, double seconds)
{
    nb_share *s = &run->share;
    double patience = s->patience * (atomic_load(&run->stop) ? CLOSING_PATIENCE : 1);
    if (nb_ranks_rank(run->ranks) > 0) {
        s->silence += seconds;
        if (s->silence > patience && !s->has_result)
            lose(run, 0);
        return;
    }
    for (int r = 1; r < nb_ranks_count(run->ranks); r++) {
        s->peers[r].silence += seconds;
        if (s->peers[r].silence > patience && !s->peers[r].ended)
            lose(run, r);
    }
}

static void send_posts(nb_run *run)
{
    nb_share *s = &run->share;
    while (s->first_post) {
        struct nb_post *p = s->first_post;
        nb_ranks_send(run->ranks, p->to, &p->message, sizeof p->message);
        s->first_post = p->next;
        if (!s->first_post)
            s->last_post = NULL;
        nb_free(p);
    }
}

static double step_clock(nb_run *run)
{
    double now = nb_monotonic_seconds(), step = now - run->share.beat;
    if (step >= run->share.patience / BEATS) {
        run->share.beat = now;
        say_alive(run);
    }
    step = now - run->last_tick;
    run->last_tick = now;
    return step < longest_tick ? step : longest_tick;
}

static void tick(nb_run *run)
{
    const struct timespec pause = {0, TICK_NS};
    message m;
    int from;
    if (run->hooks.progress && nb_run_ask(run))
        nb_run_cancel(run);
    pthread_mutex_lock(&run->lock);
    while (nb_ranks_receive(run->ranks, &m, sizeof m, &from))
        if (nb_ranks_rank(run->ranks) == 0)
            listen_as_first(run, from, &m);
        else
            listen_as_other(run, &m);
    if (atomic_load(&run->stop))
        pthread_cond_broadcast(&run->moved);
    tell_stop(run);
    watch(run, step_clock(run));
    send_posts(run);
    pthread_mutex_unlock(&run->lock);
    nanosleep(&pause, NULL);
}

void nb_share_talk(nb_run *run)
{
    run->last_tick = nb_monotonic_seconds();
    while (run->ranks && atomic_load(&run->working) > 0)
        tick(run);
}

static int all_ended(const nb_run *run)
{
    for (int r = 1; r < nb_ranks_count(run->ranks); r++)
        if (!run->share.peers[r].ended)
            return 0;
    return 1;
}

void nb_share_end(nb_run *run, int block, int partial)
{
    message m = {0};
    if (nb_ranks_rank(run->ranks) == 0) {
        run->share.peers[0].block = block;
        run->share.peers[0].partial = partial;
        while (!all_ended(run))
            tick(run);
        return;
    }
    m.word = ENDED;
    m.number = block;
    m.count = partial;
    pthread_mutex_lock(&run->lock);
    tell_stop(run);
    post(run, 0, &m);
    pthread_mutex_unlock(&run->lock);
    while (!run->share.has_result)
        tick(run);
}

nb_status nb_share_result(nb_run *run, nb_status status, nb_error *err)
{
    message m = {0};
    double start = nb_monotonic_seconds();
    if (!run->ranks)
        return status;
    if (nb_ranks_rank(run->ranks) > 0) {
        if (err && !run->share.orphan)
            memset(err, 0, sizeof *err);
        return run->share.result;
    }
    m.word = RESULT;
    m.number = nb_ranks_lost(run->ranks);
    m.error.code = status;
    pthread_mutex_lock(&run->lock);
    post_to_all(run, &m);
    send_posts(run);
    pthread_mutex_unlock(&run->lock);
    while (nb_ranks_pending(run->ranks) && nb_monotonic_seconds() - start < 1)
        tick(run);
    return status;
}
