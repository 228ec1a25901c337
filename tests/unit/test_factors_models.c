/* SPDX-License-Identifier: MIT */
/* Every model of golden_data/structure_factors against its table, direct and by FFT. */
#include "../support/check.h"
#include "scratch.h"

#include "../../src/base/fftw_lib.h"
#include "../../src/base/memory.h"
#include "../../src/base/unpack.h"
#include "../../src/factors/model.h"

enum { ELEMENTS = 40 };
#define EV_ANGSTROM 12398.419843320026

/** A row of cases.tsv. */
typedef struct model_case {
    char id[64], file[96], table[96];
    nb_model_options options;
    double energy, B_add, scale, rms, max;
    int with_anomalous, reflections;
    char fprime[96];
} model_case;

/** The bytes of a file, unpacked, and a NUL; free with nb_free. */
static char *bytes_of(const char *name, size_t *n)
{
    char path[256], *text = NULL, *data;
    const char *source = getenv("NB_SOURCE");
    size_t size, unpacked;
    FILE *f;
    nb_error err = {0};
    snprintf(path, sizeof path, "%s/golden_data/structure_factors/%s",
             source ? source : ".", name);
    f = fopen(path, "rb");
    if (!f)
        fail_msg("%s is missing", path);
    fseek(f, 0, SEEK_END);
    size = (size_t)ftell(f);
    rewind(f);
    data = nb_alloc(size + 1, 1, name, &err);
    assert_int_equal(fread(data, 1, size, f), size);
    fclose(f);
    if (nb_unpack(data, size, name, 0, &text, &unpacked, &err))
        fail_msg("%s", err.message);
    if (text) {
        nb_free(data);
        size = unpacked;
        data = nb_alloc(size + 1, 1, name, &err);
        memcpy(data, text, size);
        nb_free(text);
    }
    *n = size;
    return data;
}

static void set_flag(model_case *c, const char *flag, const char *value)
{
    nb_model_options *o = &c->options;
    if (!strcmp(flag, "-pdb") || !strcmp(flag, "-cif")) {
        snprintf(c->file, sizeof c->file, "%s", value);
        if (strstr(value, "4003024") || strstr(value, "made-small"))
            o->k_sol = 0;
    } else if (!strcmp(flag, "-lambda"))
        c->energy = EV_ANGSTROM / atof(value);
    else if (!strcmp(flag, "-energy"))
        c->energy = atof(value);
    else if (!strcmp(flag, "-dmin"))
        o->dmin = atof(value);
    else if (!strcmp(flag, "-ksol"))
        o->k_sol = atof(value);
    else if (!strcmp(flag, "-bsol"))
        o->B_sol = atof(value);
    else if (!strcmp(flag, "-hydrogens"))
        o->drop_hydrogens = !strcmp(value, "drop");
    else if (!strcmp(flag, "-model"))
        o->model = strcmp(value, "all") ? atoi(value) : 0;
    else if (!strcmp(flag, "-ncs"))
        o->apply_ncs = !strcmp(value, "apply");
    else if (!strcmp(flag, "-fprime"))
        snprintf(c->fprime, sizeof c->fprime, "%s", value);
    else if (!strcmp(flag, "-anomalous"))
        c->with_anomalous = strcmp(value, "off") != 0;
    else if (!strcmp(flag, "-Badd"))
        c->B_add = atof(value);
    else if (!strcmp(flag, "-Fscale"))
        c->scale = atof(value);
    else if (!strcmp(flag, "-F000"))
        o->with_000 = 1;
    else
        fail_msg("%s: flag %s", c->id, flag);
}

/** A row of cases.tsv; 0 for one without a model. */
static int read_case(char *line, model_case *c)
{
    char *field[8], *word, *next = line;
    *c = (model_case){.scale = 1, .with_anomalous = 1};
    c->options = (nb_model_options){.k_sol = 0.435, .B_sol = 46, .model = 1, .threads = 1};
    for (int i = 0; i < 8; i++)
        field[i] = next ? strsep(&next, "\t") : NULL;
    if (!field[6] || strcmp(field[1], "F") || field[0][0] != 'm')
        return 0;
    snprintf(c->id, sizeof c->id, "%s", field[0]);
    snprintf(c->table, sizeof c->table, "ref/%s", field[3]);
    c->reflections = atoi(field[4]);
    c->rms = atof(field[5]);
    c->max = atof(field[6]);
    word = strtok(field[2], " ");
    while (word) {
        char *value = strtok(NULL, " ");
        set_flag(c, word, value);
        word = strtok(NULL, " ");
    }
    return 1;
}

static void set_anomalous(const model_case *c, const nb_partials *p, nb_anomalous *f)
{
    for (int e = 0; e < p->n_elements; e++) {
        char key[8];
        const char *own;
        f[e] = (nb_anomalous){0, 0};
        if (c->with_anomalous)
            nb_element_anomalous(p->elements[e].Z, c->energy, &f[e].f1, &f[e].f2);
        snprintf(key, sizeof key, "%s:", nb_element_symbol(p->elements[e].Z));
        own = strstr(c->fprime, key);
        if (own)
            sscanf(own + strlen(key), "%lf:%lf", &f[e].f1, &f[e].f2);
    }
}

static void compare(const model_case *c, const nb_factor_grid *grid)
{
    size_t n, rows = 0;
    char *text = bytes_of(c->table, &n), *line = strchr(text, '\n');
    double off = 0, all = 0, most = 0, rms, max;
    int known = 0;
    for (size_t i = 0; i < nb_factor_grid_voxels(grid); i++)
        known += !isnan(grid->F[i]);
    if (known != c->reflections)
        fail_msg("%s: %d reflections of P1, not %d", c->id, known, c->reflections);
    for (; line && line[1]; line = strchr(line + 1, '\n'), rows++) {
        int h[3];
        double re, im, x, y;
        size_t at;
        assert_int_equal(sscanf(line, "%d %d %d %lf %lf", &h[0], &h[1], &h[2], &re, &im),
                         5);
        at = nb_factor_grid_at(grid, h[0], h[1], h[2]);
        x = grid->F[at] * cos(grid->phase[at]) - re;
        y = grid->F[at] * sin(grid->phase[at]) - im;
        assert_false(isnan(x));
        off += x * x + y * y;
        all += re * re + im * im;
        most = fmax(most, x * x + y * y);
    }
    rms = sqrt(off / all);
    max = sqrt(most / (all / (double)rows));
    if (getenv("NB_SHOW"))
        printf("%s: rms %.2e of %.0e, max %.2e of %.0e\n", c->id, rms, c->rms, max,
               c->max);
    if (!(rms <= c->rms) || !(max <= c->max))
        fail_msg("%s: rms %.2e, allowed %.0e; max %.2e, allowed %.0e", c->id, rms, c->rms,
                 max, c->max);
    nb_free(text);
}

static void check_case(const model_case *c, nb_sum_method method)
{
    nb_structure structure;
    nb_partials partials;
    nb_factor_grid grid;
    nb_error err = {0};
    nb_model_options options = c->options;
    nb_anomalous f[ELEMENTS];
    char name[128];
    size_t n;
    int H[3];
    char *text;
    snprintf(name, sizeof name, "%s", c->file);
    text = bytes_of(name, &n);
    options.method = method;
    if (nb_structure_parse(text, n, c->file, &structure, &err) ||
        nb_partials_make(&structure, &options, c->file, NULL, &partials, &err))
        fail_msg("%s: %s", c->id, err.message);
    nb_index_limits(partials.cell, partials.dmin, H);
    assert_int_equal(nb_factor_grid_new(partials.cell, H, &grid, &err), NB_OK);
    assert_int_equal(nb_factor_grid_add_phases(&grid, &err), NB_OK);
    assert_true(partials.n_elements <= ELEMENTS);
    set_anomalous(c, &partials, f);
    nb_partials_combine(&partials, f, c->B_add, c->scale, 2, &grid);
    compare(c, &grid);
    nb_factor_grid_free(&grid);
    nb_partials_free(&partials);
    nb_structure_free(&structure);
    nb_free(text);
}

static void check_all(nb_sum_method method)
{
    size_t n;
    char *text = bytes_of("cases.tsv", &n), *next = text, *line;
    int cases = 0;
    while ((line = strsep(&next, "\n"))) {
        model_case c;
        if (read_case(line, &c)) {
            check_case(&c, method);
            cases++;
        }
    }
    assert_true(cases >= 29);
    nb_free(text);
}

UNIT_TEST(direct_sums_equal_the_tables)
{
    if (!*nb_gemmi_version())
        skip_because("this build has no gemmi");
    check_all(NB_SUM_DIRECT);
}

UNIT_TEST(transforms_equal_the_tables)
{
    nb_error err;
    if (!*nb_gemmi_version())
        skip_because("this build has no gemmi");
    if (nb_fftw_need("this test", &err))
        skip_because("FFTW cannot be loaded");
    check_all(NB_SUM_FFT);
}
