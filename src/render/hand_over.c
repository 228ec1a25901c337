/* SPDX-License-Identifier: MIT */
#include "hand_over.h"

#include "../base/clock.h"

/* Seconds. */
#define LOOK 0.012 /* of progress, before it says anything */
#define LEAST 0.3  /* that a device takes at least, with its start */
#define UNSURE                                                                           \
    0.004 /* progress of so long is off by all of itself, of twice as long by half */

void nb_hand_over_begin(nb_hand_over *h, const nb_scene *scene,
                        const nb_render_options *options)
{
    h->scene = scene;
    h->options = options;
    h->caller = options->hooks;
    h->first_time = -1;
    h->to = NULL;
}

/** Seconds that are left, from the progress since the first report; 0: too early to say. */
static double seconds_left(nb_hand_over *h, double fraction, double now)
{
    const double passed = now - h->first_time, done = fraction - h->first_fraction;
    if (h->first_time < 0) {
        h->first_time = now;
        h->first_fraction = fraction;
        return 0;
    }
    if (passed < LOOK || !(done > 0))
        return 0;
    const double left = passed / done * (1 - fraction);
    return left > LEAST * (1 + UNSURE / passed) ? left : 0;
}

static int progress(void *user, double fraction)
{
    nb_hand_over *h = user;
    const double now = nb_monotonic_seconds();
    double left;
    if (h->caller.progress && h->caller.progress(h->caller.user, fraction))
        return 1;
    if (h->asked || (left = seconds_left(h, fraction, now)) == 0)
        return 0;
    h->asked = 1;
    h->to = (h->ask ? h->ask : nb_backend_quicker)(h->scene, h->options, left, now,
                                                   h->reason, sizeof h->reason);
    return h->to != NULL;
}

static void notice(void *user, const char *line)
{
    const nb_hand_over *h = user;
    if (h->caller.notice)
        h->caller.notice(h->caller.user, line);
}

nb_hooks nb_hand_over_hooks(nb_hand_over *h)
{
    return (nb_hooks){h, notice, progress};
}
