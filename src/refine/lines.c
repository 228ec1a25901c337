/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../series/ranks.h"
#include "../sim/report.h"

/** A piece of a line on its way to rank 0. */
enum { PIECE = 1 << 15 };
typedef struct letter {
    int picture; /* -1: the process has sent all */
    int lost, has_line;
    size_t all, at, bytes; /* of the line: its length, where the piece begins, the piece */
    char text[PIECE];
} letter;

#define HEAD offsetof(letter, text)

nb_status nb_lines_open(nb_lines *l, const char *path, int count, nb_ranks *ranks,
                        nb_error *err)
{
    nb_status st = NB_OK;
    memset(l, 0, sizeof *l);
    l->file.fd = -1;
    l->ranks = ranks;
    l->count = count;
    l->line = nb_alloc((size_t)count, sizeof(char *), "report", err);
    l->told = nb_alloc((size_t)count, 1, "report", err);
    if (!l->line || !l->told)
        return NB_ERR_NOMEM;
    if (path && nb_ranks_rank(ranks) == 0) {
        st = nb_outfile_open(&l->file, path, err);
        l->is_open = !st;
        l->is_page = nb_is_page(path);
    }
    if (!st && l->is_page) {
        size_t n;
        const char *before = nb_page_before(&n);
        st = nb_outfile_write(&l->file, before, n, err);
    }
    return st;
}

nb_status nb_lines_add(nb_lines *l, const char *line)
{
    if (!l->is_open || l->status)
        return l->status;
    l->status = nb_outfile_write(&l->file, line, strlen(line), &l->error);
    if (!l->status)
        l->status = nb_outfile_write(&l->file, "\n", 1, &l->error);
    l->written += !l->status;
    return l->status;
}

static void let_go(nb_lines *l, int picture)
{
    nb_free(l->line[picture]);
    l->line[picture] = NULL;
}

/** Write the lines that need not wait; all: those behind a gap, too. */
static void write_on(nb_lines *l, int all)
{
    for (; l->next < l->count && (all || l->told[l->next]); l->next++)
        if (l->line[l->next]) {
            nb_lines_add(l, l->line[l->next]);
            let_go(l, l->next);
        }
}

nb_status nb_lines_put(nb_lines *l, int picture, char *line, int lost)
{
    l->line[picture] = line;
    l->told[picture] = 1;
    l->lost += lost;
    if (nb_ranks_rank(l->ranks) == 0)
        write_on(l, 0);
    else
        l->told[picture] = (uint8_t)(2 + lost); /* not sent */
    return l->status;
}

static void send(nb_lines *l, int picture)
{
    const char *line = l->line[picture];
    const size_t all = line ? strlen(line) : 0;
    letter piece = {.picture = picture,
                    .lost = l->told[picture] - 2,
                    .has_line = line != NULL,
                    .all = all};
    do {
        piece.bytes = all - piece.at < PIECE ? all - piece.at : PIECE;
        if (line)
            memcpy(piece.text, line + piece.at, piece.bytes);
        nb_ranks_send(l->ranks, 0, &piece, HEAD + piece.bytes);
        piece.at += piece.bytes;
    } while (piece.at < all);
    l->told[picture] = 1;
    let_go(l, picture);
}

static void send_all(nb_lines *l)
{
    for (int k = 0; k < l->count; k++)
        if (l->told[k] > 1)
            send(l, k);
}

/** Rank 0: a piece has come. */
static void take(nb_lines *l, const letter *piece)
{
    const int k = piece->picture;
    if (k < 0) {
        l->ended++;
        return;
    }
    if (piece->has_line && piece->at == 0) {
        l->line[k] = nb_alloc(piece->all + 1, 1, "report", &l->error);
        if (!l->line[k])
            l->status = NB_ERR_NOMEM;
    }
    if (l->line[k])
        memcpy(l->line[k] + piece->at, piece->text, piece->bytes);
    if (piece->at + piece->bytes < piece->all)
        return;
    l->told[k] = 1;
    l->lost += piece->lost;
    write_on(l, 0);
}

void nb_lines_exchange(nb_lines *l)
{
    letter piece;
    int from;
    if (nb_ranks_count(l->ranks) < 2)
        return;
    if (nb_ranks_rank(l->ranks) > 0) {
        send_all(l);
        return;
    }
    while (nb_ranks_receive(l->ranks, &piece, sizeof piece, &from))
        take(l, &piece);
}

void nb_lines_end(nb_lines *l)
{
    const struct timespec moment = {0, 1000000};
    const letter end = {.picture = -1};
    nb_lines_exchange(l);
    if (nb_ranks_rank(l->ranks) > 0) {
        nb_ranks_send(l->ranks, 0, &end, HEAD);
        while (nb_ranks_pending(l->ranks))
            nanosleep(&moment, NULL);
        return;
    }
    while (l->ended < nb_ranks_count(l->ranks) - 1) {
        nanosleep(&moment, NULL);
        nb_lines_exchange(l);
    }
    write_on(l, 1);
}

nb_status nb_lines_close(nb_lines *l, nb_status st, nb_error *err)
{
    if (l->line && nb_ranks_rank(l->ranks) == 0)
        write_on(l, 1);
    if (l->is_page && !st)
        nb_lines_add(l, nb_page_behind());
    if (l->status && !st)
        st = nb_fail(err, l->status, "%s", l->error.message);
    if (l->is_open && !l->status && (!st || (l->written && !l->is_page))) {
        nb_error *said = st ? NULL : err; /* the first error counts */
        nb_status end = nb_outfile_commit(&l->file, said);
        st = st ? st : end;
    }
    nb_outfile_abort(&l->file);
    for (int k = 0; l->line && k < l->count; k++)
        let_go(l, k);
    nb_free(l->line);
    nb_free(l->told);
    l->line = NULL;
    l->told = NULL;
    return st;
}
