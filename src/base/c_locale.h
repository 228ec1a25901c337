/* SPDX-License-Identifier: MIT */
/** Numbers in files and messages have a decimal point in every locale of the host. */
#ifndef NB_BASE_C_LOCALE_H
#define NB_BASE_C_LOCALE_H

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/** The C locale, and the locale to restore. */
typedef struct nb_c_locale {
    locale_t c, before;
} nb_c_locale;

/** Give this thread the C locale (enter); restore its earlier locale (leave). Other
 * threads keep their locales. Pairs of calls may nest. */
nb_c_locale nb_c_locale_enter(void);
void nb_c_locale_leave(nb_c_locale *locale);

/** Use the C locale from here to the end of the block. Every public function, and every
 * function of the library's threads, does so if it writes or reads numbers as text. */
#define NB_IN_C_LOCALE                                                                   \
    __attribute__((cleanup(nb_c_locale_leave), unused)) nb_c_locale nb_c_locale_guard =  \
        nb_c_locale_enter()

#endif
