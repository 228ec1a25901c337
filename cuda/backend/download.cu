/* SPDX-License-Identifier: MIT */
/* Copy between the device and the caller's memory through a ring of pinned slots, because
 * pinning the caller's memory takes longer than the copy. A copy is divided into chunks.
 * The first thread starts the transfers and counts the chunks that arrive. Each thread
 * copies a slice of each chunk, so that the threads share the page faults of new memory. */
#include "internal.h"
#include "host.h"

#include <atomic>
#include <sched.h>
#include <string.h>

enum {
    MAX_THREADS = 16,
    SLOTS = 8,
    CHUNK = 1024 * 1024, /* largest chunk, bytes; a small image has SLOTS chunks */
    LEAST = 256 * 1024,  /* smallest chunk, except the last one */
    /* sizes of the threads' slices are multiples of this, bytes */
    SLICE = 4096,
    PIECE = 256 * 1024, /* a piece of nb_cuda_pieces: a band of 65536 floats */
    /* smallest number of bytes for which a further thread helps to send */
    SHARE = 256 * 1024,
    /* up to this number of bytes one thread copies, because waking other threads takes
     * longer */
    SMALL = 2 * 1024 * 1024
};

struct nb_cuda_ring {
    int device, threads;
    char *pinned; /* SLOTS chunks; owned */
    size_t pinned_bytes;
    cudaEvent_t arrived[SLOTS];
};

typedef struct copy_job {
    nb_cuda_ring *ring;
    cudaStream_t stream;
    char *to;
    const char *from;
    size_t bytes, chunk, chunks;
    /* each on a separate cache line, because all threads poll `arrived` */
    alignas(64) std::atomic<size_t> arrived; /* number of chunks in the ring */
    alignas(64) std::atomic<int> failed;     /* a cudaError_t */
    struct {
        /* number of threads that still copy from this slot */
        alignas(64) std::atomic<int> left;
    } slot[SLOTS];
} copy_job;

nb_status nb_cuda_ring_create(int device, int threads, nb_cuda_ring **ring, nb_error *err)
{
    nb_cuda_ring *r = (nb_cuda_ring *)nb_alloc(1, sizeof *r, "download ring", err);
    cudaError_t code = cudaSuccess;
    int k;
    *ring = NULL;
    if (!r)
        return NB_ERR_NOMEM;
    r->device = device;
    r->threads = threads > MAX_THREADS ? (int)MAX_THREADS : threads < 1 ? 1 : threads;
    for (k = 0; k < SLOTS && code == cudaSuccess; k++)
        code = cudaEventCreateWithFlags(&r->arrived[k], cudaEventDisableTiming);
    if (code != cudaSuccess)
        nb_cuda_ring_free(r);
    else
        *ring = r;
    return nb_cuda_check(err, code, "creating events");
}

void nb_cuda_ring_free(nb_cuda_ring *ring)
{
    int k;
    if (!ring)
        return;
    if (ring->pinned)
        cudaFreeHost(ring->pinned);
    for (k = 0; k < SLOTS; k++)
        if (ring->arrived[k])
            cudaEventDestroy(ring->arrived[k]);
    nb_free(ring);
}

static size_t chunk_bytes(const copy_job *job, size_t i)
{
    size_t left = job->bytes - i * job->chunk;
    return left < job->chunk ? left : job->chunk;
}

static cudaError_t start_chunk(const copy_job *job, size_t i)
{
    size_t slot = i % SLOTS;
    cudaError_t code =
        cudaMemcpyAsync(job->ring->pinned + slot * CHUNK, job->from + i * job->chunk,
                        chunk_bytes(job, i), cudaMemcpyDeviceToHost, job->stream);
    if (code == cudaSuccess)
        code = cudaEventRecord(job->ring->arrived[slot], job->stream);
    return code;
}

/** Wait until ready() is true. Returns 0 if the job fails first. */
template <class Ready> static int wait_for(const copy_job *job, Ready ready)
{
    int spins;
    for (spins = 0; !ready(); spins++) {
        if (job->failed.load(std::memory_order_relaxed) != cudaSuccess)
            return 0;
        if (spins > 2000)
            sched_yield();
    }
    return 1;
}

/** Bytes of chunk i for each thread; the last threads may get less. */
static size_t slice_bytes(const copy_job *job, size_t i, int threads)
{
    return (chunk_bytes(job, i) / (size_t)threads + SLICE) / SLICE * SLICE;
}

/** Copy this thread's slice of chunk i, which has arrived. */
static void copy_slice(copy_job *job, size_t i, int thread, int threads)
{
    size_t bytes = chunk_bytes(job, i);
    size_t share = slice_bytes(job, i, threads), first = share * (size_t)thread;
    if (first < bytes)
        memcpy(job->to + i * job->chunk + first,
               job->ring->pinned + i % SLOTS * CHUNK + first,
               bytes - first < share ? bytes - first : share);
    job->slot[i % SLOTS].left.fetch_sub(1, std::memory_order_release);
}

/** In the first thread: when all threads have copied chunk i - 1, start the next transfer
 * into its slot. Wait for chunk i, and let all threads copy it. Returns 0 after an error. */
static int let_in(copy_job *job, size_t i, int threads)
{
    cudaError_t code;
    if (i > 0 && i - 1 + SLOTS < job->chunks) {
        std::atomic<int> *left = &job->slot[(i - 1) % SLOTS].left;
        if (!wait_for(job, [=] { return left->load(std::memory_order_acquire) == 0; }))
            return 0;
        code = start_chunk(job, i - 1 + SLOTS);
        if (code != cudaSuccess)
            job->failed = code;
    }
    code = cudaEventSynchronize(job->ring->arrived[i % SLOTS]);
    if (code != cudaSuccess)
        job->failed = code;
    job->slot[i % SLOTS].left.store(threads, std::memory_order_relaxed);
    job->arrived.store(i + 1, std::memory_order_release);
    return job->failed == cudaSuccess;
}

/** Copy all chunks. With three threads or more, the first one only manages the transfers. */
static void copy_chunks(void *context, int thread, int threads)
{
    copy_job *job = (copy_job *)context;
    int idle = threads > 2, copiers = threads - idle;
    size_t i;
    for (i = 0; i < job->chunks; i++) {
        if (thread == 0 && !let_in(job, i, copiers))
            return;
        if (thread == 0 && idle)
            continue;
        if (!wait_for(job,
                      [=] { return job->arrived.load(std::memory_order_acquire) > i; }))
            return;
        copy_slice(job, i, thread - idle, copiers);
    }
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

/** Get the attributes that the toolkit has of memory. Returns 0 for memory that the
 * toolkit does not know. */
static int know(const void *memory, cudaPointerAttributes *about)
{
    if (cudaPointerGetAttributes(about, memory) == cudaSuccess)
        return 1;
    cudaGetLastError();
    return 0;
}

/** True if the toolkit has pinned the memory, so that a transfer can go there directly. */
static int is_pinned(const void *memory)
{
    cudaPointerAttributes about;
    return know(memory, &about) && about.type == cudaMemoryTypeHost;
}

nb_status nb_cuda_ring_pieces(nb_cuda_ring *ring, nb_cuda_pieces *pieces, nb_error *err)
{
    const int limit = SLOTS * CHUNK / PIECE;
    int count = ring->threads < limit ? ring->threads : limit;
    nb_status st = reserve_pinned(ring, (size_t)count * PIECE, err);
    pieces->at = st ? NULL : ring->pinned;
    pieces->bytes = PIECE;
    pieces->count = st ? 0 : count;
    return st;
}

/** Divide a copy into chunks, and get pinned memory for the slots. */
static nb_status open_job(copy_job *job, nb_cuda_ring *ring, void *to, const void *from,
                          size_t bytes, cudaStream_t stream, nb_error *err)
{
    job->ring = ring;
    job->stream = stream;
    job->to = (char *)to;
    job->from = (const char *)from;
    job->bytes = bytes;
    job->chunk = (bytes / SLOTS + SLICE) / SLICE * SLICE;
    job->chunk = job->chunk > CHUNK   ? (size_t)CHUNK
                 : job->chunk < LEAST ? (size_t)LEAST
                                      : job->chunk;
    job->chunks = (bytes + job->chunk - 1) / job->chunk;
    return reserve_pinned(
        ring, (job->chunks < SLOTS ? job->chunks : (size_t)SLOTS) * CHUNK, err);
}

nb_status nb_cuda_download(nb_cuda_ring *ring, void *to, const void *from, size_t bytes,
                           cudaStream_t stream, nb_error *err)
{
    copy_job job = {};
    cudaError_t code = cudaSuccess;
    size_t i, slots;
    nb_status st;
    if (is_pinned(to)) {
        code = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
        return nb_cuda_check(
            err, code == cudaSuccess ? cudaStreamSynchronize(stream) : code, "rendering");
    }
    NB_FORWARD(open_job(&job, ring, to, from, bytes, stream, err));
    slots = job.chunks < SLOTS ? job.chunks : (size_t)SLOTS;
    for (i = 0; i < slots && code == cudaSuccess; i++)
        code = start_chunk(&job, i);
    st = nb_cuda_check(err, code, "rendering");
    if (!st) {
        nb_cuda_parallel(job.bytes <= SMALL ? 1 : ring->threads, copy_chunks, &job);
        st = nb_cuda_check(err, (cudaError_t)job.failed.load(), "rendering");
    }
    if (st) /* wait, because all transfers must end before the slots are freed */
        cudaStreamSynchronize(stream);
    return st;
}

/** Copy this thread's slice of chunk i into the ring. */
static void fill_slice(copy_job *job, size_t i, int thread, int threads)
{
    const size_t first = slice_bytes(job, i, threads) * (size_t)thread,
                 bytes = chunk_bytes(job, i);
    if (first < bytes)
        memcpy(job->ring->pinned + i % SLOTS * CHUNK + first,
               job->from + i * job->chunk + first,
               bytes - first < slice_bytes(job, i, threads)
                   ? bytes - first
                   : slice_bytes(job, i, threads));
    job->slot[i % SLOTS].left.fetch_sub(1, std::memory_order_release);
}

/** In the first thread: wait until the slot's previous chunk is sent, then let all
 * threads fill the slot with chunk i. */
static void open_slot(copy_job *job, size_t i, int threads)
{
    cudaError_t code = cudaSuccess;
    if (i >= SLOTS)
        code = cudaEventSynchronize(job->ring->arrived[i % SLOTS]);
    if (code != cudaSuccess)
        job->failed = code;
    job->slot[i % SLOTS].left.store(threads, std::memory_order_relaxed);
    job->arrived.store(i + 1, std::memory_order_release);
}

/** In the first thread: send chunk i after all threads have filled it; 0 after an error. */
static int send_chunk(copy_job *job, size_t i)
{
    const size_t slot = i % SLOTS;
    std::atomic<int> *left = &job->slot[slot].left;
    cudaError_t code;
    if (!wait_for(job, [=] { return left->load(std::memory_order_acquire) == 0; }))
        return 0;
    code = cudaMemcpyAsync(job->to + i * job->chunk, job->ring->pinned + slot * CHUNK,
                           chunk_bytes(job, i), cudaMemcpyHostToDevice, job->stream);
    if (code == cudaSuccess)
        code = cudaEventRecord(job->ring->arrived[slot], job->stream);
    if (code != cudaSuccess)
        job->failed = code;
    return code == cudaSuccess;
}

static void send_chunks(void *context, int thread, int threads)
{
    copy_job *job = (copy_job *)context;
    for (size_t i = 0; thread == 0 && i < SLOTS && i < job->chunks; i++)
        open_slot(job, i, threads);
    for (size_t i = 0; i < job->chunks; i++) {
        if (!wait_for(job,
                      [=] { return job->arrived.load(std::memory_order_acquire) > i; }))
            return;
        fill_slice(job, i, thread, threads);
        if (thread == 0 && !send_chunk(job, i))
            return;
        if (thread == 0 && i > 0 && i - 1 + SLOTS < job->chunks)
            open_slot(job, i - 1 + SLOTS, threads);
    }
}

/** Number of threads for a copy: few bytes need few threads. */
static int senders_of(const nb_cuda_ring *ring, size_t bytes)
{
    const size_t limit = bytes <= SMALL ? 1 : bytes / SHARE;
    return limit < (size_t)ring->threads ? (int)limit : ring->threads;
}

/** True if a transfer can start at this memory: it is pinned or on a device. */
static int can_start_at(const void *memory)
{
    cudaPointerAttributes about;
    return know(memory, &about) &&
           (about.type == cudaMemoryTypeHost || about.type == cudaMemoryTypeDevice);
}

nb_status nb_cuda_send(nb_cuda_ring *ring, void *to, const void *from, size_t bytes,
                       cudaStream_t stream, nb_error *err)
{
    copy_job job = {};
    nb_status st;
    if (can_start_at(from))
        return nb_cuda_check(err,
                             cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream),
                             "sending numbers");
    NB_FORWARD(open_job(&job, ring, to, from, bytes, stream, err));
    nb_cuda_parallel(senders_of(ring, bytes), send_chunks, &job);
    st = nb_cuda_check(err, (cudaError_t)job.failed.load(), "sending numbers");
    if (st)
        cudaStreamSynchronize(stream);
    return st;
}

int nb_cuda_is_on(const void *memory, int device)
{
    cudaPointerAttributes about;
    return know(memory, &about) && about.type == cudaMemoryTypeDevice &&
           about.device == device;
}
