/* SPDX-License-Identifier: MIT */
#include "earlier.h"

#include "../base/error.h"
#include "fingerprint.h"
#include "run.h"

nb_status nb_earlier_agree(nb_run *run, uint64_t earlier, uint64_t *fingerprint,
                           nb_error *err)
{
    uint64_t mine = nb_fingerprint(run->base, &run->frames);
    uint64_t first[2] = {mine, nb_fingerprint_renderer(mine, run->base, &run->frames)};
    const char *maker = nb_fingerprint_maker(mine, earlier);
    nb_status st = NB_OK;
    if (maker && earlier != first[1] && nb_ranks_rank(run->ranks) == 0)
        st = nb_fail(
            err, NB_ERR_INPUT,
            "-resume: the series was begun with the renderer %s, but this renderer "
            "(%.100s) gives other last digits; type the same -device or -isa as before",
            maker, run->base->engine.line);
    nb_ranks_share(run->ranks, first, sizeof first);
    if (mine != first[0])
        st = nb_fail(err, NB_ERR_INPUT,
                     "its input files differ from those of rank 0; every process needs "
                     "the same files");
    *fingerprint = first[1];
    return nb_ranks_agree(run->ranks, st, err);
}

/** The hash of the inputs of finished frame k, from its record; 0: it is not finished. */
static int recorded_inputs(const nb_run *run, int k, uint64_t *inputs)
{
    if (run->hdf5.done && run->hdf5.done[k])
        *inputs = run->hdf5.inputs[k];
    else if (run->files.done && run->files.done[k])
        *inputs = run->files.inputs[k];
    else
        return 0;
    return 1;
}

nb_status nb_earlier_check_inputs(const nb_run *run, nb_error *err)
{
    const nb_config *base = &run->frames.base;
    nb_config cfg, last = *base;
    uint64_t was, now = 0;
    char names[256];
    for (int k = 0; run->series->override && k < run->frames.count; k++) {
        if (!recorded_inputs(run, k, &was) ||
            nb_frames_config(&run->frames, k, &cfg, NULL)) /* reported when it is made */
            continue;
        if (!nb_same_inputs(&cfg, &last))
            now = nb_own_inputs(&cfg, base);
        last = cfg;
        if (now == was)
            continue;
        nb_own_input_names(&cfg, base, names, sizeof names);
        return nb_fail(err, NB_ERR_INPUT,
                       "-resume: frame %d was made with other contents of %s; restore "
                       "the file, or leave -resume out to start again",
                       k + 1, names);
    }
    return NB_OK;
}

void nb_earlier_notice_stale(const nb_run *run)
{
    char first[NB_PATH_MAX];
    for (int hdf5 = 0; hdf5 < 2; hdf5++) {
        int there = hdf5 ? run->hdf5.done != NULL : run->files.done != NULL, count = 0;
        if (there)
            count = hdf5 ? nb_hdf5_sink_stale(&run->hdf5, first)
                         : nb_file_sink_stale(&run->files, first);
        if (count == 1)
            nb_notice(&run->hooks,
                      "%s is left from an earlier, longer series; "
                      "remove it if you do not need it",
                      first);
        if (count > 1)
            nb_notice(&run->hooks,
                      "%s and %d more are left from an earlier, longer series; remove "
                      "them if you do not need them",
                      first, count - 1);
    }
}
