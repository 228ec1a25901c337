/* SPDX-License-Identifier: MIT */
/** The inside of the table of parameters, for the other rooms of the library. */
#ifndef NB_PARAMS_PARAMS_H
#define NB_PARAMS_PARAMS_H

#include "../nanobragg.h"
#include "config.h"

#define NB_PARAM_LABEL 64  /* bytes of a name with its dash */
#define NB_PARAM_TEXT 4096 /* bytes that hold every value as text */

/** Bits of nb_param.flags for the rooms of the library: what a flag is of. */
enum {
    NB_PARAM_CRYSTAL = 1 << 14,  /* of a crystal, by its group of the help */
    NB_PARAM_IMAGE = 1 << 15,    /* of all crystals of an image, though in such a group */
    NB_PARAM_FACTORS = 1 << 16,  /* of structure factors, by its group */
    NB_PARAM_WRITTEN = 1 << 17,  /* of files written, by its group */
    NB_PARAM_VARIES = 1 << 18,   /* a number that -vary takes */
    NB_PARAM_PLACES = 1 << 19,   /* places a detector */
    NB_PARAM_REPLACED = 1 << 20, /* a detector from a file replaces it */
    NB_PARAM_GEOMETRY = 1 << 21, /* names such a file */
    NB_PARAM_MODEL = 1 << 22,    /* acts on the sum over an atomic model */
    NB_PARAM_ON_F = 1 << 23,     /* acts on whatever gives structure factors */
    NB_PARAM_SUM = 1 << 24,      /* another value: F of files are calculated again */
    NB_PARAM_NOISE = 1 << 25     /* more noise than counts and an offset */
};

/** A member of nb_config. */
typedef struct nb_member {
    size_t offset, size;
} nb_member;
#define NB_MEMBER(name)                                                                  \
    {                                                                                    \
        offsetof(nb_config, name), sizeof(((nb_config *)0)->name)                        \
    }
/** Return the member's own row, or its first view where it has none of its own, or NULL. */
const nb_param *nb_param_of(nb_member member);
#define NB_ROW(name) nb_param_of((nb_member)NB_MEMBER(name))
/** Does the row write this member, in whatever form? */
int nb_param_is(const nb_param *param, nb_member member);
#define NB_IS(param, name) nb_param_is(param, (nb_member)NB_MEMBER(name))
/** The row behind `last` (NULL: the first) that has one of these bits; NULL at the end. */
const nb_param *nb_param_next(const nb_param *last, unsigned bits);
/** Return the first row with one of these bits that is set in cfg, or NULL. */
const nb_param *nb_param_first_set(unsigned bits, const nb_config *cfg);
/** Does the row change how F are made, rather than how they are looked up? */
int nb_param_makes_factors(const nb_param *param);

extern const char nb_no_text[1]; /* of all unset texts */
int nb_param_is_text(const nb_param *param);
/** The text at this place of a struct. */
nb_text nb_text_at(const void *base, size_t offset);
/** Continue the hash h with the values of nb_config (series 0) or nb_series (NB_PARAM_SERIES) whose rows have one of the flags
 * `counts`, in their order in the struct. */
uint64_t nb_params_hash(uint64_t h, const void *of, unsigned series, unsigned counts);

/** True if the row has the same value in both structs. */
int nb_param_same(const nb_param *param, const void *a, const void *b);
/** Copy the row's value. */
void nb_param_copy(const nb_param *param, void *to, const void *from);
/** A local configuration, which is dropped at the end of its block: NB_OWN_CONFIG cfg = {0}; */
#define NB_OWN_CONFIG __attribute__((cleanup(nb_config_drop))) nb_config
/** n configurations at their defaults: nb_configs_free.  Errors: NULL, out of memory. */
nb_config *nb_configs_new(size_t n, nb_error *err);
/** Free n configurations and their texts.  NULL is fine. */
void nb_configs_free(nb_config *all, size_t n);

/** nb_param_set where a device is any word. */
nb_status nb_param_put(const nb_param *param, void *base, const char *const *words, int n,
                       nb_error *err);
/** The same without what follows from it: for the headers of files. */
nb_status nb_param_store(const nb_param *param, void *base, const char *const *words,
                         int n, nb_error *err);

/** Is x what an element holds when nobody has set it? */
int nb_param_is_unset(const nb_param *param, double x);

/** Is the field set to anything but `unset`? */
int nb_param_is_set(const nb_param *param, const void *base);

/** Is x within the limits?  NaN is not. */
int nb_param_allows(const nb_param *param, double x);

/** Refuse the value `text` of a number, which is not within the limits (or NaN). */
nb_status nb_param_refuse(const nb_param *param, const char *text, nb_error *err);
/** Refuse a text or number that is none of the choices. */
nb_status nb_param_refuse_choice(const nb_param *param, const char *text, nb_error *err);

/** Refuse a VECTOR of length 0. */
nb_status nb_param_check_direction(const nb_param *param, const double v[3],
                                   nb_error *err);

/** nb_param_value where a device is "word". */
const char *nb_param_form(const nb_param *param, char *text, size_t size);

/** How a value of this kind without choices is written: "x", "file", ... */
const char *nb_param_kind_form(const nb_param *param);

/** Is it the name of the row, or a synonym? */
int nb_param_is_named(const nb_param *param, const char *name);
/** The name for messages: with a dash if it is a flag.  Returns text. */
const char *nb_param_label(const nb_param *param, char text[NB_PARAM_LABEL]);

/** The name of value number `value` of a choice; "" where there is none. */
const char *nb_param_choice(const char *name, int value);

/** One element of the field of an INTEGER or NUMBER as number. */
double nb_param_element(const nb_param *param, const void *base, int i);
void nb_param_put_element(const nb_param *param, void *base, int i, double value);
/** Are its elements doubles, not ints? */
int nb_param_is_double(const nb_param *param);
/** How many elements the field of an INTEGER, NUMBER, VECTOR or POINT has. */
int nb_param_elements(const nb_param *param);

/** A number of a configuration: its value, or its row's default (NaN: none).  offset: of the element in the nb_config. */
double nb_config_value(const nb_config *cfg, size_t offset);
/** The same with another number when it is unset. */
double nb_config_value_or(const nb_config *cfg, size_t offset, double other);
/** Is the number set? */
int nb_config_given(const nb_config *cfg, size_t offset);
/* The same by the member's name, as in NB_VALUE(cfg, distance_mm). */
#define NB_OFFSET(cfg, member)                                                           \
    ((size_t)((const char *)&(cfg)->member - (const char *)(cfg)))
#define NB_VALUE(cfg, member) nb_config_value(cfg, NB_OFFSET(cfg, member))
#define NB_VALUE_OR(cfg, member, other)                                                  \
    nb_config_value_or(cfg, NB_OFFSET(cfg, member), other)
#define NB_GIVEN(cfg, member) nb_config_given(cfg, NB_OFFSET(cfg, member))

/** A configuration in which each member that has a default is set, by its row; made once from what flags and
 * files say, and read only. */
typedef struct nb_settings {
    nb_config value;
    uint32_t typed[sizeof(nb_config) / 128 + 1]; /* a bit for each 4 bytes of `value`: nb_is_typed */
} nb_settings;

/** Fill *out from what is typed, or what files say.  A default that depends on other members stays unset, as does
 * what has none.  Returns out. */
const nb_settings *nb_resolve(const nb_config *typed, nb_settings *out);
/** Is the member (an element of an array) typed, or said by a file?  offset: in the nb_config. */
int nb_is_typed(const nb_settings *settings, size_t offset);
/** Another number, as if it were typed. */
void nb_settings_put(nb_settings *settings, size_t offset, double value);
/* By the member's name, as in NB_TYPED(settings, distance_mm). */
#define NB_TYPED(settings, member)                                                       \
    nb_is_typed(settings, NB_OFFSET(&(settings)->value, member))
/* Settings of a configuration that one call needs; they live until the function returns (not in loops). */
#define NB_RESOLVED(cfg) nb_resolve((cfg), __builtin_alloca(sizeof(nb_settings)))
#define NB_TYPED_OR(settings, member, other)                                             \
    (NB_TYPED(settings, member) ? (settings)->value.member : (other))

/** Check every field of a configuration, without the pairs: headers may fill in both of a pair.  A device may be
 * any word: the rooms that know the devices check it. */
nb_status nb_config_check_fields(const nb_config *cfg, nb_error *err);
/** The same with the pairs, and all else that contradicts itself. */
nb_status nb_config_check_rules(const nb_config *cfg, nb_error *err);
/** Is a file of a model or of reflections named, other than -hkl? */
int nb_config_has_factor_file(const nb_config *cfg);

/** Is F(000) given beside a constant F, without a list or model? */
int nb_config_has_F000_alone(const nb_config *cfg);

/** Are structure factors more than the plain list of -hkl, or of the cache? */
int nb_config_makes_factors(const nb_config *cfg);

/** Are structure factors more than the list of -hkl as it is read?  The same without expand_list. */
int nb_list_is_changed(const nb_settings *settings);

/** Refuse flags of structure factors that contradict each other or have nothing to act on. */
nb_status nb_config_check_factors(const nb_config *cfg, nb_error *err);

/** How many parameters, or 1 more for the detector of a file, ask for more than counts and an offset. */
int nb_noise_chain(const nb_settings *settings);
/** Refuse a -saturation above `most`, which is all that `where` holds. */
nb_status nb_saturation_check(const nb_config *cfg, double most, const char *where,
                              nb_error *err);

/** -footprint, taken apart. */
typedef struct nb_footprint_words {
    int box;
    double a_mm, b_mm, angle_deg;
} nb_footprint_words;
/** Read the text of nb_config.footprint; "": all 0.  Errors: NB_ERR_INPUT. */
nb_status nb_footprint_read(const char *text, nb_footprint_words *out, nb_error *err);
/** Write it so that the numbers are read back; returns text. */
const char *nb_footprint_write(const nb_footprint_words *words, char *text, size_t size);

enum { NB_BEAMSTOP_MOST = 16 };
/** An item of -beamstop, taken apart. */
typedef struct nb_beamstop_words {
    int bar; /* or a disc */
    double size_mm, angle_deg, transmission;
} nb_beamstop_words;
/** Read the text of nb_config.beamstop; *n items.  Errors: NB_ERR_INPUT. */
nb_status nb_beamstop_read(const char *text, nb_beamstop_words out[NB_BEAMSTOP_MOST],
                           int *n, nb_error *err);

/** -absorb, taken apart. */
typedef struct nb_absorb_words {
    int given, box;
    double size_um[3]; /* of a sphere its diameter alone */
} nb_absorb_words;
/** Read the text of nb_config.absorb; "": all 0.  Errors: NB_ERR_INPUT. */
nb_status nb_absorb_read(const char *text, nb_absorb_words *out, nb_error *err);

/** The flag of the table of F of a material, -stol, -4stol or -Q; NULL: none. */
const char *nb_config_stol_flag(const nb_config *cfg);

/** Refuse flags that contradict a detector from a file. */
nb_status nb_config_check_geometry(const nb_config *cfg, nb_error *err);
/** The flag that names its file, without dash; NULL: none. */
const char *nb_config_geometry_flag(const nb_config *cfg);

/** The detector of nb_config.detector_name, whose binning comes back; NULL without a name.  Errors: NB_ERR_INPUT for a
 * name that is none, or whose detector contradicts what cfg says. */
nb_status nb_detector_named(const nb_config *cfg, const nb_known_detector **out,
                            int *binning, nb_error *err);
/** Is the largest trusted value that of the name, not typed? */
int nb_detector_says_saturation(const nb_config *cfg);
/** Pixels along fast (0) or slow (1), binned. */
int nb_detector_pixels(const nb_known_detector *d, int axis, int binning);

/** Bits of nb_config.typed_files. */
enum { NB_TYPED_INT = 1, NB_TYPED_NOISE = 2, NB_TYPED_PGM = 4 };

nb_status nb_png_check(const nb_png_options *options, nb_error *err);
/** Errors: NB_ERR_INPUT, the name of a picture is that of a JPEG. */
nb_status nb_png_check_name(const char *flag, const char *path, nb_error *err);
nb_status nb_series_check(const nb_series *series, nb_error *err);

#endif
