/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "../../base/error.h"
#include "../../params/params.h"
#include "smv_keys.h"
#include "smv_read.h"

/* From one of the documented keys, `key` or else `other` (may be NULL), to a field of
 * cfg. */
typedef struct documented_key {
    const char *key, *other;
    double *field;
    int skip;     /* already set in another way */
    int positive; /* lengths; angles and coordinates may have any sign */
} documented_key;

static nb_status take(const nb_smv_header *h, const documented_key *k, nb_error *err)
{
    const char *key = k->key;
    double value = NAN;
    int found;
    if (k->skip || !isnan(*k->field))
        return NB_OK;
    found = nb_smv_number(h, key, &value);
    if (!found && k->other) {
        key = k->other;
        found = nb_smv_number(h, key, &value);
    }
    if (!found)
        return NB_OK;
    if (found < 0)
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0,
                          "%s=%.60s is not a finite number", key, nb_smv_find(h, key));
    if (k->positive && !(value > 0))
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0, "%s=%.60s must be above 0", key,
                          nb_smv_find(h, key));
    *k->field = value;
    return NB_OK;
}

static nb_status apply_documented(const nb_smv_header *h, nb_config *cfg, nb_error *err)
{
    int typed[NB_SMV_GROUPS];
    nb_status status = NB_OK;
    nb_smv_typed_groups(cfg, typed);
    /* a header's CLOSE_DISTANCE is measured at the header's two-theta */
    int final_close = !typed[NB_SMV_DISTANCES] && nb_smv_find(h, "CLOSE_DISTANCE");
    const documented_key keys[] = {
        {"PIXEL_SIZE", NULL, &cfg->pixel_mm, 0, 1},
        {"DISTANCE", NULL, &cfg->distance_mm, typed[NB_SMV_DISTANCES], 1},
        {"CLOSE_DISTANCE", NULL, &cfg->close_distance_mm, typed[NB_SMV_DISTANCES], 1},
        {"TWOTHETA", NULL, &cfg->close_twotheta_deg, !final_close, 0},
        {"WAVELENGTH", NULL, &cfg->lambda_A, typed[NB_SMV_BEAM], 1},
        {"BEAM_CENTER_X", NULL, &cfg->Xbeam_mm, 0, 0},
        {"BEAM_CENTER_Y", NULL, &cfg->Ybeam_mm, 0, 0},
        {"ORGX", "XDS_ORGX", &cfg->orgx, 0, 0},
        {"ORGY", "XDS_ORGY", &cfg->orgy, 0, 0},
        {"PHI", "OSC_START", &cfg->phi_deg, 0, 0},
        {"OSC_RANGE", NULL, &cfg->osc_deg, 0, 0},
        {"TWOTHETA", NULL, &cfg->twotheta_deg, 0, 0},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys && status == NB_OK; i++)
        status = take(h, &keys[i], err);
    if (cfg->close_twotheta_deg == 0)
        cfg->close_twotheta_deg = NAN;
    if (!typed[NB_SMV_FAST])
        cfg->detpixels[0] = h->fast;
    if (!typed[NB_SMV_SLOW])
        cfg->detpixels[1] = h->slow;
    return status;
}

/** A scan that turns backwards turns forwards about the opposite axis. */
static void turn_forwards(nb_config *cfg, int phi_unset)
{
    cfg->osc_deg = -cfg->osc_deg;
    if (phi_unset && NB_GIVEN(cfg, phi_deg))
        cfg->phi_deg = -cfg->phi_deg;
    cfg->spindle_back = 1;
}

nb_status nb_smv_apply_header(const nb_smv_header *h, nb_config *cfg, nb_error *err)
{
    int osc_unset = !NB_GIVEN(cfg, osc_deg), phi_unset = !NB_GIVEN(cfg, phi_deg);
    nb_status status = nb_smv_find(h, NB_SMV_MARK) ? nb_smv_read_inputs(h, cfg, err)
                                                   : apply_documented(h, cfg, err);
    if (osc_unset && cfg->osc_deg == 0) /* a still of a header is not a typed -osc 0 */
        cfg->osc_deg = NAN;
    if (!status && osc_unset && cfg->osc_deg < 0)
        turn_forwards(cfg, phi_unset);
    return status;
}
