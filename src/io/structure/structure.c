/* SPDX-License-Identifier: MIT */
/* Models and reflection files, of any kind. */
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "gemmi.h"
#include "structure_parts.h"

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
static void take_records(const nb_pdb_text *text, nb_structure *out)
{
    for (size_t i = 0; i < text->count; i++) {
        const nb_pdb_record *record = &text->atoms[i];
        nb_atom *atom = &out->atoms[i];
        atom->occupancy = record->occupancy;
        atom->B = record->B;
        atom->serial = record->serial;
        atom->line = record->line;
        out->blank_occupancies += (size_t)record->blank_occupancy;
        out->blank_B += (size_t)record->blank_B;
    }
    out->has_frame = text->has_frame;
    memcpy(out->frame, text->frame, sizeof out->frame);
}

static nb_status parse_pdb(const char *data, size_t n, const char *name,
                           nb_structure *out, nb_error *err)
{
    nb_pdb_text text;
    nb_status status = nb_pdb_prepare(data, n, name, &text, err);
    if (status)
        return status;
    out->kind = NB_STRUCTURE_PDB;
    out->n_atoms = text.count;
    out->atoms = nb_alloc(text.count, sizeof *out->atoms, "atoms", err);
    status = out->atoms ? nb_pdb_parse(&text, name, out, err) : NB_ERR_NOMEM;
    if (!status && out->symmetry.name[0]) {
        char symbol[sizeof out->symmetry.name];
        memcpy(symbol, out->symmetry.name, sizeof symbol);
        status = nb_symmetry_of_file(symbol, 0, out->cell, name, &out->symmetry, err);
    }
    if (!status)
        take_records(&text, out);
    nb_pdb_text_free(&text);
    return status;
}

static nb_status parse_cif_model(const char *data, size_t n, const char *name,
                                 nb_structure *out, nb_error *err)
{
    nb_cif cif;
    const char *body = nb_text_body(data, data + n);
    nb_status status = nb_cif_parse(body, n - (size_t)(body - data), name, &cif, err);
    cif.data = data;
    cif.end = data + n;
    if (!status)
        status = nb_cif_model(&cif, out, err);
    nb_cif_free(&cif);
    return status;
}

nb_status nb_structure_parse(const char *data, size_t n, const char *name,
                             nb_structure *out, nb_error *err)
{
    nb_status status;
    memset(out, 0, sizeof *out);
    switch (nb_content_of(data, n)) {
    case NB_CONTENT_PDB:
        status = parse_pdb(data, n, name, out, err);
        break;
    case NB_CONTENT_UNKNOWN:
    case NB_CONTENT_MTZ:
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "this is no PDB, mmCIF or small-molecule CIF file");
    default:
        status = parse_cif_model(data, n, name, out, err);
    }
    if (status)
        nb_structure_free(out);
    return status;
}

static nb_status parse_mtz(const char *data, size_t n, const char *name,
                           nb_reflection_file *out, nb_error *err)
{
    nb_mtz mtz;
    nb_status status =
        nb_mtz_check(data, &n, name, &out->is_unmerged, &out->symmetry, err);
    if (status || out->is_unmerged > 0)
        return status;
    status = nb_mtz_parse(data, n, name, &mtz, err);
    if (!status)
        status = nb_mtz_reflections(&mtz, name, out, err);
    nb_mtz_free(&mtz);
    return status;
}

static nb_status parse_cif_reflections(const char *data, size_t n, const char *name,
                                       nb_reflection_file *out, nb_error *err)
{
    nb_cif cif;
    const char *body = nb_text_body(data, data + n);
    nb_status status = nb_cif_parse(body, n - (size_t)(body - data), name, &cif, err);
    if (!status)
        status = nb_cif_reflections(&cif, out, err);
    nb_cif_free(&cif);
    return status;
}

nb_status nb_reflection_file_parse(const char *data, size_t n, const char *name,
                                   nb_reflection_file *out, nb_error *err)
{
    nb_status status;
    memset(out, 0, sizeof *out);
    switch (nb_content_of(data, n)) {
    case NB_CONTENT_MTZ:
        status = parse_mtz(data, n, name, out, err);
        break;
    case NB_CONTENT_UNKNOWN:
    case NB_CONTENT_PDB:
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "this is no MTZ or structure-factor CIF file");
    default:
        status = parse_cif_reflections(data, n, name, out, err);
    }
    if (status)
        nb_reflection_file_free(out);
    return status;
}
