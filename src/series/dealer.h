/* SPDX-License-Identifier: MIT */
/** Which frames a process makes.  Rank 0 deals blocks of consecutive frames, those of one HDF5 data
 * file, to whoever asks; each process makes the frames of its blocks in order. */
#ifndef NB_SERIES_DEALER_H
#define NB_SERIES_DEALER_H

typedef struct nb_dealer {
    int frames, per_block;
    int next_block;  /* of rank 0: the first that nobody has */
    int first, left; /* frames of the present block that no thread has taken */
    int over;        /* there are no more blocks */
} nb_dealer;

/** The next block for whoever asks, or -1: none is left.  Rank 0 only. */
int nb_dealer_deal(nb_dealer *dealer);

/** Take this block in hand; -1: there are no more. */
void nb_dealer_receive(nb_dealer *dealer, int block);

/** The next frame of the block in hand, or -1. */
int nb_dealer_take(nb_dealer *dealer);

#endif
