/* SPDX-License-Identifier: MIT */
#include "beam.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/philox.h"
#include "../base/text.h"
#include "units.h"

enum {
    LEAST_WAVELENGTHS = 16, /* least number of wavelengths of a part */
    MAX_WAVELENGTHS = 10000,
    MAX_MODES = 20000
};
#define FIELD_STREAM 0x7ffffffcu /* stream of Philox for the field */
#define HBAR_EV_FS 0.6582119569509066
/* number of full widths at half maximum that the wavelengths cover */
#define SMOOTH_REACH 3.0
#define LEFT_OUT 138.2 /* -4 ln of the smallest term of a field, 1e-15 */

/* ------------------------------------------------------------------ typed values */

static const char *const kinds[] = {"gauss",    "tophat", "twocolour",
                                    "twocolor", "sase",   "seeded"};
enum { GAUSS, TOPHAT, TWOCOLOUR, TWOCOLOR, SASE, SEEDED, FROM_FILE };

static int kind_of(const char *name)
{
    int kind = 0;
    while (kind < FROM_FILE && strcmp(name, kinds[kind]) != 0)
        kind++;
    return kind == TWOCOLOR ? TWOCOLOUR : kind;
}

int nb_spectrum_is_set(const nb_settings *cfg)
{
    return cfg->value.spectrum[0] != '\0';
}

int nb_spectrum_is_file(const char *name)
{
    return name[0] && kind_of(name) == FROM_FILE;
}

const char *nb_spectrum_kinds(char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < FROM_FILE && used < size; i++)
        if (i != TWOCOLOR)
            used += (size_t)snprintf(text + used, size - used, i ? " %s" : "%s", kinds[i]);
    return text;
}

/** Read "w" or "w:x" of a flag; x may be missing. largest: limit of w, percent. */
static nb_status read_pair(const char *flag, const char *text, double largest, double *w,
                           double *x, nb_error *err)
{
    const char *end = text + strlen(text), *p = nb_text_double(text, end, w);
    if (p && *p == ':')
        p = nb_text_double(p + 1, end, x);
    if (p != end)
        return nb_fail(err, NB_ERR_INPUT,
                       "-%s %s: type a width in percent, or width:part", flag, text);
    if (!(*w > 0 && *w <= largest))
        return nb_fail(err, NB_ERR_INPUT,
                       "-%s %s: the width must be above 0 and at most %g %%", flag, text,
                       largest);
    if (!(*x >= 0 && *x <= 1))
        return nb_fail(err, NB_ERR_INPUT, "-%s %s: the part must be from 0 to 1", flag,
                       text);
    return NB_OK;
}

/** For each kind, the flags that it needs (+) or refuses (-): bandwidth, pulse_length,
 * split, line. */
static const char *const uses[] = {
    [GAUSS] = "+---", [TOPHAT] = "+---", [TWOCOLOUR] = "+-+-",
    [SASE] = "++--",  [SEEDED] = "++-+", [FROM_FILE] = "----"};

static nb_status check_flags(const nb_settings *cfg, nb_error *err)
{
    const nb_config *c = &cfg->value;
    const int is_set = nb_spectrum_is_set(cfg), kind = kind_of(c->spectrum);
    const struct {
        const char *flag;
        int given;
    } flags[] = {{"bandwidth", NB_TYPED(cfg, bandwidth_pct)},
                 {"pulse_length", NB_TYPED(cfg, pulse_fs)},
                 {"split", c->split[0] != 0},
                 {"line", c->line[0] != 0}};
    for (int i = 0; i < 4; i++) {
        if (flags[i].given && !is_set)
            return nb_fail(err, NB_ERR_INPUT, "-%s: needs -spectrum", flags[i].flag);
        if (flags[i].given && uses[kind][i] == '-')
            return nb_fail(err, NB_ERR_INPUT,
                           "-%s: -spectrum %s does not use it; leave it out",
                           flags[i].flag, c->spectrum);
        if (is_set && !flags[i].given && uses[kind][i] == '+')
            return nb_fail(err, NB_ERR_INPUT, "-spectrum %s: needs -%s", c->spectrum,
                           flags[i].flag);
    }
    if (!is_set && (NB_TYPED(cfg, wavelengths) || c->spectrum_out[0]))
        return nb_fail(err, NB_ERR_INPUT, "-%s: needs -spectrum",
                       c->spectrum_out[0] ? "spectrumout" : "wavelengths");
    return NB_OK;
}

nb_status nb_spectrum_check(const nb_settings *cfg, nb_error *err)
{
    const nb_config *c = &cfg->value;
    const char *other = c->source_file[0]                    ? "sourcefile"
                        : NB_TYPED(cfg, dispersion_pct)      ? "dispersion"
                        : NB_TYPED(cfg, dispersion_steps)    ? "dispsteps"
                        : NB_TYPED(cfg, dispersion_step_pct) ? "dispstep"
                                                             : NULL;
    nb_status st = check_flags(cfg, err);
    if (st || !nb_spectrum_is_set(cfg))
        return st;
    if (other)
        return nb_fail(err, NB_ERR_INPUT,
                       "-spectrum and -%s both set the wavelengths; give one of them",
                       other);
    if (c->compat)
        return nb_fail(err, NB_ERR_INPUT,
                       "-spectrum: not with -compat, which has no such beam");
    return NB_OK;
}

/* ------------------------------------------------------------------ parts */

static void smooth_part(nb_spectrum_part *p, nb_spectrum_law law, double photons,
                        double centre, double fwhm)
{
    *p = (nb_spectrum_part){
        .law = law, .photons = photons, .centre_eV = centre, .fwhm = fwhm};
    p->range = law == NB_SPECTRUM_FLAT ? fwhm : SMOOTH_REACH * fwhm;
}

/** Make the parts of a kind. */
static nb_status make_parts(const nb_settings *cfg, const nb_spectrum_use *use,
                            nb_spectrum *s, nb_error *err)
{
    const nb_config *c = &cfg->value;
    const double E0 = NB_HC_EV_ANGSTROM / use->centre_A,
                 width = c->bandwidth_pct / 100 * E0;
    const int kind = kind_of(c->spectrum);
    const nb_spectrum_law law = kind >= SASE ? NB_SPECTRUM_CHAOTIC : NB_SPECTRUM_SMOOTH;
    double w = 0, x = 0.5;
    nb_status st = NB_OK;
    s->kind = kind == FROM_FILE ? "file" : kinds[kind];
    s->parts = 1;
    if (kind == FROM_FILE) {
        const double low = use->points[0].eV, high = use->points[use->n_points - 1].eV;
        smooth_part(s->part, NB_SPECTRUM_FLAT, 1, 0.5 * (low + high), high - low);
        s->part->law = NB_SPECTRUM_TYPED;
        return NB_OK;
    }
    if (kind == TWOCOLOUR)
        st = read_pair("split", c->split, 50, &w, &x, err);
    if (kind == SEEDED)
        st = read_pair("line", c->line, c->bandwidth_pct, &w, &x, err);
    if (kind == TOPHAT) {
        smooth_part(s->part, NB_SPECTRUM_FLAT, 1, E0, width);
    } else if (kind == GAUSS || kind == SASE) {
        smooth_part(s->part, law, 1, E0, width);
    } else {
        const double apart = kind == TWOCOLOUR ? w / 200 : 0;
        s->parts = 2;
        smooth_part(&s->part[0], law, 1 - x, E0 * (1 - apart), width);
        smooth_part(&s->part[1], law, x, E0 * (1 + apart),
                    kind == SEEDED ? w / 100 * E0 : width);
    }
    return st;
}

/** r.m.s. width of a normal density with this full width at half maximum. */
static double sigma_of(double fwhm)
{
    return fwhm / sqrt(8 * log(2));
}

/** Set coherence and modes of chaotic parts, and check the energies of all parts. */
static nb_status check_parts(const nb_settings *cfg, nb_spectrum *s, nb_error *err)
{
    const double coherence = HBAR_EV_FS * sqrt(2 * log(2)) / cfg->value.pulse_fs;
    for (int i = 0; i < s->parts; i++) {
        nb_spectrum_part *p = &s->part[i];
        if (!(p->centre_eV - 0.5 * p->range > 0))
            return nb_fail(err, NB_ERR_INPUT,
                           "-spectrum %s: it reaches the photon energy 0; type a smaller "
                           "-bandwidth",
                           cfg->value.spectrum);
        if (p->law != NB_SPECTRUM_CHAOTIC)
            continue;
        s->is_chaotic = 1;
        p->coherence = coherence;
        p->modes = sigma_of(p->fwhm) / coherence;
        if (p->modes < 1)
            return nb_fail(
                err, NB_ERR_INPUT,
                "-pulse_length %g fs: too short for %s %.4g eV wide; type %.6g or more",
                cfg->value.pulse_fs, i ? "a line" : "a spectrum", p->fwhm,
                cfg->value.pulse_fs / p->modes * (1 + 1e-6));
        if (p->modes > MAX_MODES)
            return nb_fail(
                err, NB_ERR_INPUT,
                "-pulse_length %g fs: %.0f modes (limit %d); type a shorter pulse or "
                "a smaller -bandwidth",
                cfg->value.pulse_fs, p->modes, MAX_MODES);
    }
    return NB_OK;
}

/** Choose wavelengths of each part: neighbours are half a reflection's width apart. */
static nb_status choose_wavelengths(const nb_settings *cfg, const nb_spectrum_use *use,
                                    nb_spectrum *s, nb_error *err)
{
    double largest = LEAST_WAVELENGTHS;
    if (NB_TYPED(cfg, wavelengths)) {
        s->each = cfg->value.wavelengths;
        return NB_OK;
    }
    for (int i = 0; i < s->parts; i++) {
        const nb_spectrum_part *p = &s->part[i];
        const double relative = p->range * use->centre_A / NB_HC_EV_ANGSTROM;
        largest = fmax(largest, nb_ceil_ratio(relative * use->centre_A * use->length_A /
                                              (use->dmin_A * use->dmin_A)));
    }
    if (!(largest <= MAX_WAVELENGTHS))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-spectrum %s: this crystal needs %.4g wavelengths to %.3g A (limit %d); "
            "type -wavelengths, or a larger -dmin",
            cfg->value.spectrum, largest, use->dmin_A, MAX_WAVELENGTHS);
    s->each = (int)largest;
    return NB_OK;
}

/* ------------------------------------------------------------------ photons of each wavelength */

/** Middle of step i of a part, eV. */
static double middle(const nb_spectrum_part *p, int n, int i)
{
    return p->centre_eV - 0.5 * p->range + (i + 0.5) * (p->range / n);
}

static void fill_smooth(const nb_spectrum_part *p, int n, double *photons)
{
    const double unit = 1 / (sqrt(2) * sigma_of(p->fwhm)), step = p->range / n * unit;
    const double all = erf(0.5 * p->range * unit);
    for (int i = 0; i < n; i++) {
        const double low = (i - 0.5 * n) * step;
        photons[i] = 0.5 * (erf(low + step) - erf(low)) / all;
    }
}

/** Integral of the density (straight lines between points) up to an energy. */
static double integral_to(const nb_spectrum_point *p, int n, double eV)
{
    double sum = 0;
    for (int i = 0; i + 1 < n && p[i].eV < eV; i++) {
        const double width = p[i + 1].eV - p[i].eV, end = fmin(eV, p[i + 1].eV) - p[i].eV;
        const double at = p[i].density + (p[i + 1].density - p[i].density) * (end / width);
        sum += 0.5 * (p[i].density + at) * end;
    }
    return sum;
}

static void fill_typed(const nb_spectrum_use *use, const nb_spectrum_part *p, int n,
                       double *photons)
{
    const double first = use->points[0].eV, step = p->range / n;
    const double all = integral_to(use->points, use->n_points, INFINITY);
    double low = 0;
    for (int i = 0; i < n; i++) {
        const double to = i + 1 < n ? first + (i + 1) * step : INFINITY;
        const double high = integral_to(use->points, use->n_points, to);
        photons[i] = (high - low) / all;
        low = high;
    }
}

/** The random field of a part: oscillators at -J to J times `distance`, each with a
 * normal density and two normal deviates. */
typedef struct chaos {
    double centre, coherence, distance; /* eV */
    /* constant factor by which the ratio of neighbouring Gaussians changes */
    double ratio;
    int J;
    double *part; /* owned; weight, real part, imaginary part of each oscillator */
} chaos;

static nb_status chaos_make(const nb_spectrum_part *p, int number, int64_t seed, chaos *c,
                            nb_error *err)
{
    const double s = p->coherence, sE = sigma_of(p->fwhm);
    const double sn = sqrt(fmax(0, sE * sE - s * s));
    *c = (chaos){.centre = p->centre_eV, .coherence = s, .distance = sn * s / sE};
    c->ratio = exp(-0.5 * c->distance * c->distance / (s * s));
    c->J = sn > 0 ? (int)ceil(5 * sn / c->distance) : 0;
    c->part = nb_alloc(2 * (size_t)c->J + 1, 3 * sizeof *c->part, "spectrum", err);
    for (int k = 0; c->part && k <= 2 * c->J; k++) {
        const uint64_t item = ((uint64_t)number << 31) + (uint64_t)k;
        double other,
            deviate =
                nb_normal52(nb_philox((uint64_t)seed, item, FIELD_STREAM, 0), &other);
        const double e = (k - c->J) * c->distance;
        double *to = c->part + 3 * (size_t)k;
        to[0] = sn > 0 ? exp(-e * e / (4 * sn * sn)) : 1;
        to[1] = to[0] * deviate;
        to[2] = to[0] * other;
    }
    return c->part ? NB_OK : NB_ERR_NOMEM;
}

/** Sums over oscillators: fields, and mean squares. */
typedef struct chaos_sum {
    double re, im, square;
} chaos_sum;

/** Add oscillators j to end. g: Gaussian of oscillator j - 1; ratio: ratio of the
 * Gaussian of j to g. */
static void add_oscillators(const chaos *c, int j, int end, double g, double ratio,
                            chaos_sum *sum)
{
    const int by = end < j ? -1 : 1;
    for (const double *part = c->part + 3 * (size_t)(j + c->J);; j += by, part += 3 * by) {
        g *= ratio;
        ratio *= c->ratio;
        sum->re += part[1] * g;
        sum->im += part[2] * g;
        sum->square += part[0] * part[0] * g * g;
        if (j == end)
            return;
    }
}

/** |f|^2 of the shot at an energy; The mean of |f|^2 over all shots is added to *mean.
 * The ratios of Gaussians at even steps change by a constant factor. */
static double chaos_at(const chaos *c, double eV, double *mean)
{
    const double x = eV - c->centre, reach = c->coherence * sqrt(LEFT_OUT);
    const double unit = c->distance > 0 ? c->distance : INFINITY;
    const int low = (int)fmax(-c->J, ceil((x - reach) / unit)),
              high = (int)fmin(c->J, floor((x + reach) / unit));
    const int near = (int)fmin(fmax(nearbyint(x / unit), low), high);
    const double d = 0.5 * c->distance / c->coherence,
                 off = 0.5 * (x - near * c->distance) / c->coherence;
    const double g = exp(-off * off), up = exp((2 * off - d) * d);
    chaos_sum sum = {0};
    if (low > high)
        return 0;
    add_oscillators(c, near, near, g, 1, &sum);
    if (near < high)
        add_oscillators(c, near + 1, high, g, up, &sum);
    if (near > low)
        add_oscillators(c, near - 1, low, g, c->ratio / up, &sum);
    *mean += 2 * sum.square;
    return sum.re * sum.re + sum.im * sum.im;
}

/** Fill photons of this shot and the mean shot, divided by the sum of the mean shot. */
static nb_status fill_chaotic(const nb_spectrum_part *p, int number, int n, int64_t seed,
                              double *photons, double *means, nb_error *err)
{
    chaos c;
    const double step = p->range / n;
    const int q = (int)ceil(2 * step / p->coherence);
    double sum = 0;
    nb_status st = chaos_make(p, number, seed, &c, err);
    for (int i = 0; i < n && !st; i++) {
        photons[i] = means[i] = 0;
        for (int k = 0; k < q; k++)
            photons[i] +=
                chaos_at(&c, middle(p, n, i) + step * ((k + 0.5) / q - 0.5), &means[i]);
        sum += means[i];
    }
    for (int i = 0; i < n && !st; i++) {
        photons[i] /= sum;
        means[i] /= sum;
    }
    nb_free(c.part);
    return st;
}

static nb_status fill_part(const nb_spectrum_use *use, int number, nb_spectrum *s,
                           nb_error *err)
{
    const nb_spectrum_part *p = &s->part[number];
    const size_t first = (size_t)number * (size_t)s->each;
    double *photons = s->weight + first, *mean = s->mean + first;
    nb_status st = NB_OK;
    for (int i = 0; i < s->each; i++) {
        s->A[first + (size_t)i] = nb_typeable(NB_HC_EV_ANGSTROM / middle(p, s->each, i));
        photons[i] = 1.0 / s->each;
    }
    if (p->law == NB_SPECTRUM_SMOOTH)
        fill_smooth(p, s->each, photons);
    else if (p->law == NB_SPECTRUM_TYPED)
        fill_typed(use, p, s->each, photons);
    else if (p->law == NB_SPECTRUM_CHAOTIC)
        st = fill_chaotic(p, number, s->each, use->seed, photons, mean, err);
    if (p->law != NB_SPECTRUM_CHAOTIC)
        memcpy(mean, photons, (size_t)s->each * sizeof *mean);
    for (int i = 0; i < s->each; i++) {
        photons[i] *= p->photons;
        mean[i] *= p->photons;
    }
    return st;
}

/** Convert fractions of all photons to weights of mean 1, and set the factor. */
static nb_status make_weights(nb_spectrum *s, nb_error *err)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        sum += s->weight[i];
    if (!(sum > 0))
        return nb_fail(err, NB_ERR_INPUT, "-spectrum: no photons");
    for (int i = 0; i < s->n; i++) {
        s->weight[i] = nb_typeable(s->weight[i] / sum * s->n);
        s->mean[i] *= s->n;
    }
    s->factor = s->is_chaotic ? nb_typeable(sum) : 1;
    return NB_OK;
}

nb_status nb_spectrum_make(const nb_settings *cfg, const nb_spectrum_use *use,
                           nb_spectrum *out, nb_error *err)
{
    nb_status st;
    memset(out, 0, sizeof *out);
    if ((st = make_parts(cfg, use, out, err)) || (st = check_parts(cfg, out, err)) ||
        (st = choose_wavelengths(cfg, use, out, err)))
        return st;
    out->n = out->parts * out->each;
    out->A = nb_alloc((size_t)out->n, sizeof *out->A, "spectrum", err);
    out->weight = nb_alloc((size_t)out->n, sizeof *out->weight, "spectrum", err);
    out->mean = nb_alloc((size_t)out->n, sizeof *out->mean, "spectrum", err);
    if (!out->A || !out->weight || !out->mean)
        st = NB_ERR_NOMEM;
    for (int i = 0; i < out->parts && !st; i++)
        st = fill_part(use, i, out, err);
    NB_TRY(make_weights(out, err));
    if (st)
        nb_spectrum_free(out);
    return st;
}

void nb_spectrum_free(nb_spectrum *s)
{
    nb_free(s->A);
    nb_free(s->weight);
    nb_free(s->mean);
    memset(s, 0, sizeof *s);
}
