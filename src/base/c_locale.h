/* SPDX-License-Identifier: MIT */
/** Numbers in files and messages have a decimal point, whatever locale the host program has set. */
#ifndef NB_BASE_C_LOCALE_H
#define NB_BASE_C_LOCALE_H

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/** What to go back to. */
typedef struct nb_c_locale {
    locale_t c, before;
} nb_c_locale;

/** Give this thread the C locale, and take it back.  Other threads are not touched; pairs may
 * nest. */
nb_c_locale nb_c_locale_enter(void);
void nb_c_locale_leave(nb_c_locale *locale);

/** The C locale from here to the end of the block.  It stands in every public function, and every
 * function of a thread of our own, below which a number is written or read as text. */
#define NB_IN_C_LOCALE                                                                   \
    __attribute__((cleanup(nb_c_locale_leave), unused)) nb_c_locale nb_c_locale_guard =  \
        nb_c_locale_enter()

#endif
