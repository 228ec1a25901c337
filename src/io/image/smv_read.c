/* SPDX-License-Identifier: MIT */
#include "image_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../../params/params.h"

#define MAGIC "{\nHEADER_BYT"
#define MAGIC_BYTES 12
#define LONGEST_OVERRUN 4096 /* limit of header text after HEADER_BYTES, bytes */

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && nb_text_blank(*p))
        p++;
    return p;
}

/* Read the first record, HEADER_BYTES, which is the size of the header. */
static nb_status read_header_bytes(const char *data, size_t n, const char *name,
                                   size_t *bytes, nb_error *err)
{
    static const char key[] = "HEADER_BYTES";
    const char *end = data + n, *p = data + 2;
    int value = 0;
    if (n < MAGIC_BYTES || memcmp(data, MAGIC, MAGIC_BYTES) != 0)
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 0,
            "not an SMV image: it must start with '{', newline, HEADER_BYTES=");
    if ((size_t)(end - p) > sizeof key && memcmp(p, key, sizeof key - 1) == 0) {
        p = skip_blanks(p + sizeof key - 1, end);
        if (p < end && *p == '=')
            nb_text_int(skip_blanks(p + 1, end), end, &value);
    }
    if (value < MAGIC_BYTES)
        return nb_fail_at(err, NB_ERR_INPUT, name, 2, "HEADER_BYTES has no usable value");
    if ((size_t)value > n)
        return nb_fail_at(err, NB_ERR_INPUT, name, 2,
                          "HEADER_BYTES=%d, but the file has only %zu bytes", value, n);
    *bytes = (size_t)value;
    return NB_OK;
}

/* Find the first '}' at the start of a line or record; without one, the first '}'. */
static const char *closing_brace(const char *p, const char *end)
{
    const char *any = NULL;
    int line_start = 0;
    for (; p < end; p++) {
        if (*p == '}' && line_start)
            return p;
        if (*p == '}' && !any)
            any = p;
        line_start = *p == '\n' || *p == ';' || (line_start && nb_text_blank(*p));
    }
    return any;
}

/* Split the record from p to end in place into key and value; 0 without a key. */
static int split_record(char *p, char *end, nb_smv_entry *entry)
{
    char *equals = memchr(p, '=', (size_t)(end - p)), *key_end = equals;
    if (!equals)
        return 0;
    while (p < key_end && nb_text_blank(*p))
        p++;
    while (key_end > p && nb_text_blank(key_end[-1]))
        key_end--;
    if (p == key_end)
        return 0;
    entry->key = p;
    for (p = equals + 1; p < end && nb_text_blank(*p);)
        p++;
    while (end > p && nb_text_blank(end[-1]))
        end--;
    entry->value = p;
    *key_end = '\0';
    *end = '\0';
    return 1;
}

static nb_status split_text(const char *text, size_t n, nb_smv_header *h, nb_error *err)
{
    size_t records = 0;
    char *p, *end;
    h->text = nb_alloc_raw(n + 1, 1, "SMV header", err);
    NB_NEED(h->text);
    for (size_t i = 0; i < n; i++) {
        int control = (unsigned char)text[i] < ' ' && text[i] != '\n';
        h->text[i] = control ? ' ' : text[i];
        records += text[i] == '=';
    }
    h->text[n] = '\n';
    h->entries = nb_alloc(records, sizeof *h->entries, "SMV header", err);
    NB_NEED(h->entries);
    for (p = h->text, end = p + n; p < end;) {
        char *stop = p + strcspn(p, ";\n");
        h->count += split_record(p, stop, &h->entries[h->count]);
        p = stop + 1;
    }
    return NB_OK;
}

static nb_status read_size(const nb_smv_header *h, const char *key, int *size,
                           nb_error *err)
{
    double value;
    int found = nb_smv_number(h, key, &value);
    if (!found)
        return NB_OK;
    if (found < 0 || !(value >= 1 && value <= (double)NB_IMAGE_MAX_PIXELS) ||
        value != (double)(int64_t)value)
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0,
                          "%s=%.40s is not a number of pixels", key, nb_smv_find(h, key));
    /* limit to 1000000, which read_sizes refuses */
    *size = value < 1e6 ? (int)value : 1000000;
    return NB_OK;
}

static nb_status read_sizes(nb_smv_header *h, nb_error *err)
{
    int square = 0;
    nb_status st = read_size(h, "SIZE1", &h->fast, err);
    NB_TRY(read_size(h, "SIZE2", &h->slow, err));
    if (!st && !h->fast && !h->slow) {
        st = read_size(h, "DETECTOR_DIMENSIONS", &square, err);
        h->fast = h->slow = square;
    }
    if (st)
        return st;
    if (!h->fast != !h->slow)
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0,
                          "%s is missing; the header has only %s",
                          h->fast ? "SIZE2" : "SIZE1", h->fast ? "SIZE1" : "SIZE2");
    if (h->fast >= 1000000 || h->slow >= 1000000 ||
        (int64_t)h->fast * h->slow > NB_IMAGE_MAX_PIXELS)
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0,
                          "SIZE1, SIZE2: more pixels than can be handled");
    return NB_OK;
}

static nb_status parse_into(const char *data, size_t n, nb_smv_header *h, nb_error *err)
{
    const char *brace, *limit;
    int overrun;
    nb_status st;
    NB_FORWARD(read_header_bytes(data, n, h->name, &h->bytes, err));
    brace = closing_brace(data + 1, data + h->bytes);
    overrun = !brace;
    if (overrun) {
        limit =
            n - h->bytes > LONGEST_OVERRUN ? data + h->bytes + LONGEST_OVERRUN : data + n;
        brace = memchr(data + h->bytes, '}', (size_t)(limit - data) - h->bytes);
    }
    if (brace) {
        NB_FORWARD(split_text(data + 1, (size_t)(brace - data) - 1, h, err));
        NB_FORWARD(read_sizes(h, err));
    }
    if (overrun) {
        size_t pixels = (size_t)h->fast * (size_t)h->slow;
        if (!brace || !pixels || (size_t)(brace - data) + 2 + 2 * pixels != n)
            return nb_fail_at(err, NB_ERR_INPUT, h->name, 0,
                              "the header is not closed by '}' within its %zu bytes",
                              h->bytes);
        h->bytes = (size_t)(brace - data) + 2;
    }
    return NB_OK;
}

nb_status nb_smv_parse(const void *data, size_t n, const char *name, nb_smv_header *out,
                       nb_error *err)
{
    nb_status st;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", name);
    st = parse_into(data, n, out, err);
    if (st)
        nb_smv_header_free(out);
    return st;
}

void nb_smv_header_free(nb_smv_header *h)
{
    if (h) {
        nb_free(h->text);
        nb_free(h->entries);
        memset(h, 0, sizeof *h);
    }
}

const char *nb_smv_find(const nb_smv_header *h, const char *key)
{
    for (int i = h->count - 1; i >= 0; i--)
        if (strcmp(h->entries[i].key, key) == 0)
            return h->entries[i].value;
    return NULL;
}

int nb_smv_number(const nb_smv_header *h, const char *key, double *value)
{
    const char *text = nb_smv_find(h, key);
    if (!text || !*text)
        return 0;
    return nb_text_number(text, value) ? 1 : -1;
}

/** Refuse pixels of more than 16 bits: check TYPE, Data_type (d*TREK) and file size. */
static nb_status check_type(size_t there, size_t wanted, const nb_smv_header *h,
                            nb_error *err)
{
    static const char *const keys[] = {"TYPE", "Data_type", "DATA_TYPE"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *type = nb_smv_find(h, keys[i]);
        if (type && !strstr(type, "short") && strcmp(type, "mad") != 0)
            return nb_fail_at(
                err, NB_ERR_INPUT, h->name, 0,
                "%s=%.40s, but only 16-bit pixels (unsigned_short) can be read", keys[i],
                type);
    }
    if (there >= 2 * wanted)
        return nb_fail_at(
            err, NB_ERR_INPUT, h->name, 0,
            "%d x %d pixels have %zu bytes behind the header, %zu for each, "
            "but only 16-bit pixels (unsigned_short) can be read",
            h->fast, h->slow, there, 2 * there / wanted);
    return NB_OK;
}

static nb_status check_pixels(size_t n, const nb_smv_header *h, int *big_endian,
                              nb_error *err)
{
    const char *order = nb_smv_find(h, "BYTE_ORDER");
    const size_t wanted = 2 * (size_t)h->fast * (size_t)h->slow,
                 there = n > h->bytes ? n - h->bytes : 0;
    nb_status st;
    *big_endian = order && strcmp(order, "big_endian") == 0;
    if (order && !*big_endian && strcmp(order, "little_endian") != 0)
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0,
                          "BYTE_ORDER=%.40s is neither little_endian nor big_endian",
                          order);
    if (!wanted)
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0,
                          "no SIZE1 and SIZE2 in the header");
    NB_FORWARD(check_type(there, wanted, h, err));
    if (there < wanted)
        return nb_fail_at(
            err, NB_ERR_INPUT, h->name, 0,
            "the pixels are cut short: %d x %d need %zu bytes behind the header", h->fast,
            h->slow, wanted);
    return NB_OK;
}

nb_status nb_smv_pixels_u16(const void *data, size_t n, const nb_smv_header *h,
                            uint16_t **pixels, nb_error *err)
{
    size_t count = (size_t)h->fast * (size_t)h->slow;
    const unsigned char *p = (const unsigned char *)data + h->bytes;
    int big_endian;
    uint16_t *out;
    nb_status st;
    *pixels = NULL;
    NB_FORWARD(check_pixels(n, h, &big_endian, err));
    out = nb_alloc_raw(count, sizeof *out, "pixels of an SMV image", err);
    NB_NEED(out);
    for (size_t i = 0; i < count; i++, p += 2)
        out[i] = (uint16_t)(big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
    *pixels = out;
    return NB_OK;
}

enum { KEY_BYTES = 64, VALUE_BYTES = 3 * NB_TEXT_NUMBER + 8 };

const nb_param *nb_smv_next(const nb_param *last)
{
    size_t count;
    const nb_param *table = nb_params(&count), *next = NULL;
    for (size_t i = 0; i < count; i++)
        if (table[i].header && (!last || table[i].place > last->place) &&
            (!next || table[i].place < next->place))
            next = &table[i];
    return next;
}

static void key_of(const nb_param *p, char key[KEY_BYTES])
{
    snprintf(key, KEY_BYTES, NB_SMV_PREFIX "%s", p->header);
}

static nb_smv_group group_of(const nb_param *p)
{
    static const struct {
        nb_member member;
        nb_smv_group group;
    } groups[] = {{NB_MEMBER(distance_mm), NB_SMV_DISTANCES},
                  {NB_MEMBER(close_distance_mm), NB_SMV_DISTANCES},
                  {NB_MEMBER(close_twotheta_deg), NB_SMV_DISTANCES},
                  {NB_MEMBER(lambda_A), NB_SMV_BEAM},
                  {NB_MEMBER(energy_eV), NB_SMV_BEAM},
                  {NB_MEMBER(phistep_deg), NB_SMV_STEPS},
                  {NB_MEMBER(phi_steps), NB_SMV_STEPS},
                  {NB_MEMBER(detsize_mm[0]), NB_SMV_FAST},
                  {NB_MEMBER(detsize_mm[1]), NB_SMV_SLOW}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (nb_param_is(p, groups[i].member))
            return groups[i].group;
    return NB_SMV_ALONE;
}

void nb_smv_typed_groups(const nb_config *cfg, int typed[NB_SMV_GROUPS])
{
    memset(typed, 0, NB_SMV_GROUPS * sizeof *typed);
    for (const nb_param *p = NULL; (p = nb_smv_next(p));)
        typed[group_of(p)] |= nb_param_is_set(p, cfg);
    typed[NB_SMV_FAST] |= cfg->detpixels[0] != 0;
    typed[NB_SMV_SLOW] |= cfg->detpixels[1] != 0;
    typed[NB_SMV_ALONE] = 0;
}

void nb_smv_write_inputs(const nb_config *cfg,
                         void (*emit)(void *user, const char *key, const char *value),
                         void *user)
{
    for (const nb_param *p = NULL; (p = nb_smv_next(p));) {
        char key[KEY_BYTES], value[VALUE_BYTES];
        key_of(p, key);
        if (strcmp(key, NB_SMV_MARK) != 0 && !nb_param_is_set(p, cfg))
            continue;
        nb_param_get(p, cfg, ",", value, sizeof value, NULL);
        emit(user, key, value[0] ? value : p->fallback);
    }
}

/** Read "fast,slow" (0: unknown) into pixels[], except typed axes. False if it fails. */
static int read_pixels(const char *text, const int typed[NB_SMV_GROUPS], int *pixels)
{
    const char *end = text + strlen(text);
    int v[2];
    text = nb_text_int(text, end, &v[0]);
    if (!text || text == end || *text != ',' || nb_text_int(text + 1, end, &v[1]) != end)
        return 0;
    for (int i = 0; i < 2; i++) {
        if (v[i] < 0 || v[i] >= 1000000)
            return 0;
        if (!typed[i ? NB_SMV_SLOW : NB_SMV_FAST])
            pixels[i] = v[i];
    }
    return 1;
}

/* Fill the unset fields of cfg from the NANOBRAGG_* keys of a header, for
 * nb_smv_apply_header. Errors: NB_ERR_INPUT. */
static nb_status read_inputs(const nb_smv_header *h, nb_config *cfg, nb_error *err)
{
    int typed[NB_SMV_GROUPS];
    nb_smv_typed_groups(cfg, typed);
    for (const nb_param *p = NULL; (p = nb_smv_next(p));) {
        int is_size = p->offset == offsetof(nb_config, detpixels), good;
        char key[KEY_BYTES];
        const char *text;
        key_of(p, key);
        text = nb_smv_find(h, key);
        if (!text || typed[group_of(p)] || (!is_size && nb_param_is_set(p, cfg)))
            continue;
        good = is_size ? read_pixels(text, typed, cfg->detpixels)
                       : nb_param_store(p, cfg, &text, 1, NULL) == NB_OK;
        if (!good)
            return nb_fail_at(err, NB_ERR_INPUT, h->name, 0, "%s=%.60s cannot be read",
                              key, text);
    }
    return NB_OK;
}

/* A field of cfg and its documented key; `other` (or NULL) replaces a missing `key`. */
typedef struct documented_key {
    const char *key, *other;
    double *field;
    int skip;     /* 1: do not set the field */
    int positive; /* 1: the number must be above 0 */
} documented_key;

static nb_status take(const nb_smv_header *h, const documented_key *k, nb_error *err)
{
    const char *key = k->key;
    double value = NAN;
    int found;
    if (k->skip || !isnan(*k->field))
        return NB_OK;
    found = nb_smv_number(h, key, &value);
    if (!found && k->other) {
        key = k->other;
        found = nb_smv_number(h, key, &value);
    }
    if (!found)
        return NB_OK;
    if (found < 0)
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0,
                          "%s=%.60s is not a finite number", key, nb_smv_find(h, key));
    if (k->positive && !(value > 0))
        return nb_fail_at(err, NB_ERR_INPUT, h->name, 0, "%s=%.60s must be above 0", key,
                          nb_smv_find(h, key));
    *k->field = value;
    return NB_OK;
}

static nb_status apply_documented(const nb_smv_header *h, nb_config *cfg, nb_error *err)
{
    int typed[NB_SMV_GROUPS];
    nb_status st = NB_OK;
    nb_smv_typed_groups(cfg, typed);
    /* CLOSE_DISTANCE, the close distance of the detector swung by TWOTHETA, replaces
     * DISTANCE */
    int has_close = nb_smv_number(h, "CLOSE_DISTANCE", &(double){0}) != 0;
    int final_close = !typed[NB_SMV_DISTANCES] && has_close;
    double unused = NAN; /* DISTANCE is checked but not used */
    const documented_key keys[] = {
        {"PIXEL_SIZE", NULL, &cfg->pixel_mm, 0, 1},
        {"DISTANCE", NULL, has_close ? &unused : &cfg->distance_mm,
         typed[NB_SMV_DISTANCES], 1},
        {"CLOSE_DISTANCE", NULL, &cfg->close_distance_mm, typed[NB_SMV_DISTANCES], 1},
        {"TWOTHETA", NULL, &cfg->close_twotheta_deg, !final_close, 0},
        {"WAVELENGTH", NULL, &cfg->lambda_A, typed[NB_SMV_BEAM], 1},
        {"BEAM_CENTER_X", NULL, &cfg->Xbeam_mm, 0, 0},
        {"BEAM_CENTER_Y", NULL, &cfg->Ybeam_mm, 0, 0},
        {"ORGX", "XDS_ORGX", &cfg->orgx, 0, 0},
        {"ORGY", "XDS_ORGY", &cfg->orgy, 0, 0},
        {"PHI", "OSC_START", &cfg->phi_deg, 0, 0},
        {"OSC_RANGE", NULL, &cfg->osc_deg, 0, 0},
        {"TWOTHETA", NULL, &cfg->twotheta_deg, 0, 0},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !st; i++)
        st = take(h, &keys[i], err);
    if (cfg->close_twotheta_deg == 0)
        cfg->close_twotheta_deg = NAN;
    if (!typed[NB_SMV_FAST])
        cfg->detpixels[0] = h->fast;
    if (!typed[NB_SMV_SLOW])
        cfg->detpixels[1] = h->slow;
    return st;
}

/** Convert a scan with negative steps to positive steps about the opposite axis. */
static void turn_forwards(nb_config *cfg, int phi_unset)
{
    cfg->osc_deg = -cfg->osc_deg;
    if (phi_unset && NB_GIVEN(cfg, phi_deg))
        cfg->phi_deg = -cfg->phi_deg;
    cfg->spindle_back = 1;
}

nb_status nb_smv_apply_header(const nb_smv_header *h, nb_config *cfg, nb_error *err)
{
    int osc_unset = !NB_GIVEN(cfg, osc_deg), phi_unset = !NB_GIVEN(cfg, phi_deg);
    nb_status st = nb_smv_find(h, NB_SMV_MARK) ? read_inputs(h, cfg, err)
                                               : apply_documented(h, cfg, err);
    if (osc_unset && cfg->osc_deg == 0) /* OSC_RANGE=0 of a still is not a typed -osc 0 */
        cfg->osc_deg = NAN;
    if (!st && osc_unset && cfg->osc_deg < 0)
        turn_forwards(cfg, phi_unset);
    return st;
}
