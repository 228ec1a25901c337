/* SPDX-License-Identifier: MIT */
/** Parts of the functions of gemmi.h. gemmi.cc copies gemmi's results to flat arrays. The
 * other files are needed because gemmi reads any text as a number in a PDB file, keeps no
 * line numbers, and trusts the sizes in the header of an MTZ file. */
#ifndef NB_IO_STRUCTURE_PARTS_H
#define NB_IO_STRUCTURE_PARTS_H

#include "gemmi.h"

int nb_is_letter(char c); /* True for a to z and A to Z. */

/** Read a model from a PDB file. Free *out with nb_structure_free, also on error.
 * Errors: NB_ERR_INPUT with the line, NB_ERR_NOMEM. Source: wwPDB format 3.3. */
nb_status nb_pdb_model(const char *data, size_t n, const char *name, nb_structure *out,
                       nb_error *err);

/** Check the sizes in the header of an MTZ file before memory is allocated. Sets
 * symmetry operators, and is_unmerged if there are batches. *size is cut after END, since
 * gemmi 0.5.7 reads lines of history after END past its buffer. Errors: NB_ERR_INPUT. */
nb_status nb_mtz_check(const char *data, size_t *size, const char *name,
                       nb_reflection_file *out, nb_error *err);

/** Complete the operators in out->symmetry to a group. Without operators use `symbol`. */
nb_status nb_mtz_symmetry(const char *symbol, const char *name, nb_reflection_file *out,
                          nb_error *err);
/** Copy a table [count][n_columns] of an MTZ file: H K L first, then values. Sets
 * is_unmerged if a column is typical of unmerged files and an index repeats. */
nb_status nb_mtz_fill(const float *table, float missing, const char *name,
                      nb_reflection_file *out, nb_error *err);

/** Parse "x, y+1/2, -z+0.25", up to `length` bytes or a NUL; 0 for another text. */
int nb_symop_parse(const char *text, size_t length, nb_symop *out);

/** Determinant of the rotation. */
int nb_symop_determinant(const nb_symop *op);

/** Complete the operators of `sg` to a group: the identity first, each operator once.
 * Errors: NB_ERR_INPUT (no symmetry of a lattice, more than NB_SYMOPS_MAX operators). */
nb_status nb_symmetry_complete(nb_symmetry *sg, const char *name, nb_error *err);

/** Z of the element at the start of a label in a small-molecule CIF ("C12", "OW1"); with
 * is_type, of a symbol with a charge ("Fe3+"). 0 if unknown. */
int nb_element_of_label(const char *label, int is_type);

/** Check that a cell has a volume. cell[0] becomes 0 for a missing cell (zeros) and for
 * the dummy cell 1 1 1 90 90 90. Errors: NB_ERR_INPUT. */
nb_status nb_file_cell_check(double cell[6], const char *name, nb_error *err);

/* --- CIF ----------------------------------------------------------------------------------- */
/** One item of a CIF: a column of a loop, or a single value. */
typedef struct nb_cif_column {
    const char *tag;
    int block;
    long line;          /* number of the line where the item or its loop begins */
    size_t rows, width; /* value of row i: value[i * width]; NULL for '?' and '.' */
    const char *const *value;
} nb_cif_column;

/** Items of a CIF for structures and reflections, in the order of the file. */
typedef struct nb_cif {
    const char *name;       /* name of the file */
    const char *data, *end; /* bytes of the file */
    nb_cif_column *columns; /* owned, as are values and text */
    size_t n_columns;
    int n_blocks;
    const char **values;
    char *text;
} nb_cif;

void nb_cif_free(nb_cif *cif);
/** True if the word p..end is this tag in any case; _ in `tag` stands for _ or a dot. */
int nb_cif_is_tag(const char *p, const char *end, const char *tag);
/** Item of this tag in a block, or NULL. */
const nb_cif_column *nb_cif_find(const nb_cif *cif, int block, const char *tag);
/** First block that has this item, or -1. */
int nb_cif_block_with(const nb_cif *cif, const char *tag);
/** First value that the items `tags` (blanks between) have in row 0, or NULL. */
const char *nb_cif_first(const nb_cif *cif, int block, const char *tags);
/** Read a number with or without an uncertainty: "1.23(4)"; 0 for another text. */
int nb_cif_number(const char *text, double *value);
/** Line of row 0 of a loop in which every row is one line; 0 for another loop. */
long nb_cif_first_line(const nb_cif *cif, const nb_cif_column *column);
/** Read cell and symmetry of a block; if it has no cell, of the first block with a
 * cell. */
nb_status nb_cif_crystal(const nb_cif *cif, int block, double cell[6], nb_symmetry *out,
                         nb_error *err);
nb_status nb_cif_model(const nb_cif *cif, nb_structure *out, nb_error *err);
nb_status nb_cif_reflections(const nb_cif *cif, nb_reflection_file *out, nb_error *err);

/* --- src/io/structure/gemmi.cc; NB_ERR_UNSUPPORTED without gemmi -------------------------------------- */
/** Parse a CIF. Free *out with nb_cif_free, also on error. *out points to `name`. */
nb_status nb_cif_parse(const char *data, size_t n, const char *name, nb_cif *out,
                       nb_error *err);
/** Read cell, space-group symbol and NCS of a PDB file, and complete out->atoms. */
nb_status nb_pdb_parse(const char *text, size_t n, const char *name, nb_structure *out,
                       nb_error *err);
/** Read an MTZ file that nb_mtz_check accepted. */
nb_status nb_mtz_parse(const char *data, size_t n, const char *name,
                       nb_reflection_file *out, nb_error *err);
/** Find the operators of a Hall symbol. Errors: NB_ERR_INPUT for an unknown symbol. */
nb_status nb_symmetry_hall(const char *text, const char *name, nb_symmetry *out,
                           nb_error *err);
/** Find the operators of an H-M symbol or number. Errors: as nb_symmetry_hall. */
nb_status nb_symmetry_symbol(const char *text, const double cell[6], const char *name,
                             nb_symmetry *out, nb_error *err);
/** Find the operators of a symbol in a file. For an unknown symbol, count is 0. */
nb_status nb_symmetry_of_file(const char *text, int is_hall, const double cell[6],
                              const char *name, nb_symmetry *out, nb_error *err);
/** Set sg->note if the operators of a file differ from those of its symbol or number. */
void nb_symmetry_beside(nb_symmetry *sg, const char *text, const double cell[6],
                        const char *name);
/** Set the name of a group from the operators. */
void nb_symmetry_give_name(nb_symmetry *sg);

#endif
