/* SPDX-License-Identifier: MIT */
#include "load.h"
#include "../base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/text.h"
#include "../base/xraylib_lib.h"
#include "../image/background.h"
#include "../io/table/sources.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "../physics/pixel.h"

/* 32 materials of -background, and the table of -stol, -4stol or -Q */
enum { MAX_MATERIALS = 33 };

/** Tables of materials while they are read. */
typedef struct material_list {
    nb_amorphous_source sources[MAX_MATERIALS];
    nb_stol_table tables[MAX_MATERIALS]; /* owned */
    int n;
} material_list;

int nb_config_has_background(const nb_config *cfg)
{
    return nb_config_stol_flag(cfg) || cfg->background[0];
}

static void take(material_list *list, double per_area)
{
    const nb_stol_table *t = &list->tables[list->n];
    list->sources[list->n++] = (nb_amorphous_source){t->points, t->n, per_area};
}

/** Read the table of -stol, -4stol or -Q. */
static nb_status read_table(const nb_config *cfg, material_list *list, nb_error *err)
{
    const char *flag = nb_config_stol_flag(cfg), *path = cfg->stol_file;
    double factor = 1;
    size_t bytes;
    char *data;
    nb_status st;
    if (!flag)
        return NB_OK;
    if (flag[1] == '4') {
        path = cfg->stol4_file;
        factor = 1.0 / 4;
    } else if (flag[1] == 'Q') {
        path = cfg->q_file;
        factor = 1 / (4 * NB_PI);
    }
    NB_FORWARD(nb_read_file(path, flag, NB_STOL_FILE_BYTES, &data, &bytes, err));
    st = nb_stol_parse(data, bytes, path, factor, &list->tables[list->n], err);
    nb_free(data);
    if (!st)
        take(list, NAN);
    return st;
}

static nb_status refuse(const char *word, int length, const char *why, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_INPUT,
        "-background '%.*s': %s; give name:path in mm, commas between, with water, "
        "vitreous, air, ice, nanoice, quartz or kapton, or formula:density:path, "
        "density in g/cm3",
        length < 60 ? length : 60, word, why);
}

/** Materials of atoms that scatter independently. */
static const struct {
    const char *name, *formula;
    double density; /* g/cm3 */
} formulas[] = {{"quartz", "SiO2", 2.2}, {"kapton", "C22H10N2O5", 1.42}};

/** Make the table of a formula unit: F^2 is the sum of the atoms' coherent and Compton
 * scattering. Returns its mass, g/mol; 0: xraylib does not know the formula. */
static double fill_formula(const char *formula, nb_stol_table *table)
{
#ifdef NB_HAVE_XRAYLIB
    const double step = 0.01; /* 1/A */
    struct compoundData *parts = CompoundParser(formula, NULL);
    const double mass = parts ? parts->molarMass : 0;
    for (int i = 0; parts && i < table->n; i++) {
        const double x = i * step;
        double square = 0;
        for (int k = 0; k < parts->nElements; k++) {
            const int Z = parts->Elements[k];
            const double f = FF_Rayl(Z, x, NULL);
            square += parts->nAtoms[k] * (f * f + (i ? SF_Compt(Z, x, NULL) : 0));
        }
        table->points[i] = (nb_stol_point){x, sqrt(square)};
    }
    if (parts)
        FreeCompoundData(parts);
    return mass;
#else
    (void)formula;
    (void)table;
    return 0;
#endif
}

/** Add a material of independent atoms. name: formula and what follows it. */
static nb_status add_formula(const char *word, int length, const char *formula,
                             double density, double path, material_list *list,
                             nb_error *err)
{
    enum { POINTS = 301 };
    nb_stol_table *table = &list->tables[list->n];
    double mass;
    nb_status st;
    NB_FORWARD(nb_xraylib_need("-background with a formula",
                               "water, vitreous, air, ice or nanoice", err));
    table->n = POINTS;
    if (!(table->points = nb_alloc(POINTS, sizeof *table->points, "material", err)))
        return NB_ERR_NOMEM;
    if (!((mass = fill_formula(formula, table)) > 0))
        return refuse(word, length, "xraylib does not know the formula", err);
    take(list, nb_molecules_per_area(path, density, mass));
    return NB_OK;
}

/** Add a material `name:path` or `formula:density:path`. */
static nb_status add_named(const char *word, int length, material_list *list,
                           nb_error *err)
{
    const char *end = word + length, *first = memchr(word, ':', (size_t)length),
               *last = end;
    const nb_named_material *m;
    char name[64] = "";
    double path, density = 0;
    nb_status st;
    while (last > word && *last != ':')
        last--;
    if (!first || first - word >= (int)sizeof name)
        return refuse(word, length, first ? "the name is too long" : "no path", err);
    memcpy(name, word, (size_t)(first - word));
    if (nb_text_double(last + 1, end, &path) != end || !(path > 0 && path <= 1e9))
        return refuse(word, length, "the path must be a number above 0", err);
    if (list->n == MAX_MATERIALS)
        return refuse(word, length, "more than 32 materials", err);
    if (last > first) {
        if (nb_text_double(first + 1, last, &density) != last ||
            !(density > 0 && density <= 1000))
            return refuse(word, length, "the density must be above 0, at most 1000", err);
        return add_formula(word, length, name, density, path, list, err);
    }
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        if (!strcmp(name, formulas[i].name))
            return add_formula(word, length, formulas[i].formula, formulas[i].density,
                               path, list, err);
    if (!(m = nb_named_material_find(word, (size_t)(first - word))))
        return refuse(word, length, "an unknown material", err);
    st = nb_stol_parse(m->text, strlen(m->text), m->name, 1, &list->tables[list->n], err);
    if (!st)
        take(list, nb_molecules_per_area(path, m->density, m->mass));
    return st;
}

static nb_status read_list(const nb_config *cfg, material_list *list, nb_error *err)
{
    const char *word = cfg->background;
    nb_status st = NB_OK;
    while (*word && !st) {
        const int length = (int)strcspn(word, ",");
        st = add_named(word, length, list, err);
        word += length;
        if (!st && *word == ',' && !*++word)
            st = refuse(cfg->background, (int)strlen(cfg->background),
                        "nothing behind the last comma", err);
    }
    return st;
}

nb_status nb_load_background(const nb_config *cfg, nb_amorphous_set *set, nb_error *err)
{
    material_list *list = NULL;
    nb_status st;
    if (!nb_config_has_background(cfg))
        return NB_OK;
    if (!(list = nb_alloc(1, sizeof *list, "materials", err)))
        return NB_ERR_NOMEM;
    st = read_table(cfg, list, err);
    NB_TRY(read_list(cfg, list, err));
    NB_TRY(nb_amorphous_build(list->sources, list->n, set, err));
    for (int i = 0; i < MAX_MATERIALS; i++)
        nb_stol_free(&list->tables[i]);
    nb_free(list);
    return st;
}

const char *nb_background_words(const nb_settings *all, char *text, size_t size)
{
    const nb_config *cfg = &all->value;
    const char *flag = nb_config_stol_flag(cfg);
    int n = 0;
    text[0] = '\0';
    if (flag && NB_TYPED(all, molecules))
        n = snprintf(text, size, "table:%g molecules", cfg->molecules);
    else if (flag)
        n = snprintf(text, size, "table:%g mm, %g g/cm3, %g g/mol",
                     cfg->amorphous_thick_mm, cfg->density, cfg->molecule_mass);
    if (cfg->background[0] && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "%s%s", n ? "; " : "", cfg->background);
    return text;
}

/** Photons of water and materials in a pixel, from one ray to the middle of the pixel. */
static double middle_photons(const nb_scene *sc, size_t pixel)
{
    const int panel = nb_panel_of_pixel(sc, pixel);
    const size_t at = pixel - sc->panels[panel].first_pixel,
                 columns = (size_t)sc->panels[panel].columns;
    return nb_pixel_background(sc, panel, (int)(at % columns), (int)(at / columns));
}

double nb_background_about(const nb_model *model)
{
    enum { SOME = 101 }; /* number of pixels that are summed */
    nb_scene one_ray = model->scene;
    const double rays = (double)one_ray.oversample * one_ray.oversample;
    double sum = 0;
    if (one_ray.raster.pixels == 0)
        return 0;
    one_ray.oversample = 1;
    one_ray.intensity_scale *= rays;
    for (size_t i = 0; i < SOME; i++) /* the golden section spreads the pixels evenly */
        sum +=
            middle_photons(&one_ray, (size_t)(fmod((double)i * 0.6180339887498949, 1.0) *
                                              (double)one_ray.raster.pixels));
    return sum / SOME * nb_rendered_pixels(&one_ray);
}

void nb_scene_stol(const nb_scene *sc, double range[2])
{
    enum { POINTS = 33 };
    range[0] = INFINITY;
    range[1] = 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        const nb_region r = nb_panel_region(sc, p);
        for (int i = 0; i < POINTS * POINTS && nb_region_pixels(r) > 0; i++) {
            const double u = (i % POINTS) / (POINTS - 1.),
                         v = (int)(i / POINTS) / (POINTS - 1.);
            const double F = (r.fmin + u * (r.fmax - r.fmin + 1)) * p->pixel_fast,
                         S = (r.smin + v * (r.smax - r.smin + 1)) * p->pixel_slow;
            const nb_ray ray = nb_ray_along(nb_panel_point(p, F, S, 0));
            const double x =
                0.5 * nb_norm(nb_scattering_vector(sc->beam.sources, ray.direction));
            range[0] = fmin(range[0], x);
            range[1] = fmax(range[1], x);
        }
    }
}

/** Ask about a path too long for a liquid or solid: it may be in um, as for -water. */
static void advise_paths(const nb_config *cfg, const nb_hooks *hooks)
{
    for (const char *word = cfg->background, *colon; (colon = strchr(word, ':'));
         word = colon + strcspn(colon, ","), word += *word == ',') {
        const int length = (int)(colon - word);
        const nb_named_material *m = nb_named_material_find(word, (size_t)length);
        double path = 0;
        (void)nb_text_double(colon + 1, word + strcspn(word, ","), &path);
        if (m && m->density > 0.1 && path > 1)
            nb_notice(hooks,
                      "-background %.*s:%g is %g mm of it, and what this absorbs is not "
                      "subtracted: is it in um? type %.*s:%g",
                      length, word, path, path, length, word, path / 1000);
    }
}

void nb_advise_background(const nb_model *model, const nb_amorphous_set *set,
                          const nb_hooks *hooks)
{
    const nb_settings *all = &model->settings;
    const nb_config *cfg = &all->value;
    double range[2];
    if (!nb_config_stol_flag(cfg) && !cfg->stolout_file[0] &&
        (NB_TYPED(all, density) || NB_TYPED(all, molecule_mass)))
        nb_notice(hooks, "%s has no effect: it belongs to a table of -stol, -4stol or -Q",
                  NB_TYPED(all, density) ? "-density" : "-MW");
    if (set->tables.n == 0 || cfg->stolout_file[0])
        return;
    advise_paths(cfg, hooks);
    if (set->negative)
        nb_notice(
            hooks,
            "the table of the background has F < 0: there it takes photons away, and "
            "pixels may be negative");
    nb_scene_stol(&model->scene, range);
    if (range[1] > set->last || range[0] < set->first)
        nb_notice(
            hooks,
            "the image goes from sin(theta)/lambda %.3g to %.3g 1/A, beyond the table "
            "of the background (%.3g to %.3g): there its %s F holds",
            range[0] * NB_ANGSTROM, range[1] * NB_ANGSTROM, set->first * NB_ANGSTROM,
            set->last * NB_ANGSTROM, range[1] > set->last ? "last" : "first");
}
