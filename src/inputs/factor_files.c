/* SPDX-License-Identifier: MIT */
/* Read models and reflection files: find the kind from the content, check the flags, and
 * take cell and space group. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/error.h"
#include "../base/store.h"
#include "../base/outfile.h"
#include "../base/text.h"
#include "../factors/factors.h"
#include "../io/table/arrays.h"
#include "../io/table/hkl.h"
#include "../params/params.h"
#include "load.h"
#include "factors.h"

/** The bytes of a file, unpacked. */
typedef struct content {
    const char *flag, *path;
    char *data; /* owned */
    size_t bytes;
    nb_content kind;
} content;

static nb_status read_content(nb_factor_files *m, const char *flag, const char *path,
                              content *out, nb_error *err)
{
    nb_status st;
    *out = (content){.flag = flag, .path = path};
    NB_FORWARD(nb_read_file(path, flag, 0, &out->data, &out->bytes, err));
    m->hash = nb_hash_bytes(m->hash, out->data, out->bytes);
    out->kind = nb_content_of(out->data, out->bytes);
    return NB_OK;
}

/* --- kinds --- */

/** True if the first line that is not a comment is a list of numbers. */
static int looks_like_list(const char *p, const char *end)
{
    int words = 0;
    p = nb_text_body(p, end);
    for (;;) {
        double value;
        const char *after;
        while (p < end && (nb_text_blank(*p) || (*p == '\n' && !words)))
            p++;
        if (p < end && !words && (*p == '#' || *p == '!')) {
            p = memchr(p, '\n', (size_t)(end - p));
            p = p ? p : end;
            continue;
        }
        if (p == end || *p == '\n')
            return words >= 4;
        after = nb_text_double(p, end, &value);
        if (!after || (words < 3 && value != floor(value)))
            return 0;
        p = after;
        words++;
    }
}

const char *nb_content_means(nb_content kind, const char *data, size_t n,
                             const char **flag)
{
    static const struct {
        nb_content kind;
        const char *what, *flag;
    } known[] = {
        {NB_CONTENT_PDB, "a model in PDB format", "-pdb"},
        {NB_CONTENT_MMCIF, "an mmCIF model", "-pdb or -cif"},
        {NB_CONTENT_SMALL, "a small-molecule CIF", "-cif"},
        {NB_CONTENT_REFLECTION_CIF, "a CIF with reflections", "-mtz or -cif"},
        {NB_CONTENT_MODEL_AND_REFLECTIONS, "a CIF with a model and reflections", "-cif"},
        {NB_CONTENT_MTZ, "an MTZ file", "-mtz"},
        {NB_CONTENT_CIF_OTHER, "a CIF without a model and without reflections", NULL},
    };
    *flag = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == kind) {
            *flag = known[i].flag;
            return known[i].what;
        }
    if (nb_hkl_is_xds(data, n))
        return NB_HKL_XDS;
    if (looks_like_list(data, data + n)) {
        *flag = "-hkl";
        return "a text list of reflections";
    }
    return NULL;
}

static nb_status wrong_kind(const content *c, const char *wanted, nb_error *err)
{
    const char *flag, *what = nb_content_means(c->kind, c->data, c->bytes, &flag);
    if (!c->bytes)
        return nb_fail_at(err, NB_ERR_INPUT, c->path, 0,
                          "%s: the file is empty; it must be %s", c->flag, wanted);
    if (what && flag)
        return nb_fail_at(err, NB_ERR_INPUT, c->path, 0, "%s: it is %s; give it to %s",
                          c->flag, what, flag);
    if (nb_hkl_is_xds(c->data, c->bytes))
        return nb_fail_at(err, NB_ERR_INPUT, c->path, 0, "%s: it is %s; " NB_HKL_XDS_MEND,
                          c->flag, what);
    return nb_fail_at(err, NB_ERR_INPUT, c->path, 0, "%s: it is %s; it must be %s",
                      c->flag, what ? what : "no file of a known kind", wanted);
}

/** Set *model to 1 if the file of -pdb, -mtz or -cif is a model, to 0 for reflections.
 * Refuse other kinds.  A CIF with both is a model unless columns are typed. */
static nb_status check_kind(const nb_config *cfg, const content *c, int *model,
                            nb_error *err)
{
    enum { MODEL = 1, REFLECTIONS = 2 };
    static const struct {
        nb_content kind;
        char flags[4]; /* second letters of the flags (see the rules) */
        int holds;
    } known[] = {{NB_CONTENT_PDB, "p", MODEL},
                 {NB_CONTENT_MMCIF, "pc", MODEL},
                 {NB_CONTENT_SMALL, "c", MODEL},
                 {NB_CONTENT_MODEL_AND_REFLECTIONS, "pcm", MODEL | REFLECTIONS},
                 {NB_CONTENT_REFLECTION_CIF, "cm", REFLECTIONS},
                 {NB_CONTENT_MTZ, "m", REFLECTIONS}};
    const char flag = c->flag[1];
    *model = flag == 'p';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == c->kind && strchr(known[i].flags, flag)) {
            if (flag == 'c')
                *model = known[i].holds & MODEL &&
                         !(known[i].holds & REFLECTIONS && cfg->mtz_label[0]);
            return NB_OK;
        }
    return wrong_kind(c,
                      flag == 'c'   ? "a model or reflections as CIF"
                      : flag == 'p' ? "a model as PDB or mmCIF"
                                    : "reflections as MTZ or structure-factor CIF",
                      err);
}

/** Check the rules for flags as if the file of -cif were that of -pdb (for a model) or of
 * -mtz. */
static nb_status check_as(const nb_factor_files *m, int cif_is_model, nb_error *err)
{
    nb_config as = m->asked; /* shares its texts with m->asked, and is only read */
    nb_text *to = cif_is_model ? &as.pdb_file : &as.mtz_file;
    nb_error why = {0};
    nb_status st;
    if (!as.cif_file[0])
        return NB_OK;
    if ((*to)[0])
        return nb_fail_at(err, NB_ERR_INPUT, m->settings.value.cif_file, 0,
                          "-cif holds %s, and so does %s %.180s; give one of them",
                          cif_is_model ? "a model" : "reflections",
                          cif_is_model ? "-pdb" : "-mtz", *to);
    *to = as.cif_file;
    as.cif_file = nb_no_text;
    if (!(st = nb_config_check_factors(&as, &why)))
        return NB_OK;
    return nb_fail_at(err, st, m->settings.value.cif_file, 0, "-cif holds %s: %s",
                      cif_is_model ? "a model" : "reflections", why.message);
}

/* --- reading --- */

static nb_status parse_model(nb_factor_files *m, const content *c, nb_error *err)
{
    m->model_flag = c->flag;
    m->model_path = c->path;
    return nb_structure_parse(c->data, c->bytes, c->path, &m->model, err);
}

/** Take cell and wavelength from the column's data set. */
static void take_set(nb_reflection_file *list, int column)
{
    const nb_column *c = &list->columns[column];
    if (c->cell[0] > 0)
        memcpy(list->cell, c->cell, sizeof list->cell);
    if (c->wavelength > 0)
        list->wavelength = c->wavelength;
}

static nb_status parse_list(nb_factor_files *m, const content *c, nb_error *err)
{
    nb_status st = nb_reflection_file_parse(c->data, c->bytes, c->path, &m->list, err);
    m->list_flag = c->flag;
    m->list_path = c->path;
    NB_TRY(nb_columns_choose(&m->list, m->settings.value.mtz_label, c->path, &m->columns,
                             err));
    if (!st)
        take_set(&m->list, m->columns.plus);
    return st;
}

/** Read the file of one flag, a model or reflections. */
static nb_status read_one(nb_factor_files *m, const char *flag, const char *path,
                          nb_error *err)
{
    content c;
    int model = 0;
    nb_status st;
    if (!path[0])
        return NB_OK;
    st = read_content(m, flag, path, &c, err);
    NB_TRY(check_kind(&m->settings.value, &c, &model, err));
    if (!st && flag[1] == 'c')
        st = check_as(m, model, err);
    NB_TRY(model ? parse_model(m, &c, err) : parse_list(m, &c, err));
    nb_free(c.data);
    return st;
}

/** Name the right flag if the file of -hkl, which failed with st, is of another kind. */
static nb_status refuse_hkl(const char *data, size_t n, const char *path, nb_status st,
                            nb_error *err)
{
    const char *flag, *what = nb_content_means(nb_content_of(data, n), data, n, &flag);
    if (what && flag && flag[1] != 'h')
        st = nb_fail_at(err, NB_ERR_INPUT, path, 0, "-hkl: it is %s; give it to %s", what,
                        flag);
    return st;
}

nb_status nb_hkl_load(const nb_config *cfg, nb_hkl_list *list, uint64_t *hash,
                      nb_error *err)
{
    const char *path = cfg->hkl_file;
    const nb_arrays *memory = nb_in_memory(cfg, path, NB_MEMORY_HKL);
    char *data;
    size_t bytes;
    nb_status st;
    memset(list, 0, sizeof *list);
    if (memory) {
        NB_FORWARD(nb_arrays_hkl(memory, list, err));
        *hash =
            nb_hash_bytes(*hash, memory->hkl, memory->reflections * sizeof *memory->hkl);
        *hash = nb_hash_bytes(*hash, memory->F, memory->reflections * sizeof *memory->F);
        return NB_OK;
    }
    NB_FORWARD(nb_read_file(path, "-hkl", 0, &data, &bytes, err));
    *hash = nb_hash_bytes(*hash, data, bytes);
    st = nb_hkl_list_parse(data, bytes, path, list, err);
    if (st == NB_ERR_INPUT)
        st = refuse_hkl(data, bytes, path, st, err);
    nb_free(data);
    return st;
}

static nb_status read_hkl(nb_factor_files *m, nb_error *err)
{
    nb_status st;
    if (!m->settings.value.hkl_file[0])
        return NB_OK;
    NB_FORWARD(nb_hkl_load(&m->settings.value, &m->hkl, &m->hash, err));
    m->list_flag = "-hkl";
    m->list_path = m->hkl.name;
    return NB_OK;
}

static nb_status read_fprime(nb_factor_files *m, nb_error *err)
{
    char *data;
    size_t bytes;
    nb_status st = NB_OK;
    if (m->settings.value.fprime[0])
        st = nb_fprime_words(m->settings.value.fprime, &m->typed, err);
    if (!st && m->settings.value.fprime_table[0]) {
        NB_FORWARD(nb_read_file(m->settings.value.fprime_table, "-fprime_table", 0, &data,
                                &bytes, err));
        m->hash = nb_hash_bytes(m->hash, data, bytes);
        st = nb_fprime_parse(data, bytes, m->settings.value.fprime_table, &m->curves, err);
        nb_free(data);
    }
    return st ? st : nb_check_fprime(m, err);
}

/* --- cell and space group --- */

/** The cell of a crystal, A and deg. */
void nb_factor_cell_of(const nb_crystal *x, double cell[6])
{
    const nb_vec3 v[3] = {x->a, x->b, x->c};
    for (int i = 0; i < 3; i++) {
        nb_vec3 p = v[(i + 1) % 3], q = v[(i + 2) % 3];
        cell[i] = x->edge[i];
        cell[3 + i] = acos(fmax(-1, fmin(1, nb_dot(p, q) / (nb_norm(p) * nb_norm(q))))) *
                      (180 / M_PI);
    }
}

static int differs(const double a[6], const double b[6])
{
    for (int i = 0; i < 3; i++)
        if (fabs(a[i] - b[i]) > 0.01 * b[i] || fabs(a[3 + i] - b[3 + i]) > 1)
            return 1;
    return 0;
}

void nb_factor_files_odd_cell(const nb_factor_files *m, const nb_crystal *crystal,
                              char *text, size_t size)
{
    const double *F = m->cell;
    double x[6];
    nb_factor_cell_of(crystal, x);
    if (!m->cell_is_typed && differs(x, F))
        snprintf(text, size,
                 "the crystal has the cell %g %g %g %g %g %g, but F(h k l) stays that of "
                 "%.200s: %g %g %g %g %g %g",
                 x[0], x[1], x[2], x[3], x[4], x[5],
                 m->list_path ? m->list_path : m->model_path, F[0], F[1], F[2], F[3],
                 F[4], F[5]);
}

static nb_status no_cell(const char *path, const char *flag, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                      "%s: it has no unit cell (or only 1 1 1 90 90 90): add -cell a b c "
                      "alpha beta gamma",
                      flag);
}

/** Choose the cell of F: that of the reflections, otherwise that of the model, otherwise
 * the typed cell. */
static nb_status choose_cell(nb_factor_files *m, const nb_crystal *crystal,
                             const nb_hooks *hooks, nb_error *err)
{
    double typed[6], *of_model = m->model.cell, *of_list = m->list.cell;
    const char *flag = m->list_flag ? m->list_flag : m->model_flag;
    const char *path = m->list_path ? m->list_path : m->model_path;
    if (crystal)
        nb_factor_cell_of(crystal, typed);
    if (crystal)
        memcpy(m->given_cell, typed, sizeof typed);
    if (m->model_path && !(of_model[0] > 0)) {
        if (!crystal)
            return no_cell(m->model_path, m->model_flag, err);
        memcpy(of_model, typed, sizeof typed);
        m->needs_cell = 1;
    }
    if (m->list_path && !(of_list[0] > 0)) {
        if (m->hkl.rows && !crystal)
            return nb_fail_at(
                err, NB_ERR_INPUT, path, 0,
                "a list has no unit cell: add -cell a b c alpha beta gamma");
        if (!crystal && !m->model_path)
            return no_cell(path, flag, err);
        memcpy(of_list, crystal ? typed : of_model, sizeof typed);
        m->cell_is_typed = crystal != NULL;
        m->needs_cell |= crystal && (!m->hkl.rows || m->settings.value.space_group[0] ||
                                     m->settings.value.fill == NB_FILL_SHELL);
    }
    memcpy(m->cell, m->list_path ? of_list : of_model, sizeof m->cell);
    if (m->model_path && m->list_path && differs(of_model, m->cell))
        nb_notice(hooks, "%s and %s have different cells; that of %s is used",
                  m->model_path, m->list_path, path);
    return NB_OK;
}

static void be_P1(nb_symmetry *sg)
{
    memset(sg, 0, sizeof *sg);
    sg->count = 1;
    sg->ops[0].R[0] = sg->ops[0].R[4] = sg->ops[0].R[8] = 1;
    memcpy(sg->name, "P 1", 4);
}

/** Choose the space group of a file: the typed group, otherwise that of the file,
 * otherwise P 1. */
static nb_status choose_symmetry(nb_factor_files *m, const char *path, nb_symmetry *own,
                                 const double cell[6], const nb_hooks *hooks,
                                 nb_error *err)
{
    nb_error why = {0};
    if (m->settings.value.space_group[0]) {
        nb_status st = nb_symmetry_find(m->settings.value.space_group, cell, own, &why);
        if (st)
            return nb_fail(err, st, "-sg %s: %s", m->settings.value.space_group,
                           why.message);
    }
    if (!own->count && own->name[0])
        return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                          "unknown space group '%s': name it with -sg", own->name);
    if (!own->count) {
        nb_notice(hooks, "%s names no space group: P 1 is used; type -sg for another",
                  path);
        be_P1(own);
    }
    if (own == &m->model.symmetry && m->model.kind == NB_STRUCTURE_SMALL) {
        nb_take_multiplicities(&m->model);
        nb_choose_origin(&m->model);
    }
    if (own->note[0])
        nb_notice(hooks, "%s: %s", path, own->note);
    return NB_OK;
}

static nb_status choose_symmetries(nb_factor_files *m, const nb_hooks *hooks,
                                   nb_error *err)
{
    nb_status st = NB_OK;
    if (m->model_path)
        st = choose_symmetry(m, m->model_path, &m->model.symmetry, m->model.cell, hooks,
                             err);
    if (!st && m->list_path && !m->hkl.rows)
        st = choose_symmetry(m, m->list_path, &m->list.symmetry, m->cell, hooks, err);
    if (!st && m->hkl.rows && m->settings.value.space_group[0])
        st = choose_symmetry(m, m->list_path, &m->list.symmetry, m->cell, hooks, err);
    m->symmetry = m->list_path ? m->list.symmetry : m->model.symmetry;
    return st;
}

/** Note which columns of a reflection file are used. */
static void say_columns(const nb_factor_files *m, const nb_hooks *hooks)
{
    char columns[200];
    if (!m->list_path || m->hkl.rows)
        return;
    nb_columns_describe(&m->list, &m->columns, columns, sizeof columns);
    nb_notice(hooks, "%s: %s %s, taken as %s", m->list_path,
              m->columns.minus >= 0 || m->columns.difference >= 0 || m->columns.phase >= 0
                  ? "columns"
                  : "column",
              columns,
              m->columns.intensities ? "intensities in electrons^2"
                                     : "amplitudes in electrons");
}

/** Check that the folders of -dump_mtz and -dump_hkl exist, before F are calculated. */
static nb_status check_folders(const nb_config *cfg, nb_error *err)
{
    const char *const paths[] = {cfg->dump_mtz_file, cfg->dump_hkl_file};
    static const char *const flags[] = {"-dump_mtz", "-dump_hkl"};
    char folder[NB_PATH_MAX];
    struct stat there;
    for (int i = 0; i < 2; i++) {
        const char *slash = strrchr(paths[i], '/');
        if (!slash)
            continue;
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - paths[i]) + 1, paths[i]);
        if (stat(folder, &there) != 0 || !S_ISDIR(there.st_mode))
            return nb_fail(err, NB_ERR_IO,
                           "%s %s cannot be written: its folder does not exist", flags[i],
                           paths[i]);
    }
    return NB_OK;
}

static nb_status load(nb_factor_files *m, const nb_crystal *crystal,
                      const nb_hooks *hooks, nb_error *err)
{
    nb_status st;
    if ((st = check_folders(&m->settings.value, err)) || (st = read_fprime(m, err)) ||
        (st = read_one(m, "-pdb", m->settings.value.pdb_file, err)) ||
        (st = read_one(m, "-cif", m->settings.value.cif_file, err)) ||
        (st = read_one(m, "-mtz", m->settings.value.mtz_file, err)) ||
        (st = read_hkl(m, err)) || (st = choose_cell(m, crystal, hooks, err)) ||
        (st = choose_symmetries(m, hooks, err)))
        return st;
    say_columns(m, hooks);
    return NB_OK;
}

static void free_files(void *object)
{
    nb_factor_files *m = object;
    nb_structure_free(&m->model);
    nb_reflection_file_free(&m->list);
    nb_hkl_list_free(&m->hkl);
    nb_fprime_free(&m->typed);
    nb_fprime_free(&m->curves);
    nb_config_drop(&m->asked);
}

size_t nb_factor_files_bytes(const nb_factor_files *m)
{
    return sizeof *m + m->hkl.count * sizeof *m->hkl.rows +
           m->list.count * (size_t)m->list.n_columns * sizeof(double);
}

nb_status nb_factor_files_load(const nb_config *cfg, const nb_crystal *crystal,
                               const nb_hooks *hooks, nb_factor_files **out, nb_error *err)
{
    nb_factor_files *m = nb_shared_new(sizeof *m, free_files, "structure factors", err);
    nb_status st;
    *out = NULL;
    if (!m)
        return NB_ERR_NOMEM;
    nb_config_copy(&m->asked, cfg);
    nb_resolve(&m->asked, &m->settings);
    m->hash = NB_HASH_START;
    st = load(m, crystal, hooks, err);
    m->settings.value.arrays = NULL;
    m->settings.value.detector = NULL;
    if (st)
        nb_shared_drop(m);
    else
        *out = m;
    return st;
}
