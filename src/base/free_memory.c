/* SPDX-License-Identifier: MIT */
#include "free_memory.h"

#include <math.h>
#include <stdio.h>

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
