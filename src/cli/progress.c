/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/threads.h"
#include "../nanobragg.h"

/* Number of the signal that requested a stop. A signal handler may change only data of
 * this type. */
static volatile sig_atomic_t stop_signal;

/** End at once, as without a handler, but remove the temporary files. */
static void end_now(int number)
{
    nb_remove_temporary_files();
    signal(number, SIG_DFL);
    raise(number);
}

/** The first signal requests a stop; the same signal again ends the program at once,
 * except SIGHUP, which a closing terminal repeats, and SIGUSR1, with which a batch system
 * warns. */
static void on_signal(int number)
{
    if (stop_signal == number && number != SIGHUP && number != SIGUSR1)
        end_now(number);
    stop_signal = number;
}

/** Empty handler: the interrupted call fails with its reason. SIG_IGN is not used,
 * because programs that we start would inherit it. */
static void on_failed_write(int number)
{
    (void)number;
}

/** Set a handler. A signal that the caller ignores (nohup, background) stays ignored. */
static void handle(int number, void (*handler)(int))
{
    struct sigaction action, inherited;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    if (!sigaction(number, NULL, &inherited) && inherited.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static void handle_all(void (*handler)(int))
{
    handle(SIGINT, handler);
    handle(SIGTERM, handler);
    handle(SIGHUP, handler);
    handle(SIGUSR1, handler);
    handle(SIGXFSZ, on_failed_write);
}

void nb_stop_on_signals(void)
{
    handle_all(on_signal);
}

void nb_end_on_signals(void)
{
    handle_all(end_now);
}

void nb_ignore_broken_pipes(void)
{
    handle(SIGPIPE, on_failed_write);
}

int nb_stop_requested(void)
{
    return stop_signal != 0;
}

void nb_progress_init(nb_progress *progress, int wanted, int quiet)
{
    memset(progress, 0, sizeof *progress);
    progress->terminal = isatty(STDERR_FILENO);
    progress->visible = wanted && (progress->terminal || !quiet);
    if (!progress->terminal)
        /* set now, so that a short run prints no line */
        progress->last = nb_monotonic_seconds();
}

int nb_progress_is_due(nb_progress *progress)
{
    enum { LINES = 30 /* s; time between two lines */ };
    const double now = progress->visible ? nb_monotonic_seconds() : 0;
    if (!progress->visible || now - progress->last < (progress->terminal ? 0.1 : LINES))
        return 0;
    progress->last = now;
    return 1;
}

const char *nb_progress_begin(const nb_progress *progress)
{
    return progress->terminal ? "\r\033[K" : "nanobragg: ";
}

const char *nb_progress_stop(const nb_progress *progress)
{
    return progress->terminal ? "" : "\n";
}

/** Write a rate as "1.2 Mpixel/s" into text[size]. */
static void rate_text(double rate, char *text, size_t size)
{
    if (rate >= 1e6)
        snprintf(text, size, "%.1f Mpixel/s", rate / 1e6);
    else if (rate >= 1e3)
        snprintf(text, size, "%.1f kpixel/s", rate / 1e3);
    else
        snprintf(text, size, "%.1f pixel/s", rate);
}

void nb_progress_left(double seconds, char *text, size_t size)
{
    if (!(seconds < 1e7))
        snprintf(text, size, "?");
    else if (seconds >= 3600)
        snprintf(text, size, "%.1f h", seconds / 3600);
    else if (seconds >= 60)
        snprintf(text, size, "%d min %02d s", (int)seconds / 60, (int)seconds % 60);
    else
        snprintf(text, size, "%d s", (int)ceil(seconds));
}

static void draw(const nb_progress *progress, double fraction, double elapsed)
{
    enum { WIDTH = 30 };
    char bar[WIDTH + 1], rate[32], left[32];
    int full = (int)(fraction * WIDTH);

    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)full);
    bar[WIDTH] = '\0';
    rate_text(elapsed > 0 ? fraction * progress->pixels / elapsed : 0, rate, sizeof rate);
    nb_progress_left(fraction > 0 ? elapsed * (1 - fraction) / fraction : INFINITY, left,
                     sizeof left);
    fprintf(stderr, "%s[%s] %3d%%  %s  %s left%s", nb_progress_begin(progress), bar,
            (int)(fraction * 100), rate, left, nb_progress_stop(progress));
    fflush(stderr);
}

int nb_progress_hook(void *user, double fraction)
{
    nb_progress *progress = user;

    if (progress->visible && progress->start == 0)
        progress->start = nb_monotonic_seconds();
    if (nb_progress_is_due(progress))
        draw(progress,
             fraction < 0   ? 0
             : fraction > 1 ? 1
                            : fraction,
             progress->last - progress->start);
    return nb_stop_requested();
}

void nb_progress_end(nb_progress *progress)
{
    if (progress->visible && progress->terminal && progress->last > 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
