/* SPDX-License-Identifier: MIT */
/** The files of a series: their names, and the blocks of frames that this process writes. */
#ifndef NB_SERIES_WORK_H
#define NB_SERIES_WORK_H

#include "../io/hdf5/hdf5_file.h"
#include "../io/image/writer.h"
#include "../nanobragg.h"

/* --- numbered file names: -output 'img_%05d.cbf' --- */

typedef struct nb_template {
    char before[NB_PATH_MAX], after[NB_PATH_MAX];
    int digits;  /* at least so many, zeros in front */
    int is_name; /* one file, without number: before and after are its name */
    int first;   /* added to numbers: frame 0 of a part of a series has this one */
    int is_part; /* other runs write files of the same template */
    const nb_format *format;
} nb_template;

/** How many frames a run makes; *first (may be NULL): the number of its first one in the whole series, from 0.  Those of
 * -only_frame, or all.  Returns 0 if they are not in the series. */
int nb_series_part(const nb_series *series, int *first);
/** Errors: NB_ERR_INPUT, also of a part without -seed. */
nb_status nb_series_check_part(const nb_config *cfg, const nb_series *series,
                               nb_error *err);

/** Read a template with one %d or %0Nd (%% is a percent sign). NB_ERR_INPUT if there is
 * none, another conversion, or an unknown extension. */
nb_status nb_template_parse(const char *text, nb_template *out, nb_error *err);

/** The template of series->output, with the numbers of its part.  A series of one frame may leave the number out:
 * the file then has just that name. */
nb_status nb_template_of(const nb_series *series, nb_template *out, nb_error *err);

/** The format of series->output; NULL: no files, or a template that is refused later. */
const nb_format *nb_series_format(const nb_series *series);

/** The same for another flag, whose files need no format. */
nb_status nb_template_read(const char *text, const char *flag, nb_template *out,
                           nb_error *err);

/** The file name of a number, to which t->first is added, into name[NB_PATH_MAX].  NB_ERR_INPUT when it is too long. */
nb_status nb_template_name(const nb_template *t, int number, char *name, nb_error *err);

/** The name of the first file that exists behind this number, within a thousand; 0: there is none. */
int nb_template_later(const nb_template *t, int number, char *name);

/** The name of the record of finished frames: the number replaced by "series", of a part "series_" and its first number, and ".resume". */
nb_status nb_template_record(const nb_template *t, char *name, nb_error *err);

/** nb_check_files for a series: its frames, its HDF5 files, their records, its input files,
 * and series->calls.also. Nothing is opened. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_series_check_files(const nb_config *cfg, const nb_series *series,
                                nb_error *err);

/* --- the small file of a series --- */

/* The small file of a series beside its outputs, from its first frame to its last. It says what the series is made of,
 * so that other files of the same names are told apart, and it is locked while a run is at work. */

typedef struct nb_begun {
    int fd;     /* -1: closed */
    int is_new; /* nothing of these names is of an earlier run with this key */
    int joined; /* another run is at work on the same series */
    char path[NB_PATH_MAX];
} nb_begun;

/** Begin, resume or join the series; sole: no other run may join. Errors: NB_ERR_INPUT, another series is written or resumed under these names, or
 * the file is a link or not ours; NB_ERR_IO. */
nb_status nb_begun_open(nb_begun *b, const char *path, const nb_series_key *key, int sole,
                        int resume, nb_error *err);
/** Let others join, after what a new series does first. */
void nb_begun_share(const nb_begun *b);

/** Is no other run at work?  Where the file system has no locks, the answer is yes. */
int nb_begun_alone(const nb_begun *b);

/** Read the key of the series at path; 0: it has not begun. */
int nb_begun_key(const char *path, nb_series_key *key);

/** Close the file, which stays.  It may be closed. */
void nb_begun_close(nb_begun *b);
/** Remove it first; alone: only if no other run is at work. */
void nb_begun_remove(nb_begun *b, int alone);

/* --- blocks --- */

/* A block is the frames of one HDF5 data file, or one numbered file. Its borders follow from the flags. A process claims
 * a block by its locked temporary file, so threads of any number of processes share a series. */

/** A claimed block. */
typedef struct nb_block {
    int number;     /* -1: none */
    int piece;      /* of the data file that is written: 0, 1 for "b", ... */
    int first;      /* frames from here on lack in HDF5 */
    int next, last; /* the next frame to make, and the last one */
    int start,
        written;  /* first frame of the open data file, and the last one that is in it */
    int to_hdf5;  /* data files lack frames */
    int lost;     /* another process has claimed the rest */
    double since; /* s, of the first frame in the open file; 0: none */
    nb_outfile claim;     /* without an HDF5 file */
    nb_hdf5_writer *file; /* owned, or NULL */
} nb_block;

/** A frame that is made, and not written yet. */
typedef struct nb_slot {
    int frame;
    nb_block *block;      /* NULL: the frame is whole, and counts for -sumfile alone */
    int to_hdf5, to_file; /* the outputs that lack the frame */
    nb_hdf5_frame truth;
    nb_reflections list; /* owned; with reflections */
    void *chunk;         /* owned, [nb_hdf5_chunk_bound] */
    size_t chunk_bytes;
    int64_t file_bytes,
        file_clipped; /* of the numbered file; pixels its type could not hold */
    int ready;
} nb_slot;

/** The data files of the first frames. */
typedef struct nb_pieces {
    struct nb_piece {
        int block, piece, first; /* first: its first frame */
    } * all;                     /* owned, [n + 1]; all[n].first: number of frames */
    int n, room;
} nb_pieces;

typedef struct nb_work {
    int frames, per_block, count; /* count: of blocks */
    int numbered;                 /* there are numbered files, of this name */
    nb_template name;
    char stem[NB_PATH_MAX]; /* of data files; "": none */
    nb_hdf5_data data;      /* what all of them have */
    nb_block *open;         /* owned, [room] */
    int room;
    nb_block *dealing; /* gives the next frames, or NULL */
    nb_block *writing; /* has frames in its open data file, or NULL */
    int at;            /* the block to look at next */
    uint8_t *whole;    /* owned, [count] */
    int *kept; /* owned, [count]; with -sumfile: whole frames of each block before this run */
    int again;                  /* the one to render next for the sum */
    int rank, ranks;            /* which of them this process renders */
    char unlocked[NB_PATH_MAX]; /* a claim in a file system without locks, or "" */
} nb_work;

/** "folder/run_master.h5" -> "folder/run", the start of the names of the data files.
 * Errors: NB_ERR_INPUT, too long. */
nb_status nb_work_stem(const char *master, char stem[NB_PATH_MAX], nb_error *err);
/** The name of data file `piece` of a block, both from 0. */
void nb_work_data_path(const char *stem, int block, int piece, char path[NB_PATH_MAX]);
/** The name of the small file of the series. */
nb_status nb_work_begun_path(const nb_series *series, char path[NB_PATH_MAX],
                             nb_error *err);
/** Frames of a block. */
int nb_work_size(const nb_series *series);
/** What the run to be resumed was begun with; 0 if there is none. */
int nb_work_key(const nb_series *series, nb_series_key *key);

/** At most `room` blocks are claimed at a time.  Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_work_open(nb_work *s, const nb_series *series, int room, nb_error *err);
/** Close claims, and free. */
void nb_work_free(nb_work *s);

/** Remove the numbered files, or the data files, of the blocks. */
void nb_work_remove_numbered(const nb_work *s);
void nb_work_remove_data(const nb_work *s);

/** Count the frames that all outputs have, in each block from its first on, and set `whole`. kept: [count], or NULL.
 * Errors: NB_ERR_INPUT, a data file is of another series. */
nb_status nb_work_count(nb_work *s, int *kept, int *frames, nb_error *err);

/** The next frame for this process, into frame, block, to_hdf5 and to_file of the slot; frame -1: none is left. One
 * thread at a time.  Errors: those of nb_outfile_claim, nb_hdf5_data_open and nb_work_count. */
nb_status nb_work_take(nb_work *s, nb_slot *slot, nb_error *err);

/** Write a frame into its data file, in the order of nb_work_take, while other threads take.  *full: its block is whole and
 * must be closed, or NULL. */
nb_status nb_work_add(nb_work *s, nb_slot *slot, nb_block **full, nb_error *err);
/** End the file of a block.  The block then still has its number. */
nb_status nb_block_end(nb_block *b, nb_error *err);
/** After five minutes write the frames of a data file as a shorter one, and go on in another. */
nb_status nb_work_end_old(nb_work *s, nb_error *err);

/** Errors: NB_ERR_NOMEM, NB_ERR_INPUT: a data file is of another series. */
nb_status nb_work_pieces(const nb_work *s, nb_pieces *out, nb_error *err);
void nb_pieces_free(nb_pieces *p); /* zeroed is fine */

/** Note the files that an earlier, longer series left. */
void nb_work_notice_longer(const nb_work *s, const nb_hooks *hooks);

#endif
