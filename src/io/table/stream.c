/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/matrix.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../common/lines.h"

#define SHIFT "predict_refine/det_shift"

/** State of the reader. */
typedef struct reader {
    nb_lines lines;
    int in_crystal;
    unsigned axes; /* bit i is set if the crystal has axis i */
    nb_stream_crystal now;
    char name[NB_STREAM_NAME], event[NB_STREAM_NAME];
    double energy_eV;
    size_t room[4];
    int pending; /* number of crystals of the present image */
} reader;

static int begins(const char *p, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

int nb_stream_is(const char *data, size_t bytes)
{
    const char *end = data + bytes;
    return begins(nb_text_body(data, end), end, "CrystFEL stream format");
}

static nb_status fail(const reader *r, const char *why)
{
    return nb_lines_fail(&r->lines, "-orientations: %s", why);
}

/** Allocate memory for one more crystal and image. */
static nb_status reserve(reader *r, nb_stream *s)
{
    const size_t images = (size_t)s->images;
    nb_error *err = r->lines.err;
    nb_status st;
    NB_FORWARD(nb_reserve(&s->crystal, (size_t)s->n, &r->room[0], sizeof *s->crystal,
                          "a stream", err));
    NB_FORWARD(nb_reserve(&s->first, images + 1, &r->room[1], sizeof *s->first,
                          "a stream", err));
    NB_FORWARD(
        nb_reserve(&s->image, images, &r->room[2], sizeof *s->image, "a stream", err));
    return nb_reserve(&s->energy_eV, images, &r->room[3], sizeof *s->energy_eV,
                      "a stream", err);
}

/** Read up to `limit` numbers from p to the end of the line; returns how many. */
static int numbers_at(const reader *r, const char *p, const char *between, int limit,
                      double *values)
{
    nb_lines l = r->lines;
    l.p = p;
    l.between = between;
    l.err = NULL;
    return nb_lines_numbers(&l, limit, values);
}

/** Read "astar = +0.1 -0.2 +0.3 nm^-1" into a column of A. */
static nb_status read_axis(reader *r, const char *p, int axis)
{
    double v[3];
    if (numbers_at(r, p, "", 3, v) != 3 ||
        fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2])) > 1e6)
        return fail(r, "three numbers must follow, nm^-1");
    for (int i = 0; i < 3; i++)
        r->now.A[3 * i + axis] = 0.1 * v[i];
    r->axes |= 1u << axis;
    return NB_OK;
}

/** Read "x = 0.01 y = -0.02 mm"; 0 0 for other text. */
static void read_shift(const reader *r, const char *p, double shift[2])
{
    double v[2];
    const int both = numbers_at(r, p, "xy=", 2, v) == 2;
    for (int i = 0; i < 2; i++)
        shift[i] = both && fabs(v[i]) < 1e6 ? v[i] : 0;
}

static nb_status end_crystal(reader *r, nb_stream *s)
{
    double box = 1;
    r->in_crystal = 0;
    if (r->axes != 7)
        return fail(r, "the crystal lacks astar, bstar or cstar");
    for (int k = 0; k < 3; k++)
        box *= hypot(hypot(r->now.A[k], r->now.A[3 + k]), r->now.A[6 + k]);
    if (!(nb_determinant(r->now.A) > 1e-9 * box))
        return fail(r, "the axes of the crystal lie in one plane or are left-handed");
    if (reserve(r, s))
        return NB_ERR_NOMEM;
    s->crystal[s->n++] = r->now;
    r->pending++;
    return NB_OK;
}

static void end_chunk(reader *r, nb_stream *s)
{
    if (r->pending) {
        char *name = s->image[s->images];
        snprintf(name, NB_STREAM_NAME, "%.200s%s%.50s", r->name, r->event[0] ? " " : "",
                 r->event);
        s->energy_eV[s->images] = r->energy_eV;
        s->first[++s->images] = s->n;
    }
    r->pending = 0;
    r->energy_eV = NAN;
    r->name[0] = r->event[0] = '\0';
}

/** Copy the text after a word, without blanks and carriage return. */
static void take_text(const char *p, const char *end, char *to)
{
    while (p < end && nb_text_blank(*p))
        p++;
    while (end > p && nb_text_blank(end[-1]))
        end--;
    snprintf(to, NB_STREAM_NAME, "%.*s", (int)(end - p < 250 ? end - p : 250), p);
}

static nb_status take_line(reader *r, nb_stream *s)
{
    const char *p = r->lines.p, *end = r->lines.end;
    double energy;
    static const char *const axes[] = {"astar = ", "bstar = ", "cstar = "};
    if (begins(p, end, "----- Begin chunk") || begins(p, end, "----- End chunk"))
        end_chunk(r, s);
    else if (begins(p, end, "Image filename:"))
        take_text(p + 15, end, r->name);
    else if (begins(p, end, "Event:"))
        take_text(p + 6, end, r->event);
    else if (begins(p, end, "--- Begin crystal")) {
        r->in_crystal = 1;
        r->axes = 0;
        memset(r->now.shift_mm, 0, sizeof r->now.shift_mm);
    } else if (begins(p, end, "photon_energy_eV"))
        r->energy_eV =
            numbers_at(r, p + 16, "=", 1, &energy) == 1 && energy > 0 ? energy : NAN;
    else if (r->in_crystal && begins(p, end, SHIFT))
        read_shift(r, p + sizeof SHIFT - 1, r->now.shift_mm);
    else if (r->in_crystal && begins(p, end, "--- End crystal"))
        return end_crystal(r, s);
    for (int i = 0; r->in_crystal && i < 3; i++)
        if (begins(p, end, axes[i]))
            return read_axis(r, p + strlen(axes[i]), i);
    return NB_OK;
}

nb_status nb_stream_parse(const char *data, size_t bytes, const char *path, int needed,
                          nb_stream *out, nb_error *err)
{
    reader r = {.lines = nb_lines_of(data, bytes, path, "", err), .energy_eV = NAN};
    nb_status st;
    memset(out, 0, sizeof *out);
    r.lines.comment = "";
    if (!(st = reserve(&r, out)))
        out->first[0] = 0;
    while (!st && out->images < needed && nb_lines_next(&r.lines))
        st = take_line(&r, out);
    if (!st && out->images < needed)
        st = nb_fail_at(err, NB_ERR_INPUT, path, 0,
                        "-orientations: the stream has %d images with a crystal, but the "
                        "series has %d stills",
                        out->images, needed);
    if (st)
        nb_stream_free(out);
    return st;
}

void nb_stream_free(nb_stream *s)
{
    nb_free(s->crystal);
    nb_free(s->first);
    nb_free(s->image);
    nb_free(s->energy_eV);
    memset(s, 0, sizeof *s);
}
