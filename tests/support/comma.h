/* SPDX-License-Identifier: MIT */
/** A locale with a decimal comma, made by localedef of glibc. */
#ifndef NB_TESTS_COMMA_H
#define NB_TESTS_COMMA_H

/** Makes the locale and sets it for numbers in this process; 0 if this is not
 * possible. */
int nb_set_comma_locale(void);
void nb_unset_comma_locale(void);

#endif
