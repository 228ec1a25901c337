/* SPDX-License-Identifier: MIT */
#include "talk.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "run.h"

/* The next block for a process that asks, or -1: none is left.  Rank 0 only. */
static int dealer_deal(nb_dealer *d)
{
    int blocks = (d->frames + d->per_block - 1) / d->per_block;
    return d->next_block < blocks ? d->next_block++ : -1;
}

/* Take this block in hand; -1: there are no more. */
static void dealer_receive(nb_dealer *d, int block)
{
    d->over = block < 0;
    if (d->over)
        return;
    d->first = block * d->per_block;
    d->left = d->frames - d->first < d->per_block ? d->frames - d->first : d->per_block;
}

/* The next frame of the block in hand, or -1. */
static int dealer_take(nb_dealer *d)
{
    if (d->left <= 0)
        return -1;
    d->left--;
    return d->first++;
}

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
    nb_talk *s = &run->talk;
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

nb_status nb_talk_open(nb_run *run, nb_error *err)
{
    nb_talk *s = &run->talk;
    const char *patience = getenv("NANOBRAGG_RANK_TIMEOUT");
    s->patience = patience ? strtod(patience, NULL) : 0;
    if (!(s->patience > 0))
        s->patience = DEFAULT_PATIENCE;
    s->peers =
        nb_alloc((size_t)nb_ranks_count(run->ranks), sizeof *s->peers, "ranks", err);
    if (!s->peers)
        return NB_ERR_NOMEM;
    for (int r = 0; r < nb_ranks_count(run->ranks); r++)
        s->peers[r].block = -1;
    return NB_OK;
}

void nb_talk_close(nb_run *run)
{
    nb_talk *s = &run->talk;
    while (s->first_post) {
        struct nb_post *p = s->first_post;
        s->first_post = p->next;
        nb_free(p);
    }
    s->last_post = NULL;
    nb_free(s->peers);
    s->peers = NULL;
}

/** Get a block, now or when rank 0 has answered. */
static void want_block(nb_run *run)
{
    nb_dealer *d = &run->dealer;
    if (d->left || d->over || run->talk.asked)
        return;
    if (nb_ranks_rank(run->ranks) == 0) {
        dealer_receive(d, dealer_deal(d));
    } else {
        run->talk.asked = 1;
        post_word(run, 0, ASK, 0);
    }
}

int nb_talk_take(nb_run *run)
{
    int k;
    want_block(run);
    k = dealer_take(&run->dealer);
    if (k >= 0)
        want_block(run);
    return k;
}

nb_status nb_talk_finished(nb_run *run, const nb_finished *frame, nb_error *err)
{
    nb_status st = NB_OK;
    int here = nb_ranks_rank(run->ranks) == 0;
    message m = {0};
    if (here && (st = nb_run_record(run, frame, err)))
        return st;
    m.word = DONE;
    m.frame = *frame;
    pthread_mutex_lock(&run->lock);
    nb_run_count(run, frame);
    if (!here)
        post(run, 0, &m);
    pthread_mutex_unlock(&run->lock);
    return st;
}

int nb_talk_readable(const nb_run *run)
{
    const nb_talk *s = &run->talk;
    const int per_block = run->dealer.per_block;
    int n = 0, readable;
    while (n < run->frames.count && run->finished[n])
        n++;
    readable = n == run->frames.count ? n : n / per_block * per_block;
    /* the frames of an incomplete block that its process could make readable */
    for (int r = 0; r < nb_ranks_count(run->ranks); r++)
        if (s->peers[r].block == n / per_block)
            readable += s->peers[r].partial;
    /* a block may be finished and its file not */
    for (int r = 0; r < nb_ranks_count(run->ranks); r++) {
        int here = s->peers[r].block * per_block + s->peers[r].partial;
        if (s->peers[r].block >= 0 && here < readable)
            readable = here;
    }
    return readable;
}

/* --- talking --- */

static void lose(nb_run *run, int rank)
{
    nb_error err;
    nb_status st = nb_fail(&err, NB_ERR_DEVICE,
                           "rank %d of %d is lost (no message for %.0f s); the same "
                           "command with -resume keeps the finished frames",
                           rank, nb_ranks_count(run->ranks), run->talk.patience);
    nb_ranks_broken(run->ranks, rank);
    if (rank == 0) {
        run->talk.has_result = run->talk.orphan = 1;
        run->talk.result = st;
    } else {
        run->talk.peers[rank].ended = 1;
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
    st = nb_run_record(run, f, &err);
    pthread_mutex_lock(&run->lock);
    if (st)
        nb_run_stop_with(run, f->frame, st, &err);
    else
        nb_run_count(run, f);
    if (nb_run_report(run))
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
    int block = atomic_load(&run->stop) ? -1 : dealer_deal(&run->dealer);
    post_word(run, rank, block >= 0 ? DEAL : NO_MORE, block >= 0 ? block : 0);
}

/** The messages to rank 0, with the lock held. */
static void listen_as_first(nb_run *run, int from, const message *m)
{
    nb_peer *peer = &run->talk.peers[from];
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
    nb_talk *s = &run->talk;
    s->silence = 0;
    if (m->word == DEAL || m->word == NO_MORE) {
        s->asked = 0;
        dealer_receive(&run->dealer, m->word == DEAL ? m->number : -1);
    }
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
    if (run->talk.told || !atomic_load(&run->stop))
        return;
    run->talk.told = 1;
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
    nb_talk *s = &run->talk;
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
    nb_talk *s = &run->talk;
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
    double now = nb_monotonic_seconds(), step = now - run->talk.beat;
    if (step >= run->talk.patience / BEATS) {
        run->talk.beat = now;
        say_alive(run);
    }
    step = now - run->talk.last_tick;
    run->talk.last_tick = now;
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

void nb_talk_while_working(nb_run *run)
{
    run->talk.last_tick = nb_monotonic_seconds();
    while (run->ranks && atomic_load(&run->working) > 0)
        tick(run);
}

static int all_ended(const nb_run *run)
{
    for (int r = 1; r < nb_ranks_count(run->ranks); r++)
        if (!run->talk.peers[r].ended)
            return 0;
    return 1;
}

void nb_talk_end(nb_run *run, int block, int partial)
{
    message m = {0};
    if (nb_ranks_rank(run->ranks) == 0) {
        run->talk.peers[0].block = block;
        run->talk.peers[0].partial = partial;
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
    while (!run->talk.has_result)
        tick(run);
}

nb_status nb_talk_result(nb_run *run, nb_status status, nb_error *err)
{
    message m = {0};
    double start = nb_monotonic_seconds();
    if (!run->ranks)
        return status;
    if (nb_ranks_rank(run->ranks) > 0) {
        if (err && !run->talk.orphan)
            memset(err, 0, sizeof *err);
        return run->talk.result;
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
