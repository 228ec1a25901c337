/* SPDX-License-Identifier: MIT */
/** The files of a series: names, and the blocks of frames that this process writes. */
#ifndef NB_SERIES_WORK_H
#define NB_SERIES_WORK_H

#include "../io/hdf5/hdf5_file.h"
#include "../io/image/writer.h"
#include "../nanobragg.h"

/* --- numbered file names: -output 'img_%05d.cbf' --- */

typedef struct nb_template {
    char before[NB_PATH_MAX], after[NB_PATH_MAX];
    int digits;  /* least number of digits, with zeros in front */
    int is_name; /* 1: a single file without number, whose name is before + after */
    /* number in the series of frame 0 of the part; it is added to all file numbers */
    int first;
    int is_part; /* 1: other runs write files of the same template */
    const nb_format *format;
} nb_template;

/** Number of frames of a run (-only_frame, or all). *first (or NULL): number of its first
 * frame in the series, from 0. Returns 0 if the series does not have these frames. */
int nb_series_part(const nb_series *series, int *first);
/** Check -only_frame. Errors: NB_ERR_INPUT, also for a part without -seed. */
nb_status nb_series_check_part(const nb_config *cfg, const nb_series *series,
                               nb_error *err);

/** Read a template with one %d or %0Nd (%% is a percent sign). NB_ERR_INPUT: no number,
 * another conversion, or an unknown extension. */
nb_status nb_template_parse(const char *text, nb_template *out, nb_error *err);

/** Read the template of series->output, with the numbers of the part. The name of a
 * series of one frame may have no number. */
nb_status nb_template_of(const nb_series *series, nb_template *out, nb_error *err);

/** Format of series->output; NULL without files or for a wrong template. */
const nb_format *nb_series_format(const nb_series *series);

/** Like nb_template_parse, for another flag, whose files may have any format. */
nb_status nb_template_read(const char *text, const char *flag, nb_template *out,
                           nb_error *err);

/** Write the file name of number + t->first into name. NB_ERR_INPUT: too long. */
nb_status nb_template_name(const nb_template *t, int number, char *name, nb_error *err);

/** Write the name of the first existing file of the next 1000 numbers. Returns 0 if none
 * of these files exists. */
int nb_template_later(const nb_template *t, int number, char *name);

/** Call nb_check_files for the frames, HDF5 files, resume file and input files of a
 * series, and for series->calls.also. Opens no file. Errors: NB_ERR_INPUT,
 * NB_ERR_NOMEM. */
nb_status nb_series_check_files(const nb_config *cfg, const nb_series *series,
                                nb_error *err);

/* --- the resume file --- */

/* A series has a resume file next to its outputs until its last frame. The key in the
 * file identifies the series. A working run locks the file. */

typedef struct nb_begun {
    int fd;     /* file descriptor; -1: closed */
    int is_new; /* 1: this run begins the series, and resumes no earlier run */
    int joined; /* 1: another run works on the same series */
    char path[NB_PATH_MAX];
} nb_begun;

/** Begin, resume or join the series. If sole is 1, no other run may join. Errors:
 * NB_ERR_INPUT (another series has these names; the file is a link or no resume file),
 * NB_ERR_IO. */
nb_status nb_begun_open(nb_begun *b, const char *path, const nb_series_key *key, int sole,
                        int resume, nb_error *err);
/** Allow other runs to join, after the new series has removed older files. */
void nb_begun_share(const nb_begun *b);

/** True if no other run works on the series. Always true in file systems without
 * locks. */
int nb_begun_alone(const nb_begun *b);

/** Read the key of the series at path; 0 if the series has not begun. */
int nb_begun_key(const char *path, nb_series_key *key);

/** Close the file and keep it. It may be closed already. */
void nb_begun_close(nb_begun *b);
/** Remove the file and close it. If alone is 1, remove it only if no other run works on
 * the series. */
void nb_begun_remove(nb_begun *b, int alone);

/* --- blocks --- */

/* A block is the frames of one HDF5 data file (in pieces if it is closed early), or one
 * numbered file. Processes share a series: each claims a block by locking a file. */

/** A claimed block. */
typedef struct nb_block {
    int number;         /* number of the block; -1: the entry is free */
    int piece;          /* number of the open piece of the block: 0, 1 (file "b"), ... */
    int first;          /* HDF5 lacks the frames from this one on */
    int next, last;     /* next frame to make, and last frame to make */
    int start, written; /* first frame of the open data file, and last frame in it */
    int to_hdf5;        /* 1: data files lack frames of the block */
    int lost;           /* 1: another process has claimed the remaining frames */
    double since;       /* time of the first frame in the open file, s; 0: empty */
    nb_outfile claim;   /* locked temporary file, until an HDF5 writer takes it */
    nb_hdf5_writer *file; /* owned, or NULL */
} nb_block;

/** A finished frame that is not yet written. */
typedef struct nb_slot {
    int frame;
    nb_block *block;      /* NULL for a stored frame that only -sumfile needs */
    int to_hdf5, to_file; /* 1: the frame is missing in this output */
    nb_hdf5_frame truth;
    nb_reflections list; /* owned; reflections, if HDF5 has them */
    void *chunk;         /* owned, [nb_hdf5_chunk_bound] */
    size_t chunk_bytes;
    int64_t file_bytes,
        /* size of the numbered file, bytes; number of pixels too large for its type */
        file_clipped;
    int ready; /* 1: made, but not yet written */
} nb_slot;

/** Data files that hold the first frames of the series without a gap. */
typedef struct nb_pieces {
    struct nb_piece {
        int block, piece, first; /* first: first frame in the file */
        /* owned, [n + 1]; all[n].first is the number of frames */
    } * all;
    int n, room;
} nb_pieces;

typedef struct nb_work {
    int frames, per_block, count; /* count: number of blocks */
    int numbered;                 /* 1: the run writes numbered files, named by `name` */
    nb_template name;
    char stem[NB_PATH_MAX]; /* start of the names of data files, or "" */
    nb_hdf5_data data;      /* common to all data files */
    nb_block *open;         /* owned, [room] */
    int room;
    nb_block *dealing; /* block whose frames are taken next, or NULL */
    nb_block *writing; /* block with frames in its open data file, or NULL */
    int at;            /* number of the block to look at next */
    uint8_t *whole;    /* owned, [count]; 1: all outputs have the block */
    int *kept; /* owned, [count], with -sumfile: stored frames of each block; or NULL */
    int again; /* next stored frame to render for the sum */
    int rank, ranks;            /* this process renders block b if b % ranks == rank */
    char unlocked[NB_PATH_MAX]; /* file claimed by another process without locks, or "" */
} nb_work;

/** Make "folder/run" from "folder/run_master.h5". NB_ERR_INPUT: too long. */
nb_status nb_work_stem(const char *master, char stem[NB_PATH_MAX], nb_error *err);
/** Write the name of data file `piece` of a block, both from 0. */
void nb_work_data_path(const char *stem, int block, int piece, char path[NB_PATH_MAX]);
/** Write the name of the resume file: STEM_series.h5.resume, or without HDF5 the name of
 * the template with "series" instead of the number, and ".resume". A part of a series has
 * "series_" and its first number. */
nb_status nb_work_begun_path(const nb_series *series, char path[NB_PATH_MAX],
                             nb_error *err);
/** Number of frames of a block. */
int nb_work_size(const nb_series *series);
/** Read the key of the run to resume; 0 without such a run. */
int nb_work_key(const nb_series *series, nb_series_key *key);

/** Set up s for `room` claimed blocks. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_work_open(nb_work *s, const nb_series *series, int room, nb_error *err);
/** Close all claims, and free the members of s. */
void nb_work_free(nb_work *s);

/** Remove the numbered files, or the data files, of all blocks. */
void nb_work_remove_numbered(const nb_work *s);
void nb_work_remove_data(const nb_work *s);

/** Count finished frames: in each block, those from its first on that all outputs have.
 * Set `whole` and kept[count] (or NULL). NB_ERR_INPUT: a data file of another series. */
nb_status nb_work_count(nb_work *s, int *kept, int *frames, nb_error *err);

/** Set frame, block, to_hdf5 and to_file of the slot to the next frame of this process;
 * frame -1: end. One thread at a time. Errors: NB_ERR_INPUT, NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_work_take(nb_work *s, nb_slot *slot, nb_error *err);

/** Write a frame into its data file. Frames are written in the order of nb_work_take;
 * other threads may take frames meanwhile. *full: the block if it is complete and must be
 * closed, or NULL. */
nb_status nb_work_add(nb_work *s, nb_slot *slot, nb_block **full, nb_error *err);
/** Close the file and release the claim of a block. The block keeps its number. */
nb_status nb_block_end(nb_block *b, nb_error *err);
/** Close a data file that has been open for five minutes, and continue in a new file, the
 * next piece. */
nb_status nb_work_end_old(nb_work *s, nb_error *err);

/** List the data files. NB_ERR_INPUT: a data file of another series; NB_ERR_NOMEM. */
nb_status nb_work_pieces(const nb_work *s, nb_pieces *out, nb_error *err);
void nb_pieces_free(nb_pieces *p); /* The list may be all zero. */

/** Print a notice about files that an earlier, longer series left. */
void nb_work_notice_longer(const nb_work *s, const nb_hooks *hooks);

#endif
