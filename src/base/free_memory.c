/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

double nb_free_memory(void)
{
    char line[128];
    double kilobytes = INFINITY;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f) &&
           sscanf(line, "MemAvailable: %lf", &kilobytes) != 1)
        ;
    if (f)
        fclose(f);
    return kilobytes * 1024;
}

double nb_machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (double)pages * (double)page : INFINITY;
}
