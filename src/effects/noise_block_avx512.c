/* SPDX-License-Identifier: MIT */
#include "noise_block.h"

#ifdef NB_HAVE_RANDOM123
int nb_noise_block_avx512(const float *mean, const nb_poisson_key *first,
                          double adc_offset, uint16_t *adu)
{
    return nb_noise_block(mean, first, adc_offset, adu);
}
#endif
