/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../io/image/image_read.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "../params/params.h"

/** Pedestal from IMAGE_PEDESTAL of SMV headers of nanobragg and ADSC. */
static double pedestal_of(const nb_smv_header *header)
{
    double value = 0;
    if (nb_smv_number(header, "IMAGE_PEDESTAL", &value) != 1)
        return 0;
    return value;
}

/** Fields that an SMV header may have; 0 for a file of nanobragg. */
static unsigned smv_fields(const nb_smv_header *header)
{
    unsigned fields = NB_OPEN_DISTANCE | NB_OPEN_PIXEL | NB_OPEN_CENTRE |
                      NB_OPEN_WAVELENGTH | NB_OPEN_TWOTHETA | NB_OPEN_START;
    if (nb_smv_find(header, NB_SMV_MARK))
        return 0;
    return fields | (nb_smv_find(header, "OSC_RANGE") ? 0 : NB_OPEN_WIDTH);
}

static nb_status apply_smv(const nb_image_file *file, nb_config *cfg,
                           nb_header_found *found, nb_error *err)
{
    nb_smv_header header = {0};
    nb_status st = nb_smv_parse(file->data, file->bytes, file->name, &header, err);
    if (!st) {
        found->pedestal = pedestal_of(&header);
        found->own = nb_smv_find(&header, NB_SMV_MARK) != NULL;
        found->fields = smv_fields(&header);
        st = nb_smv_apply_header(&header, cfg, err);
    }
    nb_smv_header_free(&header);
    return st;
}

static int has_centre(const nb_config *c)
{
    return NB_GIVEN(c, Xbeam_mm) || NB_GIVEN(c, Ybeam_mm) || NB_GIVEN(c, Xclose_mm) ||
           NB_GIVEN(c, Yclose_mm) || NB_GIVEN(c, orgx) || NB_GIVEN(c, orgy) ||
           c->pix0_m.set;
}

int nb_header_loses_centre(const nb_config *c)
{
    return c->convention || has_centre(c);
}

/* --- mini-CBF and HDF5 --- */

/** True if the detector takes a two-theta other than 0 from the file. */
static int is_swung(const nb_said_geometry *s, const nb_config *cfg)
{
    return !NB_GIVEN(cfg, twotheta_deg) && !cfg->pix0_m.set && s->twotheta_deg != 0 &&
           !isnan(s->twotheta_deg);
}

/** Take the detector's position if it is not typed. The beam centre of DENZO has no
 * offset of half a pixel. */
static void take_place(const nb_said_geometry *s, nb_config *cfg)
{
    cfg->pixel_mm = NB_VALUE_OR(cfg, pixel_mm, s->pixel_mm);
    if (!NB_GIVEN(cfg, energy_eV))
        cfg->lambda_A = NB_VALUE_OR(cfg, lambda_A, s->wavelength_A);
    if (!NB_GIVEN(cfg, close_distance_mm))
        cfg->distance_mm = NB_VALUE_OR(cfg, distance_mm, s->distance_mm);
    if (cfg->convention == NB_CONV_UNSET && !has_centre(cfg) && NB_GIVEN(cfg, pixel_mm) &&
        !isnan(s->beam_px[0] + s->beam_px[1])) {
        cfg->convention = NB_CONV_DENZO;
        cfg->Xbeam_mm = s->beam_px[1] * cfg->pixel_mm;
        cfg->Ybeam_mm = s->beam_px[0] * cfg->pixel_mm;
        if (is_swung(s, cfg) && !cfg->pivot && s->pivot == NB_PIVOT_SAMPLE) {
            /* the beam centre of the file is the point nearest to the sample */
            cfg->pivot = NB_PIVOT_SAMPLE;
            cfg->orgx = s->beam_px[0] + 0.5;
            cfg->orgy = s->beam_px[1] + 0.5;
        }
    }
    if (!cfg->pix0_m.set)
        cfg->twotheta_deg = NB_VALUE_OR(cfg, twotheta_deg, s->twotheta_deg);
}

/** Take start and width of the rotation.  A still does not set -osc 0.  A scan that turns
 * backwards becomes a forward scan about the opposite axis. */
static void take_rotation(const nb_said_geometry *s, nb_config *cfg)
{
    int back = !NB_GIVEN(cfg, osc_deg) && s->osc_deg < 0;
    cfg->phi_deg = NB_VALUE_OR(cfg, phi_deg, back ? -s->phi_deg : s->phi_deg);
    if (!NB_GIVEN(cfg, osc_deg) && s->osc_deg != 0)
        cfg->osc_deg = fabs(s->osc_deg);
    cfg->spindle_back ^= back;
}

/** Take the sensor if its material is known. */
static nb_status take_sensor(const nb_said_geometry *s, nb_config *cfg, const char *flag,
                             const char *name, const nb_hooks *hooks, nb_error *err)
{
    nb_status st;
    nb_material found;
    nb_error why = {0};
    if (NB_GIVEN(cfg, thick_um) || NB_GIVEN(cfg, abs_um) || !(s->thick_mm > 0))
        return NB_OK;
    if (!cfg->sensor[0]) {
        if (!s->material[0] ||
            nb_material_find(s->material, nb_beam_wavelength(NB_RESOLVED(cfg)), &found,
                             &why)) {
            nb_notice(hooks, "%s %s: the sensor, %.7g mm of '%s', is not taken%s%s", flag,
                      name, s->thick_mm, s->material, why.message[0] ? ": " : "",
                      why.message);
            return NB_OK;
        }
        NB_FORWARD(nb_text_put(&cfg->sensor, s->material, err));
    }
    cfg->thick_um = s->thick_mm * 1e3;
    return NB_OK;
}

static nb_status take(const nb_said_geometry *s, nb_config *cfg, const char *flag,
                      const char *name, const nb_hooks *hooks, nb_error *err)
{
    int swung = is_swung(s, cfg);
    nb_status st;
    take_place(s, cfg);
    take_rotation(s, cfg);
    NB_FORWARD(take_sensor(s, cfg, flag, name, hooks, err));
    if (!cfg->polar_set && !cfg->nopolar && !isnan(s->polarization)) {
        cfg->polarization = s->polarization;
        cfg->polar_set = 1;
    }
    if (swung)
        nb_notice(hooks,
                  "%s %s: two-theta is %.7g deg; the header does not say its axis, so it "
                  "is that of the convention (-twotheta, -twotheta_axis)",
                  flag, name, s->twotheta_deg);
    return NB_OK;
}

/** All fields, except those that this file has but cfg cannot hold. */
static unsigned fields_of(const nb_said_geometry *s)
{
    unsigned fields = 2 * NB_OPEN_POLARIZATION - 1;
    return fields &
           ~(unsigned)((isnan(s->thick_mm) ? 0 : NB_OPEN_SENSOR) |
                       (isnan(s->osc_deg) ? 0 : NB_OPEN_WIDTH) |
                       (isnan(s->beam_px[0] + s->beam_px[1]) ? 0 : NB_OPEN_CENTRE));
}

/** True if no flag places the detector. */
static int is_unplaced(const nb_config *c)
{
    const double typed[] = {
        c->distance_mm, c->close_distance_mm, c->Xbeam_mm,   c->Ybeam_mm,
        c->Xclose_mm,   c->Yclose_mm,         c->orgx,       c->orgy,
        c->rot_deg[0],  c->rot_deg[1],        c->rot_deg[2], c->twotheta_deg,
        c->pixel_mm};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        if (!isnan(typed[i]))
            return 0;
    return c->convention == NB_CONV_UNSET && !c->pix0_m.set;
}

static nb_opt3 vector(const double v[3], double scale)
{
    return (nb_opt3){1, {v[0] * scale, v[1] * scale, v[2] * scale}};
}

/** Take the position and tilt of the detector from the vectors of a nanobragg master. */
static void take_vectors(const nb_hdf5_geometry *said, nb_config *cfg)
{
    const double *f = said->fast_axis, *s = said->slow_axis;
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += said->pix0_mm[i] + f[i] + s[i] + said->beam[i] + said->spindle[i];
    if (is_unplaced(cfg) && isfinite(sum)) {
        const double normal[3] = {f[1] * s[2] - f[2] * s[1], f[2] * s[0] - f[0] * s[2],
                                  f[0] * s[1] - f[1] * s[0]};
        cfg->convention = NB_CONV_CUSTOM;
        cfg->pix0_m = vector(said->pix0_mm, 1e-3);
        cfg->fdet_vector = vector(f, 1);
        cfg->sdet_vector = vector(s, 1);
        cfg->odet_vector = vector(normal, 1);
        cfg->beam_vector = vector(said->beam, 1);
        cfg->spindle_axis = vector(said->spindle, 1);
        if (isfinite(said->polar_axis[0]))
            cfg->polar_vector = vector(said->polar_axis, 1);
    }
}

/** Take the sense of rotation of a scan axis along the spindle of the conventions. Note
 * any other axis. */
static void take_axis(const nb_hdf5_geometry *said, nb_config *cfg, const char *flag,
                      const char *name, const nb_hooks *hooks)
{
    const double *v = said->axis.v;
    double along = said->axis.set ? nb_lab_of_nexus(NB_CONV_MOSFLM, v).z : 1;
    if (cfg->convention == NB_CONV_CUSTOM || fabs(along) > 0.9999) {
        cfg->spindle_back ^= along < 0;
        return;
    }
    nb_notice(hooks,
              "%s %s: its scan axis, %.4g %.4g %.4g in NeXus' frame, is not taken: type "
              "-spindle_axis, or -nxmx",
              flag, name, v[0], v[1], v[2]);
}

static nb_status apply_hdf5(const nb_opened_image *in, const char *flag,
                            const nb_hooks *hooks, nb_config *cfg, unsigned *fields,
                            nb_error *err)
{
    nb_status st;
    const nb_hdf5_geometry *g = &in->said;
    nb_said_geometry s = g->said;
    take_vectors(g, cfg);
    if (cfg->pix0_m.set)
        s.distance_mm = NAN;
    NB_FORWARD(take(&s, cfg, flag, in->file.name, hooks, err));
    if (!s.own)
        take_axis(g, cfg, flag, in->file.name, hooks);
    if (g->remarks.bare[0])
        nb_notice(hooks, "%s %s: without units, so m, A, eV or deg are taken: %s", flag,
                  in->file.name, g->remarks.bare);
    if (g->remarks.odd[0])
        nb_notice(hooks, "%s %s: not read, because the units are not known: %s", flag,
                  in->file.name, g->remarks.odd);
    *fields = s.own ? 0 : fields_of(&s);
    return NB_OK;
}

/** Apply a CBF header; nanobragg's beam centre is where the beam hits the detector. */
static nb_status apply_cbf(const nb_image_file *file, const char *flag,
                           const nb_hooks *hooks, nb_config *cfg, unsigned *fields,
                           nb_error *err)
{
    nb_status st;
    nb_cbf_header h;
    nb_cbf_read_header(file, &h);
    NB_FORWARD(take(&h.said, cfg, flag, file->name, hooks, err));
    if (fabs(nb_said_or(h.kappa_deg, 0)) > 0 || fabs(nb_said_or(h.chi_deg, 0)) > 0)
        nb_notice(hooks,
                  "%s %s: kappa %.7g and chi %.7g deg are not taken; they turn the "
                  "crystal (-misset) and the spindle",
                  flag, file->name, nb_said_or(h.kappa_deg, 0), nb_said_or(h.chi_deg, 0));
    if (h.full)
        nb_notice(hooks,
                  "%s %s: the vectors of its imgCIF categories (tilt, spindle) are not "
                  "taken",
                  flag, file->name);
    *fields = h.said.own ? 0 : fields_of(&h.said);
    return NB_OK;
}

nb_status nb_header_apply(const nb_opened_image *in, const char *flag,
                          const nb_hooks *hooks, nb_config *cfg, nb_header_found *found,
                          nb_error *err)
{
    memset(found, 0, sizeof *found);
    if (in->format == NB_FORMAT_SMV)
        return apply_smv(&in->file, cfg, found, err);
    if (in->format == NB_FORMAT_HDF5)
        return apply_hdf5(in, flag, hooks, cfg, &found->fields, err);
    if (in->format == NB_FORMAT_CBF)
        return apply_cbf(&in->file, flag, hooks, cfg, &found->fields, err);
    return NB_OK;
}

/* --- open fields --- */

unsigned nb_header_open(const nb_config *c)
{
    unsigned open = 0;
    if (!NB_GIVEN(c, distance_mm) && !NB_GIVEN(c, close_distance_mm) && !c->pix0_m.set)
        open |= NB_OPEN_DISTANCE;
    if (!NB_GIVEN(c, pixel_mm) && !NB_GIVEN(c, detsize_mm[0]))
        open |= NB_OPEN_PIXEL;
    if (!has_centre(c))
        open |= NB_OPEN_CENTRE;
    if (!NB_GIVEN(c, lambda_A) && !NB_GIVEN(c, energy_eV))
        open |= NB_OPEN_WAVELENGTH;
    if (!NB_GIVEN(c, twotheta_deg) && !c->pix0_m.set)
        open |= NB_OPEN_TWOTHETA;
    if (!NB_GIVEN(c, phi_deg))
        open |= NB_OPEN_START;
    if (!NB_GIVEN(c, osc_deg))
        open |= NB_OPEN_WIDTH;
    if (!NB_GIVEN(c, thick_um) && !NB_GIVEN(c, abs_um) && !c->sensor[0])
        open |= NB_OPEN_SENSOR;
    if (!c->polar_set && !c->nopolar)
        open |= NB_OPEN_POLARIZATION;
    return open;
}

void nb_header_say_open(const nb_config *cfg, unsigned fields, const char *flag,
                        const char *name, const nb_hooks *hooks)
{
    static const struct {
        unsigned field;
        const char *text;
    } texts[] = {{NB_OPEN_DISTANCE, "distance (100 mm is used)"},
                 {NB_OPEN_PIXEL, "pixel (0.1 mm)"},
                 {NB_OPEN_CENTRE, "beam centre (the middle of the detector)"},
                 {NB_OPEN_WAVELENGTH, "wavelength (1 A)"},
                 {NB_OPEN_BEAM, "direction of the beam (that of the convention)"},
                 {NB_OPEN_TWOTHETA, "two-theta (0)"},
                 {NB_OPEN_START, "start of the rotation (0)"},
                 {NB_OPEN_WIDTH, "width of the rotation (0, a still)"},
                 {NB_OPEN_SENSOR, "sensor (none: every photon counts, at the surface)"},
                 {NB_OPEN_POLARIZATION, "polarization (0)"}};
    char line[480] = "";
    unsigned open = fields & (nb_header_open(cfg) | NB_OPEN_BEAM);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (open & texts[i].field)
            snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s",
                     line[0] ? ", " : "", texts[i].text);
    if (open)
        nb_notice(hooks, "%s %s does not give: %s", flag, name, line);
}
