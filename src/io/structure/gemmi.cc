/* SPDX-License-Identifier: MIT */
/* The only file that includes gemmi. Its functions keep no data and let no exception
 * out. Source: M. Wojdyr, J. Open Source Softw. 7, 4200 (2022). Version 0.5.7
 * has only headers; from 0.6 on a part is a library. */
#define USE_STD_SNPRINTF           /* 0.5: without stb_sprintf */
#define GEMMI_WRITE_IMPLEMENTATION /* 0.5: the writer of MTZ files is in the header */
#include <gemmi/cif.hpp>
#include <gemmi/fprime.hpp>
#include <gemmi/it92.hpp>
#include <gemmi/mtz.hpp>
#include <gemmi/pdb.hpp>
#include <gemmi/solmask.hpp>
#include <gemmi/symmetry.hpp>
#include <gemmi/version.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
#include "../../base/c_locale.h"
#include "../../base/error.h"
#include "../../base/memory.h"
#include "gemmi.h"
#include "structure_parts.h"
}

namespace cif = gemmi::cif;
using std::string;

namespace
{

/* Exception for an error that job.err already describes. */
struct told {
    nb_status status;
};

/* Name and error of a call. */
struct job {
    const char *name; /* start of the messages */
    nb_error *err;

    void check(nb_status status) const
    {
        if (status)
            throw told{status};
    }
    template <class T> T *allocate(size_t count, const char *what) const
    {
        void *memory = nb_alloc(count, sizeof(T), what, err);
        if (!memory)
            throw told{NB_ERR_NOMEM};
        return static_cast<T *>(memory);
    }
};

/* Fail with gemmi's message in one line. It may begin with "NAME:LINE:COLUMN". */
nb_status fail_with(const job &j, const char *what)
{
    const size_t name = std::strlen(j.name);
    char text[256], *end, *to = text;
    long line = 0;
    if (!std::strncmp(what, j.name, name) && what[name] == ':') {
        line = std::strtol(what + name + 1, &end, 10);
        what = end + std::strspn(end, ":0123456789() ");
    }
    for (; *what && to < text + sizeof text - 1; what++)
        *to++ = *what < ' ' || *what > '~' ? ' ' : *what;
    *to = '\0';
    return nb_fail_at(j.err, NB_ERR_INPUT, j.name, line, "%s (gemmi %s)", text,
                      GEMMI_VERSION);
}

template <class Work> nb_status guarded(const job &j, const Work &work) noexcept
{
    try {
        work();
        return NB_OK;
    } catch (const told &error) {
        return error.status;
    } catch (const std::bad_alloc &) {
        return nb_fail_at(j.err, NB_ERR_NOMEM, j.name, 0, "out of memory");
    } catch (const std::exception &error) {
        return fail_with(j, error.what());
    } catch (...) {
        return fail_with(j, "unknown error");
    }
}

template <size_t n> void copy_text(char (&out)[n], const string &text)
{
    std::snprintf(out, n, "%s", text.c_str());
}

/* --- space groups -------------------------------------------------------------------------- */
void take_group(const job &j, const gemmi::GroupOps &group, const string &name,
                nb_symmetry *out)
{
    for (gemmi::Op op : group) {
        if (out->count >= NB_SYMOPS_MAX)
            throw std::length_error("too many operators: " + name);
        nb_symop *to = &out->ops[out->count++];
        for (int i = 0; i < 9; i++)
            to->R[i] = static_cast<int8_t>(op.rot[i / 3][i % 3] / gemmi::Op::DEN);
        for (int i = 0; i < 3; i++)
            to->t[i] = static_cast<int8_t>((op.tran[i] % 24 + 24) % 24);
    }
    j.check(nb_symmetry_complete(out, j.name, j.err));
    copy_text(out->name, name);
}

gemmi::GroupOps group_of(const nb_symmetry *sg)
{
    std::vector<gemmi::Op> ops(static_cast<size_t>(sg->count), gemmi::Op::identity());
    for (size_t n = 0; n < ops.size(); n++) {
        for (int i = 0; i < 9; i++)
            ops[n].rot[i / 3][i % 3] = sg->ops[n].R[i] * gemmi::Op::DEN;
        for (int i = 0; i < 3; i++)
            ops[n].tran[i] = sg->ops[n].t[i];
    }
    return gemmi::split_centering_vectors(ops);
}

/* Find an H-M symbol or a number with the axes of the cell; NULL if unknown. */
const gemmi::SpaceGroup *find_group(const string &text, const double *cell)
{
    const bool has_cell = cell && cell[0] > 0;
    const double alpha = has_cell ? cell[3] : 0, gamma = has_cell ? cell[5] : 0;
    const gemmi::SpaceGroup *group = gemmi::find_spacegroup_by_name(text, alpha, gamma);
    if (group && group->ext == 'H' && text.find(':') == string::npos)
        group = gemmi::find_spacegroup_by_name(group->hm, alpha, gamma);
    return group;
}

void take_symbol(const job &j, const string &text, const double *cell, nb_symmetry *out)
{
    const gemmi::SpaceGroup *group = find_group(text, cell);
    if (!group)
        throw told{nb_fail_at(j.err, NB_ERR_INPUT, j.name, 0,
                              "unknown space group '%.40s'", text.c_str())};
    take_group(j, group->operations(), group->xhm(), out);
}

/* --- CIF ----------------------------------------------------------------------------------- */
/* True for the categories of structures and reflections. */
bool is_wanted(const string &tag)
{
    for (const char *start : {"_atom_site", "_refln", "_cell", "_symmetry",
                              "_space_group", "_struct_ncs_oper.", "_diffrn_refln",
                              "_diffrn_radiation_wave", "_chemical_formula"})
        if (gemmi::istarts_with(tag, start))
            return true;
    return false;
}

/* Copies tags and values, one after the other, into the memory of *out. */
struct cif_copy {
    nb_cif *out;
    char *text;
    const char **value;

    const char *copy(const string &from)
    {
        text += from.size() + 1;
        return std::strcpy(text - from.size() - 1, from.c_str());
    }
    void loop(const string *tags, size_t width, const string *from, size_t count,
              int block, long line)
    {
        if (!width || !is_wanted(tags[0]))
            return;
        for (size_t i = 0; i < width; i++)
            out->columns[out->n_columns++] = {copy(tags[i]), block, line,
                                              count / width, width, value + i};
        for (size_t i = 0; i < count; i++)
            *value++ = cif::is_null(from[i]) ? nullptr : copy(cif::as_string(from[i]));
    }
};

void copy_cif(const job &j, const cif::Document &doc, size_t n, nb_cif *out)
{
    size_t columns = 0, values = 0;
    for (const cif::Block &block : doc.blocks)
        for (const cif::Item &item : block.items) {
            const bool is_loop = item.type == cif::ItemType::Loop;
            columns += is_loop ? item.loop.tags.size() : 1;
            values += is_loop ? item.loop.values.size() : 1;
        }
    out->name = j.name;
    out->n_blocks = static_cast<int>(doc.blocks.size());
    out->columns = j.allocate<nb_cif_column>(columns, "items of a CIF");
    out->values = j.allocate<const char *>(values, "values of a CIF");
    /* a zero byte takes the place of the blank after each tag and value */
    out->text = j.allocate<char>(n + 1, "text of a CIF");
    cif_copy copy = {out, out->text, out->values};
    for (int block = 0; block < out->n_blocks; block++)
        for (const cif::Item &item : doc.blocks[static_cast<size_t>(block)].items) {
            if (item.type == cif::ItemType::Pair)
                copy.loop(&item.pair[0], 1, &item.pair[1], 1, block, item.line_number);
            else if (item.type == cif::ItemType::Loop)
                copy.loop(item.loop.tags.data(), item.loop.tags.size(),
                          item.loop.values.data(), item.loop.values.size(), block,
                          item.line_number);
        }
}

/* --- PDB ----------------------------------------------------------------------------------- */
void take_atom(const gemmi::Atom &from, int model, nb_atom *atom)
{
    const gemmi::SMat33<float> &U = from.aniso;
    const double six[6] = {U.u11, U.u22, U.u33, U.u12, U.u13, U.u23};
    std::memcpy(atom->U, six, sizeof six);
    atom->has_U = U.nonzero();
    atom->Z = nb_element_number(from.element.name());
    atom->model = model;
    atom->serial = from.serial;
    atom->is_alternate = from.altloc != '\0';
    copy_text(atom->name, from.name);
    copy_text(atom->element, from.element.name());
}

/* Take the atoms in the order of the file. */
void take_atoms(const gemmi::Structure &st, nb_structure *out)
{
    size_t taken = 0;
    for (const gemmi::Model &model : st.models) {
        for (const gemmi::Chain &chain : model.chains)
            for (const gemmi::Residue &residue : chain.residues)
                for (const gemmi::Atom &atom : residue.atoms)
                    if (taken < out->n_atoms)
                        take_atom(atom, out->n_models, &out->atoms[taken++]);
        out->n_models += !model.chains.empty();
    }
}

void take_ncs(const job &j, const gemmi::Structure &st, nb_structure *out)
{
    out->ncs = j.allocate<nb_ncs>(st.ncs.size(), "NCS operators");
    for (const gemmi::NcsOp &op : st.ncs) {
        nb_ncs *to = &out->ncs[out->n_ncs++];
        for (int i = 0; i < 9; i++)
            to->R[i] = op.tr.mat[i / 3][i % 3];
        for (int i = 0; i < 3; i++)
            to->t[i] = op.tr.vec.at(i);
        to->is_given = op.given;
    }
}

void take_cell(const job &j, const gemmi::UnitCell &from, double cell[6])
{
    const double six[6] = {from.a, from.b, from.c, from.alpha, from.beta, from.gamma};
    std::memcpy(cell, six, sizeof six);
    j.check(nb_file_cell_check(cell, j.name, j.err));
}

/* --- MTZ ----------------------------------------------------------------------------------- */
string mtz_bytes(const nb_reflection_file *file, const char *dataset)
{
    gemmi::Mtz mtz(true);
    const double *c = file->cell;
    string bytes;
    mtz.spacegroup = &gemmi::get_spacegroup_p1();
    mtz.set_cell_for_all(gemmi::UnitCell(c[0], c[1], c[2], c[3], c[4], c[5]));
    mtz.add_dataset(dataset).wavelength = file->wavelength;
    mtz.sort_order = {{1, 2, 3, 0, 0}};
    for (int i = 0; i < file->n_columns; i++)
        mtz.add_column(file->columns[i].label, file->columns[i].type, 1, -1, false);
    mtz.nreflections = static_cast<int>(file->count);
    mtz.data.reserve(mtz.columns.size() * file->count);
    for (size_t row = 0; row < file->count; row++) {
        mtz.data.insert(mtz.data.end(), file->hkl[row], file->hkl[row] + 3);
        for (int i = 0; i < file->n_columns; i++)
            mtz.data.push_back(file->columns[i].value[row]);
    }
    mtz.write_to_string(bytes);
    return bytes;
}

} // namespace
/* --- functions for C --------------------------------------------------------------- */
nb_status nb_cif_parse(const char *data, size_t n, const char *name, nb_cif *out,
                       nb_error *err)
{
    const job j = {name, err};
    *out = nb_cif{};
    return guarded(j, [&] { copy_cif(j, cif::read_memory(data, n, name), n, out); });
}

nb_status nb_pdb_parse(const char *text, size_t n, const char *name, nb_structure *out,
                       nb_error *err)
{
    const job j = {name, err};
    return guarded(j, [&] {
        const auto st = gemmi::read_pdb_from_memory(text, n, name);
        take_cell(j, st.cell, out->cell);
        copy_text(out->symmetry.name, st.spacegroup_hm);
        take_atoms(st, out);
        take_ncs(j, st, out);
    });
}

nb_status nb_mtz_parse(const char *data, size_t n, const char *name,
                       nb_reflection_file *out, nb_error *err)
{
    const job j = {name, err};
    return guarded(j, [&] {
        gemmi::Mtz mtz;
        gemmi::MemoryStream stream(data, n);
        mtz.read_stream(stream, true);
        take_cell(j, mtz.get_cell(), out->cell);
        j.check(nb_mtz_symmetry(mtz.spacegroup_name.c_str(), name, out, err));
        out->is_dump = mtz.datasets.size() && mtz.datasets.back().dataset_name == NB_DUMP;
        out->count = static_cast<size_t>(mtz.nreflections);
        out->columns = j.allocate<nb_column>(mtz.columns.size(), "columns");
        for (const gemmi::Mtz::Column &column : mtz.columns) {
            nb_column *to = &out->columns[out->n_columns++];
            copy_text(to->label, column.label);
            to->type = column.type;
            take_cell(j, mtz.get_cell(column.dataset_id), to->cell);
            for (const auto &s : mtz.datasets)
                to->wavelength = s.id == column.dataset_id ? s.wavelength : to->wavelength;
        }
        j.check(nb_mtz_fill(mtz.data.data(), mtz.valm, name, out, err));
    });
}

nb_status nb_symmetry_symbol(const char *text, const double cell[6], const char *name,
                             nb_symmetry *out, nb_error *err)
{
    const job j = {name, err};
    return guarded(j, [&] { take_symbol(j, text, cell, out); });
}

nb_status nb_symmetry_hall(const char *text, const char *name, nb_symmetry *out,
                           nb_error *err)
{
    const job j = {name, err};
    return guarded(j, [&] { take_group(j, gemmi::symops_from_hall(text), text, out); });
}

void nb_symmetry_give_name(nb_symmetry *sg)
{
    nb_error ignored;
    guarded(job{"", &ignored}, [&] {
        const gemmi::SpaceGroup *group = gemmi::find_spacegroup_by_ops(group_of(sg));
        copy_text(sg->name, group ? group->xhm() : "operators of the file");
    });
}

int nb_element_f0(int Z, double abc[9])
{
    if (Z < 1 || Z > static_cast<int>(gemmi::El::Cf))
        return 0;
#if __has_include(<gemmi/riding_h.hpp>)
    const auto &coefficients = gemmi::IT92<double>::get(static_cast<gemmi::El>(Z), 0);
#else
    const auto &coefficients = gemmi::IT92<double>::get(static_cast<gemmi::El>(Z));
#endif
    for (size_t i = 0; i < 9; i++)
        abc[i] = coefficients.coefs[i];
    return 1;
}

void nb_element_anomalous(int Z, double energy_eV, double *f1, double *f2)
{
    *f1 = *f2 = 0;
    if (Z >= 3 && Z <= 92)
        gemmi::cromer_liberman_for_array(Z, 1, &energy_eV, f1, f2);
}

double nb_element_radius(int Z)
{
    return static_cast<double>(gemmi::cctbx_vdw_radius(static_cast<gemmi::El>(Z)));
}

nb_status nb_mtz_write(const nb_reflection_file *file, const char *dataset, char **bytes,
                       size_t *size, nb_error *err)
{
    const job j = {"MTZ", err};
    *bytes = nullptr;
    *size = 0;
    NB_IN_C_LOCALE; /* 0.5 formats numbers with the C library */
    return guarded(j, [&] {
        const string text = mtz_bytes(file, dataset);
        *bytes = j.allocate<char>(text.size(), "an MTZ file");
        std::memcpy(*bytes, text.data(), text.size());
        *size = text.size();
    });
}

const char *nb_gemmi_version(void)
{
    return GEMMI_VERSION;
}
