/* SPDX-License-Identifier: MIT */
/** Read models, reflection files, space groups and atomic tables into flat arrays.
 * Only src/io/structure/gemmi.cc includes gemmi. In a build without gemmi every call
 * fails with NB_ERR_UNSUPPORTED and a message that names the package. */
#ifndef NB_IO_GEMMI_H
#define NB_IO_GEMMI_H

#include <stddef.h>
#include <stdint.h>

#include "../../nanobragg.h"

enum {
    NB_SYMOPS_MAX = 192,
    NB_INDEX_MAX = 10000 /* limit of |h|, |k|, |l| in a file */
};

/** x' = R x + t/24 for fractional coordinates x. R row by row. */
typedef struct nb_symop {
    int8_t R[9], t[3];
} nb_symop;

/** All operators of a space group, with centring; the first is the identity. */
typedef struct nb_symmetry {
    int count; /* 0: the symmetry is missing, or `name` is an unknown symbol */
    nb_symop ops[NB_SYMOPS_MAX];
    char name[40];      /* H-M symbol, or "operators of the file" */
    int is_origin_open; /* 1: the symbol allows two origins; the first is used */
    char note[240];     /* a warning about the symmetry in one line, or "" */
} nb_symmetry;

typedef struct nb_atom {
    double r[3];      /* A, Cartesian; NB_STRUCTURE_SMALL: fractional */
    double occupancy; /* as written in the file; 1 if the field is blank */
    double B;         /* A^2; 0 if blank */
    /* elements 11 22 33 12 13 23 in A^2; Cartesian, or for NB_STRUCTURE_SMALL on the axes
     * a*_i */
    double U[6];
    int has_U;        /* 1: U replaces B */
    int Z;            /* 1 for D; 0: unknown element */
    int model;        /* number from 0, in the order of the file */
    int is_alternate; /* 1: an alternative conformation */
    int site_order;   /* NB_STRUCTURE_SMALL: operators that keep the site; 0 if missing */
    /* number of sites, but in some files the site_order (see factors.h); 0: missing */
    int site_multiplicity;
    int is_general; /* 1: near a special position, not on it (negative group of SHELXL) */
    int serial;
    int line; /* line of the file; 0: unknown */
    char name[12], element[4];
} nb_atom;

/** x -> R x + t for Cartesian coordinates x, A. */
typedef struct nb_ncs {
    double R[9], t[3];
    int is_given; /* 1: the file already has the coordinates of the copy */
} nb_ncs;

typedef enum {
    NB_STRUCTURE_PDB,
    NB_STRUCTURE_MMCIF,
    NB_STRUCTURE_SMALL
} nb_structure_kind;

/** A model with the values of the file. */
typedef struct nb_structure {
    nb_structure_kind kind;
    double cell[6]; /* A, deg; cell[0] = 0: missing, or the dummy 1 1 1 90 90 90 */
    int has_frame;
    double frame[12]; /* SCALEn or _atom_sites.fract_transf: matrix by rows, then shift */
    nb_symmetry symmetry;
    nb_atom *atoms; /* owned, in the order of the file */
    size_t n_atoms;
    int n_models;
    nb_ncs *ncs; /* owned, without the identity */
    int n_ncs;
    size_t blank_occupancies, blank_B, missing_U; /* numbers of atoms */
    /* 1: the B factors of the file do not include the motions of TLS groups */
    int has_residual_B;
    /* number of atoms in the cell without H, from the formula units; 0 if unknown */
    double atoms_expected;
} nb_structure;

/** One column of a reflection file. */
typedef struct nb_column {
    char label[40];
    char type;    /* type as in MTZ: F G J K D P; columns of other types give no F */
    float *value; /* [count], owned; NaN: missing */
    double cell[6],
        wavelength; /* A, deg: data set of the column (MTZ); 0: values of the file */
} nb_column;

typedef struct nb_reflection_file {
    double cell[6];    /* A, deg; cell[0] = 0: missing */
    double wavelength; /* A; 0: missing */
    nb_symmetry symmetry;
    size_t count;
    int (*hkl)[3];      /* owned */
    nb_column *columns; /* owned; without H K L */
    int n_columns;
    int is_unmerged;
    int is_cif;
    int is_dump;          /* 1: -dump_mtz wrote the file, with all Friedel mates */
    size_t unreliable;    /* rows of status x; their measured values are set to NaN */
    int blocks;           /* blocks of a CIF with reflections; the first block is read */
    int *set;             /* owned; [count]: data set of each row; NULL: a single set */
    char (*set_name)[96]; /* owned; [n_sets] */
    int n_sets;
} nb_reflection_file;

/** Content of a file. */
typedef enum {
    NB_CONTENT_UNKNOWN,
    NB_CONTENT_PDB,
    NB_CONTENT_MMCIF,          /* a model */
    NB_CONTENT_SMALL,          /* small-molecule CIF */
    NB_CONTENT_REFLECTION_CIF, /* reflections without a model */
    NB_CONTENT_MODEL_AND_REFLECTIONS,
    NB_CONTENT_MTZ,
    NB_CONTENT_CIF_OTHER /* CIF without model and reflections */
} nb_content;

/** Find the kind of a file from its unpacked bytes. Never fails. */
nb_content nb_content_of(const char *data, size_t n);

/** Read a model from unpacked bytes of PDB, mmCIF or small-molecule CIF. Free *out
 * with nb_structure_free; on error it is zero. Errors: NB_ERR_INPUT with file and line,
 * NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. Sources: wwPDB format 3.3, mmCIF and core CIF. */
nb_status nb_structure_parse(const char *data, size_t n, const char *name,
                             nb_structure *out, nb_error *err);
void nb_structure_free(nb_structure *structure);

/** Read reflections from unpacked bytes of MTZ or either kind of CIF. Free *out
 * with nb_reflection_file_free; on error it is zero. Errors: as nb_structure_parse. */
nb_status nb_reflection_file_parse(const char *data, size_t n, const char *name,
                                   nb_reflection_file *out, nb_error *err);
void nb_reflection_file_free(nb_reflection_file *file);

/** Find the operators of an H-M symbol (any spacing), a Hall symbol or a number. cell (A,
 * deg; or NULL) chooses hexagonal or rhombohedral axes. Errors: NB_ERR_INPUT. */
nb_status nb_symmetry_find(const char *text, const double cell[6], nb_symmetry *out,
                           nb_error *err);

/** Z of a symbol in any case; 1 for D; 0 if unknown. */
int nb_element_number(const char *symbol);
/** Symbol of an element, "H" to "Og"; "X" for another Z. */
const char *nb_element_symbol(int Z);

/** f0(s) = sum a_i exp(-b_i s^2/4) + c of a neutral atom; abc = a1..a4 b1..b4 c.
 * Source: International Tables C (1992), 6.1.1.4.  Returns 0 if the table has no such atom. */
int nb_element_f0(int Z, double abc[9]);

/** Calculate f' and f'' at an energy in eV (Cromer-Liberman with the corrections of
 * Kissel and Pratt); 0 for Z < 3 and Z > 92. */
void nb_element_anomalous(int Z, double energy_eV, double *f1, double *f2);

/** Van der Waals radius in the table of cctbx, A. */
double nb_element_radius(int Z);

#define NB_DUMP "nanobragg" /* name of the data set of -dump_mtz */

/** Make an MTZ file of P1 with H K L and the columns of `file`. Free *bytes (*size bytes)
 * with nb_free. Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_mtz_write(const nb_reflection_file *file, const char *dataset, char **bytes,
                       size_t *size, nb_error *err);

/** Version of gemmi, such as "0.5.7", or "" without gemmi. */
const char *nb_gemmi_version(void);

#endif
