/* SPDX-License-Identifier: MIT */
#include "dealer.h"

int nb_dealer_deal(nb_dealer *d)
{
    int blocks = (d->frames + d->per_block - 1) / d->per_block;
    return d->next_block < blocks ? d->next_block++ : -1;
}

void nb_dealer_receive(nb_dealer *d, int block)
{
    d->over = block < 0;
    if (d->over)
        return;
    d->first = block * d->per_block;
    d->left = d->frames - d->first < d->per_block ? d->frames - d->first : d->per_block;
}

int nb_dealer_take(nb_dealer *d)
{
    if (d->left <= 0)
        return -1;
    d->left--;
    return d->first++;
}
