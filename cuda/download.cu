/* SPDX-License-Identifier: MIT */
/* Device to caller's memory through a small pinned ring: pinning the caller's memory costs more
 * than the copy, and several threads share the page faults of fresh memory. */
#include "internal.h"
#include "parallel.h"

#include <string.h>

enum { MAX_THREADS = 16, SLOTS = 2, CHUNK = 512 * 1024, SMALL = 128 * 1024 };

struct nb_cuda_ring {
    int device, threads;
    char *pinned; /* up to [SLOTS][threads] chunks; owned */
    size_t pinned_bytes;
    cudaStream_t stream;
    cudaEvent_t ready; /* what is to be copied has been computed */
    cudaEvent_t arrived[MAX_THREADS][SLOTS];
};

typedef struct copy_job {
    nb_cuda_ring *ring;
    char *to;
    const char *from;
    size_t bytes, chunk;
    int slots; /* of each thread, 1 or SLOTS */
    cudaError_t failed[MAX_THREADS];
} copy_job;

static nb_status create_events(nb_cuda_ring *ring, nb_error *err)
{
    cudaError_t code = cudaEventCreateWithFlags(&ring->ready, cudaEventDisableTiming);
    int t, k;
    for (t = 0; t < ring->threads; t++)
        for (k = 0; k < SLOTS && code == cudaSuccess; k++)
            code = cudaEventCreateWithFlags(&ring->arrived[t][k], cudaEventDisableTiming);
    return nb_cuda_check(err, code, "creating events");
}

nb_status nb_cuda_ring_create(int device, int threads, nb_cuda_ring **ring, nb_error *err)
{
    nb_cuda_ring *r = (nb_cuda_ring *)nb_alloc(1, sizeof *r, "download ring", err);
    nb_status st;
    *ring = NULL;
    if (!r)
        return NB_ERR_NOMEM;
    r->device = device;
    r->threads = threads > MAX_THREADS ? (int)MAX_THREADS : threads < 1 ? 1 : threads;
    st = nb_cuda_check(err, cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking),
                       "creating a stream");
    if (!st)
        st = create_events(r, err);
    if (st)
        nb_cuda_ring_free(r);
    else
        *ring = r;
    return st;
}

void nb_cuda_ring_free(nb_cuda_ring *ring)
{
    int t, k;
    if (!ring)
        return;
    if (ring->pinned)
        cudaFreeHost(ring->pinned);
    for (t = 0; t < ring->threads; t++)
        for (k = 0; k < SLOTS; k++)
            if (ring->arrived[t][k])
                cudaEventDestroy(ring->arrived[t][k]);
    if (ring->ready)
        cudaEventDestroy(ring->ready);
    if (ring->stream)
        cudaStreamDestroy(ring->stream);
    nb_free(ring);
}

static size_t chunk_bytes(const copy_job *job, size_t i)
{
    size_t left = job->bytes - i * job->chunk;
    return left < job->chunk ? left : job->chunk;
}

static char *slot_of(const copy_job *job, int thread, int slot)
{
    return job->ring->pinned + (size_t)(slot * job->ring->threads + thread) * job->chunk;
}

static cudaError_t start_chunk(const copy_job *job, size_t i, int thread, int slot)
{
    nb_cuda_ring *ring = job->ring;
    cudaError_t code =
        cudaMemcpyAsync(slot_of(job, thread, slot), job->from + i * job->chunk,
                        chunk_bytes(job, i), cudaMemcpyDeviceToHost, ring->stream);
    if (code == cudaSuccess)
        code = cudaEventRecord(ring->arrived[thread][slot], ring->stream);
    return code;
}

/** Thread t of T moves the chunks t, t + T, ... through its own slots. */
static void move_chunks(void *context, int thread, int threads)
{
    copy_job *job = (copy_job *)context;
    size_t n = (job->bytes + job->chunk - 1) / job->chunk, i, T = (size_t)threads;
    cudaError_t code = cudaSetDevice(job->ring->device);
    int slot;
    for (slot = 0, i = (size_t)thread; slot < job->slots && i < n; slot++, i += T)
        if (code == cudaSuccess)
            code = start_chunk(job, i, thread, slot);
    for (slot = 0, i = (size_t)thread; i < n && code == cudaSuccess;
         slot = (slot + 1) % job->slots, i += T) {
        code = cudaEventSynchronize(job->ring->arrived[thread][slot]);
        if (code != cudaSuccess)
            break;
        memcpy(job->to + i * job->chunk, slot_of(job, thread, slot), chunk_bytes(job, i));
        if (i + job->slots * T < n)
            code = start_chunk(job, i + job->slots * T, thread, slot);
    }
    job->failed[thread] = code;
}

static nb_status reserve_pinned(nb_cuda_ring *ring, size_t bytes, nb_error *err)
{
    if (bytes <= ring->pinned_bytes)
        return NB_OK;
    if (ring->pinned)
        cudaFreeHost(ring->pinned);
    ring->pinned = NULL;
    ring->pinned_bytes = 0;
    if (cudaMallocHost((void **)&ring->pinned, bytes) != cudaSuccess) {
        cudaGetLastError();
        return nb_fail(err, NB_ERR_DEVICE, "cuda: no %zu bytes of pinned memory", bytes);
    }
    ring->pinned_bytes = bytes;
    return NB_OK;
}

nb_status nb_cuda_download(nb_cuda_ring *ring, float *to, const float *from, size_t count,
                           cudaStream_t stream, nb_error *err)
{
    copy_job job = {ring,  (char *)to, (const char *)from, count * sizeof *to, CHUNK,
                    SLOTS, {}};
    int threads = job.bytes <= SMALL ? 1 : ring->threads, t;
    size_t share = (job.bytes / (size_t)threads + SMALL) / SMALL * SMALL;
    nb_status st;
    if (share < CHUNK) {
        job.chunk = share;
        job.slots = 1;
    }
    st = reserve_pinned(ring, (size_t)job.slots * ring->threads * job.chunk, err);
    if (!st)
        st = nb_cuda_check(err, cudaEventRecord(ring->ready, stream), "rendering");
    if (!st)
        st = nb_cuda_check(err, cudaStreamWaitEvent(ring->stream, ring->ready, 0),
                           "waiting for the image");
    if (st)
        return st;
    nb_cuda_parallel(threads, move_chunks, &job);
    for (t = 0; t < threads && !st; t++)
        st = nb_cuda_check(err, job.failed[t], "copying the image");
    /* what move_chunks left in flight after an error must not outlive the slots */
    if (st)
        cudaStreamSynchronize(ring->stream);
    return st;
}
