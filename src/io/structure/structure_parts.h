/* SPDX-License-Identifier: MIT */
/** Parts of gemmi.h.  Those of src/io/structure/gemmi.cc turn what gemmi parsed into flat arrays; the others are
 * what gemmi does not do: it takes any text for a number in a PDB file, keeps no line numbers, and
 * trusts the sizes in the header of an MTZ file. */
#ifndef NB_IO_STRUCTURE_PARTS_H
#define NB_IO_STRUCTURE_PARTS_H

#include "gemmi.h"

int nb_is_letter(char c); /* of the alphabet */

/** A model from a PDB file.  *out is the caller's (nb_structure_free), on error too.  Errors: NB_ERR_INPUT
 * with the line (a field that is no number), NB_ERR_NOMEM.  Source: wwPDB format 3.3. */
nb_status nb_pdb_model(const char *data, size_t n, const char *name, nb_structure *out,
                       nb_error *err);

/** Check the sizes in the header of an MTZ file before anything is allocated by them.  out->is_unmerged: it
 * has batches; out->symmetry: its operators, as written.  *size becomes that up to its END: in lines of
 * history behind it gemmi 0.5.7 reads beyond its buffer.  Errors: NB_ERR_INPUT. */
nb_status nb_mtz_check(const char *data, size_t *size, const char *name,
                       nb_reflection_file *out, nb_error *err);

/** Complete out->symmetry, the operators of an MTZ file, to a group; without operators the group is that of the symbol. */
nb_status nb_mtz_symmetry(const char *symbol, const char *name, nb_reflection_file *out,
                          nb_error *err);
/** Indices and values from the table [count][n_columns] of an MTZ file, whose first columns are H K L and go.
 * out->is_unmerged: a column marks such a file, and an index is there twice. */
nb_status nb_mtz_fill(const float *table, float missing, const char *name,
                      nb_reflection_file *out, nb_error *err);

/** "x, y+1/2, -z+0.25" of at most `length` bytes; 0 if it is none. */
int nb_symop_parse(const char *text, size_t length, nb_symop *out);

/** Of its rotation. */
int nb_symop_determinant(const nb_symop *op);

/** Complete the operators of `sg` to a group, the identity first, each one once.  Errors: NB_ERR_INPUT,
 * an operator that is no symmetry of a lattice, more than NB_SYMOPS_MOST. */
nb_status nb_symmetry_complete(nb_symmetry *sg, const char *name, nb_error *err);

/** Z of the element that a label of a small-molecule CIF begins with ("C12", "OW1"), or, is_type, that a
 * type with its charge is ("Fe3+"); 0 unknown. */
int nb_element_of_label(const char *label, int is_type);

/** The cell has a volume, or is none (cell[0] = 0); an edge of 0, and 1 1 1 90 90 90, become none.
 * Errors: NB_ERR_INPUT. */
nb_status nb_file_cell_check(double cell[6], const char *name, nb_error *err);

/* --- CIF ----------------------------------------------------------------------------------- */
/** One item of a CIF: a column of a loop, or a single value. */
typedef struct nb_cif_column {
    const char *tag;
    int block;
    long line;          /* where the item or its loop begins */
    size_t rows, width; /* value of row i: value[i width]; NULL: ? or . */
    const char *const *value;
} nb_cif_column;

/** The items that structures and reflections are made of, in the order of the file. */
typedef struct nb_cif {
    const char *name;       /* of the file */
    const char *data, *end; /* its bytes */
    nb_cif_column *columns; /* owned, as what they point to */
    size_t n_columns;
    int n_blocks;
    const char **values;
    char *text;
} nb_cif;

void nb_cif_free(nb_cif *cif);
/** Is the word p..end this tag?  Case does not count, and _ in `tag` stands for _ or a dot. */
int nb_cif_is_tag(const char *p, const char *end, const char *tag);
/** The item of such a tag.  NULL: none. */
const nb_cif_column *nb_cif_find(const nb_cif *cif, int block, const char *tag);
/** The first block that has this item; -1: none. */
int nb_cif_block_with(const nb_cif *cif, const char *tag);
/** The first of these items, with blanks between, that has a value in its first row, or NULL. */
const char *nb_cif_first(const nb_cif *cif, int block, const char *tags);
/** A number with its uncertainty: "1.23(4)"; 0 if it is none. */
int nb_cif_number(const char *text, double *value);
/** The line of row 0 of a loop whose every row is one line; 0 if it is not so. */
long nb_cif_first_line(const nb_cif *cif, const nb_cif_column *column);
/** Cell and symmetry of a block; cell and symmetry of the first block that has a cell if it has none. */
nb_status nb_cif_crystal(const nb_cif *cif, int block, double cell[6], nb_symmetry *out,
                         nb_error *err);
nb_status nb_cif_model(const nb_cif *cif, nb_structure *out, nb_error *err);
nb_status nb_cif_reflections(const nb_cif *cif, nb_reflection_file *out, nb_error *err);

/* --- src/io/structure/gemmi.cc; NB_ERR_UNSUPPORTED without gemmi -------------------------------------- */
/** *out is the caller's (nb_cif_free), on error too; it points to `name`. */
nb_status nb_cif_parse(const char *data, size_t n, const char *name, nb_cif *out,
                       nb_error *err);
/** Cell, symbol of the space group and NCS of a PDB file, and what the `out->n_atoms` atoms of `out` lack. */
nb_status nb_pdb_parse(const char *text, size_t n, const char *name, nb_structure *out,
                       nb_error *err);
/** What nb_mtz_check found good. */
nb_status nb_mtz_parse(const char *data, size_t n, const char *name,
                       nb_reflection_file *out, nb_error *err);
/** Errors: NB_ERR_INPUT, unknown. */
nb_status nb_symmetry_hall(const char *text, const char *name, nb_symmetry *out,
                           nb_error *err);
/** An H-M symbol or number.  Errors as above. */
nb_status nb_symmetry_symbol(const char *text, const double cell[6], const char *name,
                             nb_symmetry *out, nb_error *err);
/** A symbol that a file has; an unknown one is no error, since -sg may be typed. */
nb_status nb_symmetry_of_file(const char *text, int is_hall, const double cell[6],
                              const char *name, nb_symmetry *out, nb_error *err);
/** Notes in *sg, the operators of a file, if its symbol (or number) means others. */
void nb_symmetry_beside(nb_symmetry *sg, const char *text, const double cell[6],
                        const char *name);
/** Name a group by its operators. */
void nb_symmetry_give_name(nb_symmetry *sg);

#endif
