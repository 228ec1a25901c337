/* SPDX-License-Identifier: MIT */
#include "hand_over.h"

#include "../base/clock.h"

/* Seconds. */
#define LOOK 0.012 /* of progress, before it says anything */
#define MUCH 0.36  /* a device takes 0.3 at least, with its start; this is beyond doubt */
enum { LOOKS = 2 /* that say so one after the other: threads may begin late */ };

static void mark(nb_hand_over *h, double fraction, double now)
{
    h->time = now;
    h->fraction = fraction;
}

void nb_hand_over_begin(nb_hand_over *h, const nb_scene *scene,
                        const nb_render_options *options)
{
    h->scene = scene;
    h->options = options;
    h->caller = options->hooks;
    h->looks = 0;
    h->to = NULL;
    mark(h, 0, nb_monotonic_seconds());
}

/** Seconds that are left, from the progress since the last look; 0: not much, or too early to say. */
static double seconds_left(nb_hand_over *h, double fraction, double now)
{
    const double passed = now - h->time, done = fraction - h->fraction;
    if (done < 0) { /* another pass begins */
        h->looks = 0;
        mark(h, fraction, now);
        return 0;
    }
    if (passed < LOOK || done == 0)
        return 0;
    const double left = passed / done * (1 - fraction);
    const int was_first =
        h->fraction == 0; /* it has what comes before the pixels in it, too */
    mark(h, fraction, now);
    h->looks = left > MUCH ? h->looks + (was_first || passed < 2 * LOOK ? 1 : LOOKS) : 0;
    return h->looks >= LOOKS ? left : 0;
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
    h->to = (h->ask ? h->ask : nb_backend_quicker)(h->scene, h->options, left, now);
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
