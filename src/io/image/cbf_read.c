/* SPDX-License-Identifier: MIT */
/* Read CBF: mini-CBF of cbf_write.c and of detectors (int32, "x-CBF_BYTE_OFFSET" of the
 * CBFlib manual), and other binary sections of imgCIF (cbf_codes.c). */
#include "image_read.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"
#include "../../model/units.h"
#include "../common/lines.h"
#include "../common/unit_names.h"

static const char section_mark[] = "--CIF-BINARY-FORMAT-SECTION--";
static const char data_mark[] = "\f\x1a\x04\xd5";

/** A piece of the file. */
typedef struct span {
    const char *p, *end;
} span;

/** First position of the text in the span, or NULL. */
static const char *find(span s, const char *text)
{
    size_t n = strlen(text);
    while ((size_t)(s.end - s.p) >= n) {
        const char *at = memchr(s.p, text[0], (size_t)(s.end - s.p) - n + 1);
        if (!at)
            return NULL;
        if (memcmp(at, text, n) == 0)
            return at;
        s.p = at + 1;
    }
    return NULL;
}

/** Rest of the line after the text; empty if the text is not found. */
static span line_behind(span s, const char *text)
{
    span line = {s.end, s.end};
    const char *at = find(s, text), *newline;
    if (!at)
        return line;
    line.p = at + strlen(text);
    newline = memchr(line.p, '\n', (size_t)(s.end - line.p));
    line.end = newline ? newline : s.end;
    return line;
}

/** Number after the text, blanks and an opening bracket; NaN without a number. */
static double number_behind(span s, const char *text)
{
    span line = line_behind(s, text);
    double value;
    while (line.p < line.end && (nb_text_blank(*line.p) || *line.p == '('))
        line.p++;
    return nb_text_double(line.p, line.end, &value) ? value : NAN;
}

/** Everything before the binary section. */
static span header_of(const nb_image_file *file)
{
    span all = {file->data, (const char *)file->data + file->bytes};
    const char *at = find(all, section_mark);
    all.end = at ? at : all.end;
    return all;
}

/* --- the "# " lines --- */

/** True for a character that may stand between a key and a number. */
static int is_filler(char c)
{
    return nb_text_blank(c) || c == ':' || c == '=' || c == '(' || c == ',';
}

/** Rest of the line "# KEY ..." after fillers; empty if not found. The key must match in
 * full. */
static span line_of(span head, const char *key)
{
    nb_lines l = nb_lines_of(head.p, (size_t)(head.end - head.p), "", "", NULL);
    const size_t n = strlen(key);
    l.comment = "";
    l.between = "#";
    while (nb_lines_next(&l)) {
        (void)nb_lines_word(&l);
        if ((size_t)(l.end - l.p) <= n || memcmp(l.p, key, n) != 0 || !is_filler(l.p[n]))
            continue;
        for (l.p += n; l.p < l.end && is_filler(*l.p);)
            l.p++;
        return (span){l.p, l.end};
    }
    return (span){head.end, head.end};
}

/** True if the line continues with this word. */
static int is_word(span line, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(line.end - line.p) >= n && memcmp(line.p, word, n) == 0 &&
           ((size_t)(line.end - line.p) == n || !isalnum((unsigned char)line.p[n]));
}

/** Take the next number of the line and the fillers after it. */
static double take(span *line)
{
    double value;
    const char *after = nb_text_double(line->p, line->end, &value);
    if (!after)
        return NAN;
    for (line->p = after; line->p < line->end && is_filler(*line->p);)
        line->p++;
    return value;
}

/** Read a number and its unit, if any, and convert it to `base`; NaN for another unit. */
static double in_unit(span line, nb_unit_kind kind, double base)
{
    const double value = take(&line);
    double scale;
    size_t n = 0;
    if (line.p == line.end || *line.p == ')')
        return value;
    while (line.p + n < line.end && isalnum((unsigned char)line.p[n]))
        n++;
    scale = nb_unit_scale(kind, line.p, n) / base;
    return scale > 0 ? nb_in_unit(value, scale) : NAN;
}

static double length_m(span line)
{
    return in_unit(line, NB_UNIT_LENGTH, 1);
}

static double angle_deg(span line)
{
    return in_unit(line, NB_UNIT_ANGLE, 1);
}

static double wavelength_A(span head)
{
    const char *energies = "Energy Photon_energy X-ray_energy Incident_energy";
    char key[NB_TEXT_WORD];
    double value = in_unit(line_of(head, "Wavelength"), NB_UNIT_LENGTH, 1e-10);
    while (!(value > 0) && nb_text_word(&energies, key))
        value = NB_HC_EV_ANGSTROM / in_unit(line_of(head, key), NB_UNIT_ENERGY, 1);
    return value > 0 && isfinite(value) ? value : NAN;
}

/** Read "Beam_xy (1231.50, 1263.50) pixels", also in m or mm, or as two lines. */
static void read_beam(span head, double pixel_m, double beam_px[2])
{
    span line = line_of(head, "Beam_xy");
    span one[2] = {line_of(head, "Beam_x"), line_of(head, "Beam_y")};
    beam_px[0] = beam_px[1] = NAN;
    if (line.p == line.end && one[0].p < one[0].end) {
        beam_px[0] = take(&one[0]);
        beam_px[1] = take(&one[1]);
        line = one[1];
    } else if (line.p < line.end) {
        beam_px[0] = take(&line);
        beam_px[1] = take(&line);
    }
    while (line.p < line.end && (*line.p == ')' || is_filler(*line.p)))
        line.p++;
    if (is_word(line, "m") || is_word(line, "mm"))
        for (int i = 0; i < 2; i++)
            beam_px[i] *= (is_word(line, "m") ? 1 : 1e-3) / pixel_m;
}

static const char *const axes[] = {"Phi", "Omega", "Chi", "Kappa"};

/** Rotation axis: the axis with an increment, or else the axis in Oscillation_axis, or
 * else Phi if Phi has an angle, or else Omega. */
static const char *turning_axis(span head)
{
    span named = line_of(head, "Oscillation_axis");
    char key[32];
    for (int i = 0; i < 4; i++) {
        double step;
        snprintf(key, sizeof key, "%s_increment", axes[i]);
        step = angle_deg(line_of(head, key));
        if (isfinite(step) && step != 0)
            return axes[i];
    }
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "%s", axes[i]);
        key[0] = (char)tolower((unsigned char)key[0]);
        if (is_word(named, axes[i]) || is_word(named, key))
            return axes[i];
    }
    return isnan(angle_deg(line_of(head, "Phi"))) ? "Omega" : "Phi";
}

/** Read start and width of the rotation, and the angles of other axes. */
static void read_rotation(span head, nb_cbf_header *out)
{
    const char *axis = turning_axis(head);
    char key[32];
    out->said.phi_deg = angle_deg(line_of(head, "Start_angle"));
    out->said.osc_deg = angle_deg(line_of(head, "Angle_increment"));
    snprintf(key, sizeof key, "%s_increment", axis);
    if (isnan(out->said.osc_deg))
        out->said.osc_deg = angle_deg(line_of(head, key));
    if (isnan(out->said.phi_deg))
        out->said.phi_deg = angle_deg(line_of(head, axis));
    out->kappa_deg = strcmp(axis, "Kappa") ? angle_deg(line_of(head, "Kappa")) : NAN;
    out->chi_deg = strcmp(axis, "Chi") ? angle_deg(line_of(head, "Chi")) : NAN;
}

/** Read "Silicon sensor, thickness 0.000320 m". */
static void read_sensor(span head, nb_said_geometry *out)
{
    static const char mark[] = " sensor, thickness";
    const char *at = find(head, mark), *first = at;
    size_t n;
    out->thick_mm = NAN;
    out->material[0] = '\0';
    if (!at)
        return;
    while (first > head.p && (isalnum((unsigned char)first[-1])))
        first--;
    n = (size_t)(at - first);
    if (n > 0 && n < sizeof out->material) {
        memcpy(out->material, first, n);
        out->material[n] = '\0';
    }
    head.p = at;
    head = line_behind(head, mark);
    while (head.p < head.end && is_filler(*head.p))
        head.p++;
    out->thick_mm = length_m(head) * 1e3;
}

void nb_cbf_read_header(const nb_image_file *file, nb_cbf_header *out)
{
    span head = header_of(file), line;
    const double pixel_m = length_m(line_of(head, "Pixel_size"));
    nb_said_geometry *said = &out->said;
    memset(out, 0, sizeof *out);
    out->full = find(head, "_axis.vector[1]") != NULL;
    said->own = is_word(line_of(head, "Detector"), "nanobragg");
    /* in files of nanobragg, the beam centre is where the beam hits the swung detector */
    said->pivot = said->own ? NB_PIVOT_BEAM : NB_PIVOT_SAMPLE;
    said->pixel_mm = pixel_m * 1e3;
    said->wavelength_A = wavelength_A(head);
    said->distance_mm = length_m(line_of(head, "Detector_distance")) * 1e3;
    read_beam(head, pixel_m, said->beam_px);
    said->twotheta_deg = angle_deg(line_of(head, "Detector_2theta"));
    read_rotation(head, out);
    line = line_of(head, "Polarization");
    said->polarization = take(&line);
    if (!(fabs(said->polarization) <= 1))
        said->polarization = NAN;
    read_sensor(head, said);
}

/** Find the next binary section, and move *rest to its data; 0 without a section. */
static int find_section(span *rest, span *mime, span *data)
{
    const char *begin = find(*rest, section_mark), *at;
    span behind = {begin, rest->end};
    if (!begin || !(at = find(behind, data_mark)))
        return 0;
    *mime = (span){begin, at};
    *data = (span){at + sizeof data_mark - 1, rest->end};
    rest->p = data->p;
    return 1;
}

static int whole(span mime, const char *key)
{
    double x = number_behind(mime, key);
    return x >= 1 && x <= 0x7fffffff && x == floor(x) ? (int)x : 0;
}

/** Read the type of the elements; 0 for an unknown type. */
static int read_type(span mime, nb_cbf_pixels *out)
{
    char text[48];
    for (out->bits = 8; out->bits <= 64; out->bits *= 2)
        for (int form = 0; form < 3; form++) {
            out->is_signed = form != 1;
            out->is_real = form == 2;
            snprintf(text, sizeof text, "\"%ssigned %d-bit %s\"", form == 1 ? "un" : "",
                     out->bits, form == 2 ? "real IEEE" : "integer");
            if (find(mime, text) && !(form == 2 && out->bits < 32))
                return 1;
        }
    return 0;
}

static int read_coding(span mime, nb_cbf_pixels *out)
{
    static const struct {
        const char *name;
        nb_cbf_coding coding;
    } all[] = {{"x-CBF_BYTE_OFFSET", NB_CBF_BYTE_OFFSET},
               {"x-CBF_PACKED_V2", NB_CBF_PACKED_V2},
               {"x-CBF_PACKED", NB_CBF_PACKED},
               {"x-CBF_NONE", NB_CBF_NONE}};
    out->flat = find(mime, "\"flat\"") != NULL;
    out->sliced = find(mime, "uncorrelated_sections") != NULL;
    out->coding = NB_CBF_NONE;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (find(mime, all[i].name)) {
            out->coding = all[i].coding;
            return 1;
        }
    return !find(mime, "conversions=");
}

/** Check that the section has a known kind and is complete. */
static nb_status check_section(span mime, span *data, nb_cbf_pixels *out, nb_error *err)
{
    int bytes = whole(mime, "X-Binary-Size:");
    int count = whole(mime, "X-Binary-Number-of-Elements:");
    int64_t pixels;
    const int known =
        read_coding(mime, out) && read_type(mime, out) && !find(mime, "BIG_ENDIAN");
    if (!known || (out->flat && out->bits == 64) || /* CBFlib cannot read these kinds */
        (out->coding == NB_CBF_BYTE_OFFSET &&
         (out->bits != 32 || !out->is_signed || out->is_real)))
        return nb_fail_at(
            err, NB_ERR_INPUT, out->name, 0,
            "this kind of CBF cannot be read: byte offsets of signed 32-bit "
            "integers can, and packed and plain pixels, all in little-endian order");
    out->fast = whole(mime, "X-Binary-Size-Fastest-Dimension:");
    out->slow = whole(mime, "X-Binary-Size-Second-Dimension:");
    out->deep = whole(mime, "X-Binary-Size-Third-Dimension:");
    out->deep = out->deep ? out->deep : 1;
    pixels = (int64_t)out->fast * out->slow;
    if (!out->fast || !out->slow || !bytes || pixels > INT32_MAX / out->deep ||
        (count && count != pixels * out->deep))
        return nb_fail_at(err, NB_ERR_INPUT, out->name, 0,
                          "a damaged CBF header: sizes %d x %d, %d elements, %d bytes",
                          out->fast, out->slow, count, bytes);
    if (data->end - data->p < bytes ||
        (out->coding == NB_CBF_BYTE_OFFSET && bytes < pixels * out->deep))
        return nb_fail_at(
            err, NB_ERR_INPUT, out->name, 0,
            "the pixels are cut short: %d x %d in %d bytes, but only %zu are there",
            out->fast, out->slow, bytes, (size_t)(data->end - data->p));
    data->end = data->p + bytes;
    out->data = data->p;
    out->bytes = (size_t)bytes;
    return NB_OK;
}

static int64_t little_endian(const char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--)
        x = x << 8 | (unsigned char)p[i];
    return bytes == 8 ? (int64_t)x
                      : (int64_t)(x ^ UINT64_C(1) << (8 * bytes - 1)) -
                            (INT64_C(1) << (8 * bytes - 1));
}

/** Read the next difference, in 1, 2, 4 or 8 bytes. The lowest number of a size announces
 * the next size. 0 if the data end. */
static int next_difference(span *s, int64_t *d)
{
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
        if (s->end - s->p < bytes)
            return 0;
        *d = little_endian(s->p, bytes);
        s->p += bytes;
        if (bytes == 8 || *d != -(INT64_C(1) << (8 * bytes - 1)))
            return 1;
    }
    return 0;
}

static nb_status decode_offsets(const nb_cbf_pixels *section, float *to, nb_error *err)
{
    size_t n = (size_t)section->fast * (size_t)section->slow * (size_t)section->deep;
    span data = {section->data, section->data + section->bytes};
    int64_t value = 0, d;
    for (size_t i = 0; i < n; i++) {
        if (!next_difference(&data, &d))
            return nb_fail_at(err, NB_ERR_INPUT, section->name, 0,
                              "the pixels are cut short: %zu of %zu", i, n);
        if (d > INT64_C(0xffffffff) || d < -INT64_C(0xffffffff) ||
            (value += d) > INT32_MAX || value < INT32_MIN)
            return nb_fail_at(err, NB_ERR_INPUT, section->name, 0,
                              "pixel %zu does not fit 32 bits: damaged data", i);
        to[i] = (float)value;
    }
    return NB_OK;
}

/** Check that all sections have the same width and type, and add up their rows. */
static nb_status measure_sections(const nb_image_file *file, nb_cbf_pixels *first,
                                  nb_image *out, nb_error *err)
{
    span rest = header_of(file), mime, data;
    int64_t rows = 0;
    nb_cbf_pixels one = {.name = file->name};
    nb_status st;
    rest = (span){rest.end, (const char *)file->data + file->bytes};
    for (int n = 0; find_section(&rest, &mime, &data); n++) {
        NB_FORWARD(check_section(mime, &data, &one, err));
        *first = n ? *first : one;
        rest.p = data.end;
        rows += (int64_t)one.slow * one.deep;
        if (one.fast != first->fast || one.bits != first->bits ||
            one.is_signed != first->is_signed || one.is_real != first->is_real ||
            rows > INT32_MAX)
            return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                              "image %d has another width or type than the first", n + 1);
    }
    if (!rows)
        return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                          "the CBF has no binary data, or it is cut short");
    out->fast = first->fast;
    out->slow = (int)rows;
    return NB_OK;
}

static nb_status read_sections(const nb_image_file *file, nb_image *out, nb_error *err)
{
    span rest = header_of(file), mime, data;
    nb_cbf_pixels one = {.name = file->name};
    float *to = out->pixels;
    nb_status st = NB_OK;
    rest = (span){rest.end, (const char *)file->data + file->bytes};
    while (!st && find_section(&rest, &mime, &data) &&
           !(st = check_section(mime, &data, &one, err))) {
        rest.p = data.end;
        st = one.coding == NB_CBF_BYTE_OFFSET ? decode_offsets(&one, to, err)
                                              : nb_cbf_decode(&one, to, err);
        to += (size_t)one.fast * (size_t)one.slow * (size_t)one.deep;
    }
    return st;
}

nb_status nb_cbf_parse(const nb_image_file *file, nb_image *out, nb_error *err)
{
    nb_counts_of counts = {.least = NAN, .max = NAN};
    nb_cbf_pixels first = {.name = file->name};
    nb_status st = measure_sections(file, &first, out, err);
    NB_TRY(nb_image_allocate(file->name, out, err));
    NB_TRY(read_sections(file, out, err));
    counts.bits = first.is_real ? 0 : first.bits;
    counts.is_signed = first.is_signed;
    return st ? st : nb_leave_out_marks(out, &counts, err);
}
