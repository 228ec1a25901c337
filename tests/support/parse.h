/* SPDX-License-Identifier: MIT */
/** Reads files in memory, and counts masked pixels. */
#ifndef NB_TEST_PARSE_H
#define NB_TEST_PARSE_H

#include <string.h>

#include "../../src/io/common/panel_spec.h"
#include "../../src/io/detector/geom.h"
#include "../../src/io/table/factor_file.h"
#include "../../src/io/table/hkl.h"

/** Reads a text of h k l F into a table of F that covers all indices of the text. */
static inline nb_status nb_hkl_parse(const char *data, size_t n, const char *name,
                                     double default_F, nb_factor_file *out, nb_error *err)
{
    nb_hkl_list list;
    nb_status status = nb_hkl_list_parse(data, n, name, &list, err);
    memset(out, 0, sizeof *out);
    if (status == NB_OK)
        status = nb_hkl_box(&list, default_F, out, err);
    nb_hkl_list_free(&list);
    return status;
}

/** Reads a CrystFEL geometry from memory, without its masks in HDF5 files. */
static inline nb_status nb_geom_parse(const char *data, size_t n, const char *name,
                                      const nb_geometry_typed *typed,
                                      const nb_hooks *hooks, nb_detector_spec *out,
                                      nb_error *err)
{
    nb_geom_text text;
    nb_status st = nb_geom_text_read(data, n, name, hooks, &text, err);
    memset(out, 0, sizeof *out);
    if (st)
        return st;
    st = nb_geom_build(&text, typed, out, err);
    nb_geom_text_free(&text);
    return st;
}

/** Number of masked pixels of a panel. */
static inline long long nb_spec_masked(const nb_detector_spec *detector, int panel)
{
    size_t at = nb_spec_first_pixel(detector, panel);
    size_t end = nb_spec_first_pixel(detector, panel + 1);
    long long sum = 0;
    for (; detector->mask && at < end; at++)
        sum += !detector->mask[at];
    return sum;
}

#endif
