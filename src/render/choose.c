/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/stop.h"
#include "../physics/limits.h"
#include "simd.h"

/* If the CPU needs less than this time (s), no device is considered: a process that uses
 * a device takes at least 0.33 s, half of which is the search for it. */
#define DEVICE_LEAST 0.36
/* Seconds to identify a device. They are a part of its start, and have passed when the
 * choice is made. */
#define ASKING 0.15
/* A device is taken if the CPU's estimate exceeds MARGIN times the device's. The CPU's
 * estimate is 0.6 to 2.2 times its real time, so it is more often too long. */
#define MARGIN 1.1
/* Frames that take longer than this (s) get one renderer instead of several. */
#define SHORT_FRAME 0.05
/* Device memory that all renderers together may use, bytes. */
#define ROOM 0x1p31
/* The word for an automatic choice. */
#define AUTOMATIC "auto"

/* The vector renderer, unless options->isa selects the scalar one. */
const nb_backend *nb_backend_cpu(const nb_render_options *options)
{
    return options->isa == NB_ISA_SCALAR ? &nb_backend_scalar : &nb_backend_simd;
}

const char *nb_device_word(int i)
{
    if (i == 0)
        return AUTOMATIC;
    for (const nb_backend *const *b = nb_backends; *b && i > 0; b++)
        for (const char *const *word = (*b)->words; word && *word; word++)
            if (--i == 0)
                return *word;
    return NULL;
}

const nb_backend *nb_backend_of(const char *word, nb_device *device)
{
    for (const nb_backend *const *b = nb_backends; *b; b++)
        if ((*b)->parse && (*b)->parse(word, device))
            return *b;
    *device = (nb_device){-1, 0};
    return NULL;
}

static int is_automatic(const char *word)
{
    return !word[0] || strcmp(word, AUTOMATIC) == 0;
}

nb_status nb_device_check(const char *word, nb_error *err)
{
    char list[200] = "";
    const char *known;
    nb_device device;
    NB_REFUSE_NULL(word);
    if (is_automatic(word) || nb_backend_of(word, &device))
        return NB_OK;
    for (int i = 0; (known = nb_device_word(i)); i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 known);
    return nb_fail(err, NB_ERR_INPUT, "-device %.40s: must be one of %s", word, list);
}

/** Check a backend with a device that -device selects by name. */
static nb_status take_named(const nb_scene *scene, const nb_render_options *options,
                            const char *word, const nb_backend *backend, char *reason,
                            size_t reason_size, nb_error *err)
{
    char why[200] = "";
    if (nb_fork_lost_device())
        return nb_fail(err, NB_ERR_UNSUPPORTED, "-device %s: " NB_FORK_CURE, word);
    nb_fork_uses_device();
    if (backend->estimate(scene, options, why, sizeof why) < 0)
        return nb_fail(err, NB_ERR_UNSUPPORTED, "-device %s: %s; use -device cpu", word,
                       why);
    snprintf(reason, reason_size, "%s", why);
    return NB_OK;
}

/** The estimate of a backend for a scene. */
typedef struct offer {
    const nb_backend *backend; /* or NULL */
    double seconds; /* < 0: the backend cannot render the scene, `why` has the reason */
    char why[200];
} offer;

static int may_have_device(void)
{
    if (nb_fork_lost_device())
        return 0;
    for (const nb_backend *const *b = nb_backends; *b; b++)
        if ((*b)->present && (*b)->present())
            return 1;
    return 0;
}

/** The backend whose device renders the scene fastest; its seconds are without ASKING. */
static offer ask_devices(const nb_scene *scene, const nb_render_options *options)
{
    offer best = {NULL, -1, ""};
    for (const nb_backend *const *b = nb_backends; *b; b++) {
        offer o = {*b, -1, ""};
        if (!(*b)->present || !(*b)->present())
            continue;
        if (options->asking)
            options->asking(options->asking_user, *b);
        nb_fork_uses_device();
        o.seconds = (*b)->estimate(scene, options, o.why, sizeof o.why);
        if (o.seconds < 0 || (best.backend && o.seconds >= best.seconds))
            continue;
        best = o;
    }
    if (best.backend)
        best.seconds = best.seconds > ASKING ? best.seconds - ASKING : 0;
    return best;
}

nb_status nb_backend_choose(const nb_scene *scene, const char *word,
                            nb_render_options *options, const nb_backend **backend,
                            char *reason, size_t reason_size, nb_error *err)
{
    nb_device device;
    const nb_backend *named = nb_backend_of(word, &device);
    const int may_ask = !named && options->isa == NB_ISA_AUTO && may_have_device();
    offer cpu = {nb_backend_cpu(options), 0, ""}, other = {NULL, -1, ""};
    options->device_index = device.index;
    if (!named && !is_automatic(word))
        return nb_device_check(word, err);
    *backend = named && named->present ? named : cpu.backend;
    if (*backend != cpu.backend)
        return take_named(scene, options, word, named, reason, reason_size, err);
    cpu.seconds = cpu.backend->estimate(scene, options, cpu.why, sizeof cpu.why);
    if (may_ask && (cpu.seconds < 0 || cpu.seconds > DEVICE_LEAST))
        other = ask_devices(scene, options);
    if (other.backend && (cpu.seconds < 0 || MARGIN * other.seconds < cpu.seconds)) {
        *backend = other.backend;
        snprintf(reason, reason_size, "%s: about %.2g s against %.2g s on the CPU",
                 other.why, other.seconds, cpu.seconds);
        return NB_OK;
    }
    if (cpu.seconds < 0)
        return nb_fail(err, NB_ERR_UNSUPPORTED, "-device cpu: %s", cpu.why);
    snprintf(reason, reason_size, "%s", cpu.why);
    return NB_OK;
}

int nb_backend_renderers(const nb_backend *backend, const nb_scene *scene,
                         const nb_render_options *options)
{
    /* bytes for floats, sums and counts */
    enum { LIMIT = 5, BYTES_OF_PIXEL = 32, BYTES_OF_F = 16 };
    const double bytes = (double)scene->raster.pixels * BYTES_OF_PIXEL +
                         (double)nb_table_values(&scene->factors.table) * BYTES_OF_F;
    nb_render_options one = *options, two = *options;
    char why[200];
    double seconds;
    one.images = 1;
    two.images = 2;
    seconds = backend->estimate(scene, &two, why, sizeof why) -
              backend->estimate(scene, &one, why, sizeof why);
    if (seconds > SHORT_FRAME || bytes * 2 > ROOM)
        return 1;
    return bytes * LIMIT < ROOM ? LIMIT : (int)(ROOM / bytes);
}
