/* SPDX-License-Identifier: MIT */
/* Symbols of the elements. */
#include <string.h>

#include "gemmi.h"
#include "structure_parts.h"

static const char symbols[][3] = {
    "",   "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al",
    "Si", "P",  "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co",
    "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb",
    "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs",
    "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm",
    "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi",
    "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk",
    "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg",
    "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};
enum { ELEMENTS = sizeof symbols / sizeof *symbols };

int nb_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Z of the first `length` (1 or 2) letters; 0 if unknown. */
static int number_of(const char *text, int length)
{
    char wanted[3] = {0};
    wanted[0] = (char)(text[0] & ~0x20);
    if (length == 2)
        wanted[1] = (char)(text[1] | 0x20);
    if (!strcmp(wanted, "D"))
        return 1;
    for (int Z = 1; Z < ELEMENTS; Z++)
        if (!strcmp(wanted, symbols[Z]))
            return Z;
    return 0;
}

int nb_element_number(const char *symbol)
{
    int length = 0;
    while (nb_is_letter(symbol[length]))
        length++;
    return symbol[length] || length < 1 || length > 2 ? 0 : number_of(symbol, length);
}

const char *nb_element_symbol(int Z)
{
    return Z > 0 && Z < ELEMENTS ? symbols[Z] : "X";
}

int nb_element_of_label(const char *label, int is_type)
{
    int letters = 0, Z = 0;
    while (nb_is_letter(label[letters]))
        letters++;
    if (letters == 1)
        return number_of(label, 1);
    if (letters < 1 || (letters > 2 && (is_type || is_upper(label[1]))))
        return 0;
    Z = number_of(label, 2);
    /* OW1 is O with the name W1; Ow is unknown */
    return Z || is_type || !is_upper(label[1]) ? Z : number_of(label, 1);
}
