/* SPDX-License-Identifier: MIT */
/** Models, reflection files, space groups and atomic tables: bytes in, flat arrays out. gemmi
 * stands behind src/io/structure/gemmi.cc; nothing else includes it. Without it at build time every call
 * fails with NB_ERR_UNSUPPORTED and a message that names the package. */
#ifndef NB_IO_GEMMI_H
#define NB_IO_GEMMI_H

#include <stddef.h>
#include <stdint.h>

#include "../../nanobragg.h"

enum {
    NB_SYMOPS_MOST = 192,
    NB_INDEX_MOST = 10000 /* of |h|, |k|, |l| in a file */
};

/** x' = R x + t/24, of fractional coordinates. R row by row. */
typedef struct nb_symop {
    int8_t R[9], t[3];
} nb_symop;

/** A space group: every operator, centring included; the first is the identity. */
typedef struct nb_symmetry {
    int count; /* 0: nothing is said, or `name` is a symbol that is unknown */
    nb_symop ops[NB_SYMOPS_MOST];
    char name[40];      /* H-M symbol, or "operators of the file" */
    int is_origin_open; /* the symbol has two origins and names none; this is the first */
    char note[240];     /* what is doubtful of it, as one line; "": nothing */
} nb_symmetry;

typedef struct nb_atom {
    double r[3];      /* A, Cartesian; NB_STRUCTURE_SMALL: fractional */
    double occupancy; /* as written; blank: 1 */
    double B;         /* A^2; blank: 0 */
    double U[6]; /* 11 22 33 12 13 23, A^2: Cartesian axes; NB_STRUCTURE_SMALL: on the axes a*_i */
    int has_U;        /* U replaces B */
    int Z;            /* D counts as 1; 0: unknown element */
    int model;        /* from 0, in the order of the file */
    int is_alternate; /* an alternative conformation */
    int site_order; /* NB_STRUCTURE_SMALL: operators that keep the site, as the file says; 0: unknown */
    int site_multiplicity; /* of the file, 0: unknown; positions in the cell, or site_order (factors/factors.h) */
    int is_general; /* disordered about a special position (negative group of SHELXL): not on it */
    int serial;
    int line; /* of the file; 0 unknown */
    char name[12], element[4];
} nb_atom;

/** x -> R x + t of Cartesian coordinates, A. */
typedef struct nb_ncs {
    double R[9], t[3];
    int is_given; /* the coordinates have these copies already */
} nb_ncs;

typedef enum {
    NB_STRUCTURE_PDB,
    NB_STRUCTURE_MMCIF,
    NB_STRUCTURE_SMALL
} nb_structure_kind;

/** A model as its file has it. */
typedef struct nb_structure {
    nb_structure_kind kind;
    double cell[6]; /* A, deg; cell[0] = 0: none, or the dummy 1 1 1 90 90 90 */
    int has_frame;
    double frame[12]; /* SCALEn, _atom_sites.fract_transf: rows of 3 and the shift, as written */
    nb_symmetry symmetry;
    nb_atom *atoms; /* owned, in the order of the file */
    size_t n_atoms;
    int n_models;
    nb_ncs *ncs; /* owned, without the identity */
    int n_ncs;
    size_t blank_occupancies, blank_B, missing_U;
    int has_residual_B; /* the file says that its B factors lack the part of TLS groups */
    double atoms_expected; /* in the cell, without hydrogen: by formula units; 0: unknown */
} nb_structure;

/** One column of a reflection file. */
typedef struct nb_column {
    char label[40];
    char type;    /* as MTZ: F G J K D P, or another that is no amplitude */
    float *value; /* [count], owned; NaN: missing */
    double cell[6],
        wavelength; /* A, deg: of its data set in an MTZ file; 0: as the file's */
} nb_column;

typedef struct nb_reflection_file {
    double cell[6];    /* A, deg; cell[0] = 0: none */
    double wavelength; /* A; 0: not said */
    nb_symmetry symmetry;
    size_t count;
    int (*hkl)[3];      /* owned */
    nb_column *columns; /* owned; without H K L */
    int n_columns;
    int is_unmerged;
    int is_cif;
    int is_dump;          /* of -dump_mtz: a mate without a value has none */
    size_t unreliable;    /* rows of status x: their measured values are missing */
    int blocks;           /* of a CIF that have reflections; the first is read */
    int *set;             /* owned; [count]: data set of each row; NULL: there is one */
    char (*set_name)[96]; /* owned; [n_sets] */
    int n_sets;
} nb_reflection_file;

/** What the bytes of a file are. */
typedef enum {
    NB_CONTENT_UNKNOWN,
    NB_CONTENT_PDB,
    NB_CONTENT_MMCIF,          /* a model */
    NB_CONTENT_SMALL,          /* small-molecule CIF */
    NB_CONTENT_REFLECTION_CIF, /* reflections without a model */
    NB_CONTENT_MODEL_AND_REFLECTIONS,
    NB_CONTENT_MTZ,
    NB_CONTENT_CIF_OTHER /* CIF with neither */
} nb_content;

/** Kind of file by content (unpacked bytes). Never fails. */
nb_content nb_content_of(const char *data, size_t n);

/** A model from PDB, mmCIF or small-molecule CIF bytes (unpacked). *out is the caller's
 * (nb_structure_free), zero on error.  Errors: NB_ERR_INPUT with file and line, NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED without gemmi.  Sources: wwPDB format 3.3, mmCIF and core CIF dictionaries. */
nb_status nb_structure_parse(const char *data, size_t n, const char *name,
                             nb_structure *out, nb_error *err);
void nb_structure_free(nb_structure *structure);

/** Reflections from MTZ, structure-factor CIF or small-molecule CIF bytes (unpacked). *out is the
 * caller's (nb_reflection_file_free), zero on error.  Errors as nb_structure_parse. */
nb_status nb_reflection_file_parse(const char *data, size_t n, const char *name,
                                   nb_reflection_file *out, nb_error *err);
void nb_reflection_file_free(nb_reflection_file *file);

/** Operators of an H-M symbol in any spacing, a Hall symbol, or a number. cell (A, deg; may be NULL)
 * decides between hexagonal and rhombohedral axes.  Errors: NB_ERR_INPUT, unknown. */
nb_status nb_symmetry_find(const char *text, const double cell[6], nb_symmetry *out,
                           nb_error *err);

/** Z of an element's symbol in any case; D is 1; 0 unknown. */
int nb_element_number(const char *symbol);
/** Symbol of an element, "H" to "Og". */
const char *nb_element_symbol(int Z);

/** f0(s) = sum a_i exp(-b_i s^2/4) + c of a neutral atom; abc = a1..a4 b1..b4 c.
 * Source: International Tables C (1992), 6.1.1.4.  Returns 0 if the table has no such atom. */
int nb_element_f0(int Z, double abc[9]);

/** f' and f'' at an energy in eV (Cromer-Liberman with the corrections of Kissel and Pratt); 0 for
 * Z < 3 and Z > 92. */
void nb_element_anomalous(int Z, double energy_eV, double *f1, double *f2);

/** Van der Waals radius of cctbx's table, A. */
double nb_element_radius(int Z);

#define NB_DUMP "nanobragg" /* the data set of -dump_mtz */

/** An MTZ file of P1 with columns H K L and these; *bytes (nb_free) of *size.
 * wavelength in A.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_mtz_write(const nb_reflection_file *file, const char *dataset, char **bytes,
                       size_t *size, nb_error *err);

/** "0.5.7", or "" without gemmi. */
const char *nb_gemmi_version(void);

#endif
