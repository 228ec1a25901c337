/* SPDX-License-Identifier: MIT */
/* Make a configuration and its inputs from typed values. */
#include <unistd.h>

#include "../base/error.h"
#include "../inputs/files.h"
#include "../base/store.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../inputs/load.h"
#include "sim.h"

/** True if a flag of the crystal's size was typed. */
static int has_size(const nb_config *cfg)
{
    int i, any = 0;
    for (i = 0; i < 3; i++)
        any |= cfg->N[i] > 0 || NB_GIVEN(cfg, xtal_size_mm[i]);
    return any;
}

/** Set a cubic crystal of n^3 cells in cfg, with this F. */
static void stand_in(nb_config *cfg, int n, double F)
{
    cfg->cell_count = 6;
    for (int i = 0; i < 6; i++)
        cfg->cell[i] = i < 3 ? 100 : 90;
    for (int i = 0; i < 3; i++)
        cfg->N[i] = n;
    cfg->default_F = F;
}

/** Check that cfg has cell and F.  If cell, F and size are missing, set a default. */
static nb_status resolve_crystal(nb_config *cfg, const nb_hooks *hooks, nb_error *err)
{
    int file = nb_config_has_factor_file(cfg);
    int said = cfg->detector && cfg->detector->has_crystal;
    int lattice = cfg->cell_count > 0 || cfg->mat_file[0] || file || said;
    int factors =
        file || cfg->hkl_file[0] || cfg->dump_file[0] || NB_GIVEN(cfg, default_F);
    if (!lattice && !factors && !has_size(cfg) &&
        (nb_config_has_background(cfg) || cfg->stolout_file[0])) {
        if (!cfg->stolout_file[0])
            nb_notice(hooks, "no crystal given: the image has the background alone");
        stand_in(cfg, 1, 0);
        return NB_OK;
    }
    if (!lattice && !factors && !has_size(cfg)) {
        nb_notice(
            hooks,
            "no crystal given: simulating a cubic one of 100 A, 5x5x5 cells, F = 100 "
            "(-cell 100 100 100 90 90 90 -N 5 -default_F 100)");
        stand_in(cfg, 5, 100);
        return NB_OK;
    }
    if (!lattice)
        return nb_fail(
            err, NB_ERR_INPUT,
            "no unit cell: add -cell a b c alpha beta gamma, -mat FILE, or a model: "
            "-pdb FILE");
    if (!factors &&
        cfg->stolout_file[0]) { /* -stolout does not use the crystal of a geometry file */
        cfg->default_F = 0;
        if (!has_size(cfg))
            cfg->N[0] = cfg->N[1] = cfg->N[2] = 1;
        return NB_OK;
    }
    if (!factors && access(nb_dump_name(cfg), R_OK) != 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "no structure factors: add -pdb, -cif, -mtz or -hkl FILE, or "
                       "-default_F F for "
                       "a constant");
    return NB_OK;
}

/** Wavelength of the mean photon energy of a -spectrum file, A. */
static double mean_wavelength(const nb_spectrum_point *p, int n)
{
    double photons = 0, energy = 0;
    for (int i = 0; i + 1 < n; i++) {
        const double width = p[i + 1].eV - p[i].eV, a = p[i].density, b = p[i + 1].density;
        photons += 0.5 * width * (a + b);
        energy += width * (0.5 * (a + b) * p[i].eV + width * (a + 2 * b) / 6);
    }
    return NB_HC_EV_ANGSTROM * photons / energy;
}

/** Refuse -mosaic_blocks with other flags of rotations. */
static nb_status check_blocks(const nb_config *cfg, nb_error *err)
{
    if (!cfg->mosaic_blocks[0] ||
        (!NB_GIVEN(cfg, mosaic_spread_deg) && !cfg->mosaic_aniso_deg.set &&
         cfg->mosaic_tail_deg == 0 && !cfg->compat))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "-mosaic_blocks %.200s: not with -mosaic, -mosaic_aniso, -mosaic_tail "
                   "or -compat; the file has all rotations",
                   cfg->mosaic_blocks);
}

/** Refuse diffuse light without reflections from files or memory. */
static nb_status check_diffuse(const nb_config *cfg, const nb_inputs *in, nb_error *err)
{
    const double *sigma = cfg->diffuse_sigma_A;
    if (!NB_GIVEN(cfg, diffuse_sigma_A[0]) || !(sigma[0] + sigma[1] + sigma[2] > 0) ||
        in->factors || in->tables.box.nh > 0)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "-diffuse_sigma needs a table of F (-hkl, -pdb, -mtz ...): a "
                   "constant F has no last reflection");
}

enum { HEADERS = 5 };

/** List the files that complete cfg; a file that is not typed is "". Returns the number
 * of typed files. */
static int header_files(const nb_config *cfg, const char *files[HEADERS])
{
    const char *const all[HEADERS] = {cfg->geom_file, cfg->expt_file, cfg->nxmx_file,
                                      cfg->img_file, cfg->mask_file};
    int typed = 0;
    for (int i = 0; i < HEADERS; i++)
        typed += (files[i] = all[i])[0] != 0;
    return typed;
}

static nb_status resolve(const nb_inputs *old, int64_t seed, const nb_frame_extra *extra,
                         const nb_hooks *hooks, nb_config *cfg, nb_inputs *in,
                         nb_error *err)
{
    nb_detector_spec *spec = NULL;
    const char *files[HEADERS];
    const int headers = header_files(cfg, files);
    const nb_hooks *once;
    nb_status st;
    /* so that notes on the same files are printed once */
    in->header_key = nb_key_of("headers");
    for (int i = 0; i < HEADERS; i++)
        nb_key_file(&in->header_key, in->store, files[i]);
    nb_key_add(&in->header_key, &cfg->realism, sizeof cfg->realism);
    once = nb_key_equal(&in->header_key, &old->header_key) ? NULL : hooks;
    if ((st = nb_realism_apply(cfg, once, err)) || (st = nb_config_check(cfg, err)) ||
        (st = nb_load_headers(cfg, in, once, &spec, err)) ||
        (st = resolve_crystal(cfg, once, err)) ||
        (headers && (st = nb_config_check_fields(cfg, err))) ||
        (st = check_blocks(cfg, err)) || (st = nb_load_files(cfg, in, spec, hooks, err))) {
        nb_shared_drop(spec);
        return st;
    }
    nb_shared_drop(spec);
    nb_inputs_show(in, cfg);
    if (in->files->points && !NB_GIVEN(cfg, lambda_A) && !NB_GIVEN(cfg, energy_eV))
        cfg->lambda_A = mean_wavelength(in->files->points, in->files->n_points);
    NB_FORWARD(nb_load_sources(cfg, in, err));
    if (extra && extra->lines)
        nb_inputs_give_spectrum(in, extra->lines, extra->n_lines);
    st = nb_load_crystal(cfg, in, old, extra ? extra->matrix : NULL, seed, hooks, err);
    return st ? st : check_diffuse(cfg, in, err);
}

nb_status nb_resolve_record(const nb_inputs *old, const nb_config *typed, int64_t seed,
                            const nb_frame_extra *extra, const nb_hooks *hooks,
                            nb_config *cfg, nb_inputs *in, nb_error *err)
{
    NB_READING(old->store);
    nb_status st;
    *in = nb_inputs_share(old);
    nb_config_copy(cfg, typed);
    cfg->detector = in->panels;
    cfg->arrays = cfg->arrays ? &in->arrays : NULL;
    st = resolve(old, seed, extra, hooks, cfg, in, err);
    if (st)
        nb_inputs_drop(in);
    return st;
}
