/* SPDX-License-Identifier: MIT */
/* Text that geometries of CrystFEL and DIALS may have, and bad geometries.
 * golden/test_detectors.py reads the files of golden_data/detectors/geom. */
#include "../support/check.h"

#include "io/detector/expt.h"
#include "io/detector/geom.h"
#include "../support/parse.h"

static const nb_geometry_typed nothing = {NAN, NAN, -1, NB_CONV_MOSFLM, 0, NULL};

/* --- bad CrystFEL geometries --- */

#define HEAD "clen = 0.1\nres = 5000\nphoton_energy = 9000\n"
#define PANEL(min_fs, max_fs, fs, ss)                                                    \
    "p/min_fs = " min_fs "\np/max_fs = " max_fs                                          \
    "\np/min_ss = 0\np/max_ss = 9\np/fs = " fs "\np/ss = " ss                            \
    "\np/corner_x = 3\np/corner_y = 4\n"
#define GOOD PANEL("0", "9", "x", "y")

static void refused_geom(const char *text, const char *part)
{
    nb_detector_spec d;
    nb_error err = {0};
    nb_status st = nb_geom_parse(text, strlen(text), "bad.geom", &nothing, NULL, &d, &err);
    if (st != NB_ERR_INPUT || !strstr(err.message, part))
        fail_msg("expected an error about '%s', got %d: %s", part, (int)st, err.message);
    assert_null(d.panels);
}

UNIT_TEST(bad_crystfel)
{
    refused_geom("", "no panels");
    refused_geom(HEAD, "no panels");
    refused_geom(HEAD "p/min_fs\n", "4: 'p/min_fs': a line is KEY = VALUE");
    refused_geom(HEAD GOOD "p/min_fs = nan\n", "bad.geom:12: min_fs = nan");
    refused_geom(HEAD GOOD "p/min_fs = 0.5\n", "whole number");
    refused_geom(HEAD GOOD "p/res = 1e999\n", "finite");
    refused_geom(HEAD PANEL("10", "9", "x", "y"), "is below");
    refused_geom(HEAD PANEL("0", "65535", "x", "y"), "65536 x 10 pixels");
    refused_geom(HEAD PANEL("0", "9", "x", "x"), "not at right angles");
    refused_geom(HEAD PANEL("0", "9", "x", "0.1x+"), "sum such as");
    refused_geom(HEAD PANEL("0", "9", "x", "0y"), "which is not 0");
    refused_geom("clen = 0\nres = 1\n" GOOD, "through the sample");
    refused_geom("res = 1\n" GOOD, "no clen: type -distance");
    refused_geom("clen = /a/b\nres = 1\n" GOOD, "bad.geom:1: clen: a place");
    refused_geom("clen = 3 furlong\nres = 1\n" GOOD, "length in m or mm");
    refused_geom("photon_energy = /LCLS/E\nclen = 1\nres = 1\n" GOOD, "type -energy");
    refused_geom("wavelength = /LCLS/E A\nclen = 1\nres = 1\n" GOOD, "type -energy");
    refused_geom("wavelength = 1\nclen = 1\nres = 1\n" GOOD, "unit A or m");
    refused_geom("photon_energy = -3\nclen = 1\nres = 1\n" GOOD, "above 0");
    refused_geom("clen = 1\n" GOOD, "panel p has no res");
    refused_geom(HEAD "adu_per_photon = 0\n" GOOD, "gain");
    refused_geom(HEAD "electron_voltage = 300 kV\n" GOOD, "electron_voltage");
    refused_geom(HEAD GOOD "bad/min_fs = 0\n", "it needs min_ and max_");
    refused_geom(HEAD GOOD "bada/min_fs=0\nbada/max_fs=10\nbada/min_ss=0\nbada/max_ss=1\n"
                           "bada/panel = p\n",
                 "must lie in its panel");
    refused_geom(HEAD GOOD "bada/min_fs=0\nbada/max_fs=1\nbada/min_ss=0\nbada/max_ss=1\n"
                           "bada/panel = r\n",
                 "its panel is not there");
    refused_geom(
        HEAD PANEL("0", "9", "x",
                   "y") "q/min_fs=20\nq/max_fs=29\nq/min_ss=0\n"
                        "q/max_ss=9\nq/fs=x\nq/ss=y\nq/corner_x=20\nq/corner_y=0\n"
                        "bada/min_fs=0\nbada/max_fs=1\nbada/min_ss=0\nbada/max_ss=1\n",
        "it needs a panel");
    refused_geom(HEAD GOOD "p/dim0 = %\n", "must name ss and fs");
    refused_geom(HEAD GOOD "p/dim0 = sf\n", "must be %, ss, fs or an index");
    refused_geom(HEAD GOOD "p/dim9 = ss\n", "N must be 0 to 7");
    refused_geom(HEAD GOOD "p/mask_good = 0xz\n", "0xffff");
    refused_geom(HEAD GOOD "/x = 1\n", "PANEL/KEY");
    refused_geom(HEAD GOOD "detector_shift_x = 3 in\n", "length in m or mm");
}

/** A pixel region of the data without a panel name belongs to the only panel. */
UNIT_TEST(region_of_the_only_panel)
{
    static const char text[] = HEAD GOOD "bada/min_fs=2\nbada/max_fs=4\nbada/min_ss=1\n"
                                         "bada/max_ss=1\n";
    nb_detector_spec d;
    assert_int_equal(nb_geom_parse(text, sizeof text - 1, "t", &nothing, NULL, &d, NULL),
                     NB_OK);
    assert_int_equal(nb_spec_masked(&d, 0), 3);
    for (int i = 0; i < 100; i++)
        assert_int_equal(d.mask[i], !(i >= 12 && i <= 14));
    nb_detector_spec_free(&d);
}

/** Allowed text: defaults only for later panels, comments, CR LF, spaces in sums, typed
 * values. */
UNIT_TEST(crystfel_text)
{
    static const char text[] =
        "\xEF\xBB\xBF" HEAD "; nothing\r\nadu_per_photon = 2\r\n" GOOD
        "q/min_fs = 10\nadu_per_photon = 7\nr/min_fs=1\n"
        "q/max_fs=19\nq/min_ss=0\nq/max_ss=9\nq/fs= - 2 x + 0.0 "
        "y\nq/ss=-2y\nq/corner_x=1\n"
        "q/corner_y=2\nq/coffset = -0.05 ; "
        "note\nr/max_fs=2\nr/min_ss=0\nr/max_ss=1\nr/fs=y\n"
        "r/ss=x\nr/corner_x=0\nr/corner_y=0\nr/no_index = 1\nrigid_group_a = p,q\n"
        "unheard_of = 3";
    nb_geometry_typed typed = {200, 2, -1, NB_CONV_MOSFLM, 0, NULL};
    nb_detector_spec d;
    assert_int_equal(nb_geom_parse(text, sizeof text - 1, "t", &nothing, NULL, &d, NULL),
                     NB_OK);
    assert_int_equal(d.n_panels, 3);
    check_close(d.panels[0].gain, 2, 0);
    check_close(d.panels[1].gain, 2, 0);
    check_close(d.panels[2].gain, 7, 0);
    check_close(d.panels[1].pixel[0], 4e-4, 1e-18);
    check_close(d.panels[1].fast[0], -1, 0);
    check_close(d.panels[1].origin[2], 0.05, 1e-17);
    check_close(d.wavelength_A, 12398.419843320026 / 9000, 1e-15);
    assert_int_equal(nb_spec_masked(&d, 2), 4);
    assert_int_equal(nb_spec_masked(&d, 1), 0);
    nb_detector_spec_free(&d);
    assert_int_equal(nb_geom_parse(text, sizeof text - 1, "t", &typed, NULL, &d, NULL),
                     NB_OK);
    check_close(d.panels[1].origin[2], 0.15, 1e-16);
    check_close(d.wavelength_A, 2, 0);
    nb_detector_spec_free(&d);
}

/* --- bad experiments --- */

#define PANEL_JSON(fast, slow, origin, rest)                                             \
    "{\"fast_axis\":" fast ",\"slow_axis\":" slow ",\"origin\":" origin                  \
    ",\"image_size\":[4,3],\"pixel_size\":[0.1,0.2]" rest "}"
#define GOOD_JSON PANEL_JSON("[1,0,0]", "[0,-1,0]", "[0,0,-100]", "")
#define FILE_JSON(experiment, detector, rest)                                            \
    "{\"__id__\":\"ExperimentList\",\"experiment\":[{\"detector\":0" experiment          \
    "}],\"detector\":[{\"panels\":[" detector "]" rest "}"

static void refused_expt(const char *text, const char *part)
{
    nb_detector_spec d;
    nb_error err = {0};
    nb_status st = nb_expt_parse(text, strlen(text), "bad.expt", &nothing, NULL, &d, &err);
    if (st != NB_ERR_INPUT || !strstr(err.message, part))
        fail_msg("expected an error about '%s', got %d: %s", part, (int)st, err.message);
    assert_null(d.panels);
}

#define GROUP                                                                            \
    "\"fast_axis\":[1,0,0],\"slow_axis\":[0,1,0],\"origin\":[0,0,0],\"children\":"
#define END "]}"

UNIT_TEST(bad_dials)
{
    refused_expt("", "not valid JSON");
    refused_expt("{\n\n\"a\": nan}", "bad.expt:3: not valid JSON");
    refused_expt("[]", "/__id__");
    refused_expt("{\"__id__\":\"ExperimentList\",\"experiment\":[]}", "/experiment");
    refused_expt("{\"__id__\":\"ExperimentList\",\"experiment\":[{}]}", "no detector");
    refused_expt("{\"__id__\":\"ExperimentList\",\"experiment\":[{\"detector\":1}],"
                 "\"detector\":[{}]}",
                 "/experiment/0/detector: 1: must be a whole number from 0 to 0");
    refused_expt(FILE_JSON("", "", "") END, "/detector/0/panels");
    refused_expt(FILE_JSON("", "{}", "") END, "/detector/0/panels/0/fast_axis");
    refused_expt(FILE_JSON("", PANEL_JSON("[1,0]", "[0,1,0]", "[0,0,1]", ""), "") END,
                 "array of 3 numbers");
    refused_expt(FILE_JSON("", PANEL_JSON("[0,0,0]", "[0,1,0]", "[0,0,1]", ""), "") END,
                 "direction");
    refused_expt(FILE_JSON("", PANEL_JSON("[1,0,0]", "[1,0,0]", "[0,0,1]", ""), "") END,
                 "along slow_axis");
    refused_expt(FILE_JSON("", PANEL_JSON("[1,0,0]", "[0.1,1,0]", "[0,0,1]", ""), "") END,
                 "right angles");
    refused_expt(FILE_JSON("", PANEL_JSON("[1,0,0]", "[0,1,0]", "[3,3,0]", ""), "") END,
                 "/detector/0/panels/0: the plane of the panel goes through");
    refused_expt(FILE_JSON("", PANEL_JSON("[1,0,0]", "[0,1,0]", "[0,0,1e999]", ""), "")
                     END,
                 "no finite number");
    refused_expt(
        FILE_JSON("", PANEL_JSON("[1,0,0]", "[0,1,0]", "[0,0,1]", ",\"mask\":[[0,1]]"), "")
            END,
        "/mask/0");
    refused_expt(
        FILE_JSON("", PANEL_JSON("[1,0,0]", "[0,1,0]", "[0,0,1]", ",\"gain\":0"), "") END,
        "gain");
    refused_expt(FILE_JSON("", GOOD_JSON, ",\"hierarchy\":{}") END,
                 "hierarchy/fast_axis");
    refused_expt(FILE_JSON("", GOOD_JSON, ",\"hierarchy\":{" GROUP "[]}") END,
                 "does not stand");
    refused_expt(FILE_JSON("", GOOD_JSON,
                           ",\"hierarchy\":{" GROUP "[{\"panel\":0},{\"panel\":0}]}") END,
                 "stands twice");
    refused_expt(FILE_JSON("", GOOD_JSON, ",\"hierarchy\":{" GROUP "[{\"panel\":1}]}") END,
                 "/hierarchy/children/0/panel");
    refused_expt(
        FILE_JSON(",\"beam\":0", GOOD_JSON, "") "],\"beam\":[{\"wavelength\":0}]}",
        "/beam/0/wavelength");
    refused_expt(FILE_JSON(",\"crystal\":0", GOOD_JSON,
                           "") "],\"crystal\":[{\"real_space_a\":[1,0,0],"
                               "\"real_space_b\":[2,0,0],\"real_space_c\":[0,0,1]}]}",
                 "no volume");
    refused_expt(FILE_JSON(",\"goniometer\":0", GOOD_JSON,
                           "") "],\"goniometer\":[{\"axes\":[[1,0,0]],\"angles\":[]}]}",
                 "of one length");
    refused_expt(
        FILE_JSON(",\"scan\":0", GOOD_JSON, "") "],\"scan\":[{\"oscillation\":[1]}]}",
        "/scan/0/oscillation");
}
