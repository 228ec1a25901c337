/* SPDX-License-Identifier: MIT */
#include "c_locale.h"

/* In glibc and musl the locale "C" is static memory, so newlocale is quick and does not
 * fail. */
nb_c_locale nb_c_locale_enter(void)
{
    nb_c_locale l;
    l.c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    l.before = l.c ? uselocale(l.c) : (locale_t)0;
    return l;
}

void nb_c_locale_leave(nb_c_locale *l)
{
    if (!l->c)
        return;
    uselocale(l->before);
    freelocale(l->c);
}
