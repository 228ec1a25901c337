/* SPDX-License-Identifier: MIT */
/* Recognize a file of atoms or reflections by its bytes, and parse it. */
#include <string.h>
#include <strings.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "gemmi.h"
#include "structure_parts.h"

/* --- CIF ----------------------------------------------------------------------------------- */
enum { HAS_CARTN = 1, HAS_FRACT = 2, HAS_SITE = 4, HAS_REFLECTIONS = 8 };

static int is_blank(char c)
{
    return nb_text_blank(c) || c == '\n';
}

static int meaning_of(const char *p, const char *end)
{
    static const struct {
        const char *tag;
        int meaning;
    } tags[] = {
        {"_atom_site.Cartn_x", HAS_CARTN},   {"_atom_site_fract_x", HAS_FRACT},
        {"_atom_site.id", HAS_SITE},         {"_atom_site_label", HAS_SITE},
        {"_refln_index_h", HAS_REFLECTIONS}, {"_diffrn_refln_index_h", HAS_REFLECTIONS}};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (nb_cif_is_tag(p, end, tags[i].tag))
            return tags[i].meaning;
    return 0;
}

static const char *line_end(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline : end;
}

/* Skip a text field; p points to its ; at the start of a line. */
static const char *skip_field(const char *p, const char *end)
{
    while ((p = line_end(p, end)) < end)
        if (++p < end && *p == ';')
            return p + 1;
    return end;
}

/* HAS_ bits of the tags of a CIF; tags in text fields and comments are ignored. */
static int tags_of(const char *start, const char *end)
{
    int found = 0;
    for (const char *p = start; p < end;) {
        if (is_blank(*p))
            p++;
        else if (*p == '#')
            p = line_end(p, end);
        else if (*p == ';' && (p == start || p[-1] == '\n'))
            p = skip_field(p, end);
        else {
            const char *word = p;
            while (p < end && !is_blank(*p))
                p++;
            if (*word == '_')
                found |= meaning_of(word, p);
        }
    }
    return found;
}

static int begins(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && strncasecmp(p, word, n) == 0;
}

static int is_cif(const char *p, const char *end)
{
    while (p < end && (is_blank(*p) || *p == '#'))
        p = *p == '#' ? line_end(p, end) : p + 1;
    return begins(p, end, "data_") || begins(p, end, "loop_") || begins(p, end, "_");
}

static nb_content cif_content(const char *p, const char *end)
{
    const int found = tags_of(p, end);
    const int is_model = found & (HAS_CARTN | HAS_FRACT | HAS_SITE);
    if (is_model && found & HAS_REFLECTIONS)
        return NB_CONTENT_MODEL_AND_REFLECTIONS;
    if (found & HAS_CARTN)
        return NB_CONTENT_MMCIF;
    if (is_model)
        return NB_CONTENT_SMALL;
    return found ? NB_CONTENT_REFLECTION_CIF : NB_CONTENT_CIF_OTHER;
}

/* --- PDB ----------------------------------------------------------------------------------- */
static int is_pdb(const char *p, const char *end)
{
    static const char *const records[] = {"atom  ", "hetatm", "cryst1", "header",
                                          "remark", "model ", "title ", "compnd",
                                          "scale1", "origx1", "expdta"};
    int lines = 0;
    for (; p < end && lines < 1000; p = line_end(p, end) + 1, lines++)
        for (size_t i = 0; i < sizeof records / sizeof *records; i++)
            if (begins(p, end, records[i]))
                return 1;
    return 0;
}

nb_content nb_content_of(const char *data, size_t n)
{
    const char *end = data + n, *p = nb_text_body(data, end);
    if (n >= 4 && !memcmp(data, "MTZ ", 4))
        return NB_CONTENT_MTZ;
    if (is_cif(p, end))
        return cif_content(p, end);
    return is_pdb(p, end) ? NB_CONTENT_PDB : NB_CONTENT_UNKNOWN;
}

/* --- memory of models and reflection files --- */

void nb_structure_free(nb_structure *structure)
{
    nb_free(structure->atoms);
    nb_free(structure->ncs);
    memset(structure, 0, sizeof *structure);
}

void nb_reflection_file_free(nb_reflection_file *file)
{
    for (int i = 0; i < file->n_columns; i++)
        nb_free(file->columns[i].value);
    nb_free(file->columns);
    nb_free(file->hkl);
    nb_free(file->set);
    nb_free(file->set_name);
    memset(file, 0, sizeof *file);
}

/* --- parsers ------------------------------------------------------------------------------- */
/** Parse a CIF: a model into *model or, if model is NULL, reflections into *file. */
static nb_status parse_cif(const char *data, size_t n, const char *name,
                           nb_structure *model, nb_reflection_file *file, nb_error *err)
{
    nb_cif cif;
    const char *body = nb_text_body(data, data + n);
    nb_status st = nb_cif_parse(body, n - (size_t)(body - data), name, &cif, err);
    cif.data = data;
    cif.end = data + n;
    NB_TRY(model ? nb_cif_model(&cif, model, err) : nb_cif_reflections(&cif, file, err));
    nb_cif_free(&cif);
    return st;
}

/** True if the text (REMARK 3 or _refine.details) states that B lacks the TLS part. */
static int has_residual_B(const char *data, size_t n)
{
    static const char *const words[] = {"RESIDUAL B FACTORS ONLY", "RESIDUAL ONLY"};
    for (const char *p = data, *end = data + n;
         (p = memchr(p, 'R', (size_t)(end - p))) != NULL; p++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if ((size_t)(end - p) >= strlen(words[i]) &&
                memcmp(p, words[i], strlen(words[i])) == 0)
                return 1;
    return 0;
}

nb_status nb_structure_parse(const char *data, size_t n, const char *name,
                             nb_structure *out, nb_error *err)
{
    const nb_content content = nb_content_of(data, n);
    nb_status st;
    memset(out, 0, sizeof *out);
    if (content == NB_CONTENT_UNKNOWN || content == NB_CONTENT_MTZ)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "this is no PDB, mmCIF or small-molecule CIF file");
    st = content == NB_CONTENT_PDB ? nb_pdb_model(data, n, name, out, err)
                                   : parse_cif(data, n, name, out, NULL, err);
    out->has_residual_B = has_residual_B(data, n);
    if (st)
        nb_structure_free(out);
    return st;
}

static nb_status parse_mtz(const char *data, size_t n, const char *name,
                           nb_reflection_file *out, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_mtz_check(data, &n, name, out, err));
    return out->is_unmerged ? NB_OK : nb_mtz_parse(data, n, name, out, err);
}

nb_status nb_reflection_file_parse(const char *data, size_t n, const char *name,
                                   nb_reflection_file *out, nb_error *err)
{
    const nb_content content = nb_content_of(data, n);
    nb_status st;
    memset(out, 0, sizeof *out);
    if (content == NB_CONTENT_UNKNOWN || content == NB_CONTENT_PDB)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "this is no MTZ or structure-factor CIF file");
    st = content == NB_CONTENT_MTZ ? parse_mtz(data, n, name, out, err)
                                   : parse_cif(data, n, name, NULL, out, err);
    if (st)
        nb_reflection_file_free(out);
    return st;
}
