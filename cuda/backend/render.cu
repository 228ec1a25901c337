/* SPDX-License-Identifier: MIT */
/* One render: choose a path, upload, run, repair, download. */
#include "../spots/spots.h"
#include "render_job.h"

/** Calculate the pixels again that the kernel left as NaN, and download the image. */
static nb_status repair(nb_cuda_job *job, float *image, nb_error *err)
{
    nb_status st;
    for (int k = 0; k < job->scene->n_panels; k++) {
        nb_cuda_turn(job, k);
        nb_cuda_launch_repair(&job->launch, NULL);
    }
    NB_FORWARD(nb_cuda_check(err, cudaGetLastError(), "starting a kernel"));
    return nb_cuda_download(job->state->ring, image, job->state->image.at,
                            job->scene->raster.pixels * sizeof *image, job->state->stream,
                            err);
}

/** Render by a path that leaves steps out. *done = 0: every step must be rendered. */
static nb_status render_part(nb_cuda_job *job, int *done, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_spots_result *left = &state->notes.left;
    nb_status st;
    *state->repair = 0;
    st = state->path->run(job, err);
    if (st && nb_cuda_spots_lack_room(state)) {
        *left = {};
        left->refused = "the device has no room for it";
        st = NB_OK;
    }
    *done = !st && !left->refused;
    return st;
}

static nb_status render_path(nb_cuda_job *job, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_path_notes *notes = &state->notes;
    nb_status st = NB_OK;
    int done = 0;
    notes->left.refused = nb_path_refuses_tolerance(&job->plan);
    if (!notes->left.refused) {
        state->path = nb_cuda_choose_path(&job->plan, &notes->why);
        if (state->path->skips)
            st = render_part(job, &done, err);
    }
    if (st || done)
        return st;
    job->plan.tolerance = {}; /* render every step; no path may leave steps out */
    state->path = nb_cuda_choose_path(&job->plan, &notes->why);
    st = state->path->prepare(job, err);
    if (!st && job->no_room)
        state->path = nb_cuda_last_path();
    return st ? st : state->path->run(job, err);
}

/** Render into the image on the device. The caller repairs the few pixels that are NaN. */
static nb_status render_on_device(nb_cuda_job *job, const nb_request *request,
                                  nb_error *err)
{
    nb_raster *raster = &job->launch.scene.raster;
    nb_status st = NB_OK;
    *raster = job->scene->raster;
    job->lit = NULL;
    if (request->n == 0)
        return nb_cuda_clear(job, err);
    if (!job->filled)
        st = nb_cuda_light(job->state, request, raster->pixels, &job->lit, err);
    raster->mask = job->lit;
    return st ? st : render_path(job, err);
}

nb_status nb_cuda_render_request(nb_backend_state *state, const nb_scene *sc,
                                 const nb_request *request, float *image, nb_error *err)
{
    int filled;
    const nb_scene part = nb_request_scene(request, sc, &filled);
    const nb_engine engine = nb_cuda_engine(&state->device);
    state->asked = request->tolerance.asked;
    state->notes = {};
    nb_cuda_job job = {};
    job.state = state;
    job.scene = &part;
    job.plan = nb_cuda_plan_of(&part, request->precision, &request->tolerance, &engine);
    job.max_parts = 1;
    job.stays = image == NULL;
    job.filled = filled;
    size_t bytes = sc->raster.pixels * sizeof *image;
    nb_status st = nb_cuda_upload(state, sc, &job.launch, err);
    NB_TRY(render_on_device(&job, request, err));
    if (!st && image)
        st = nb_cuda_download(state->ring, image, state->image.at, bytes, state->stream,
                              err);
    if (!st && image && *state->repair)
        st = repair(&job, image, err);
    if (st)
        cudaStreamSynchronize(state->stream);
    return st;
}
