/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/base/store.h"

nb_config nb_test_config(void)
{
    const char *isa = getenv("NB_TEST_ISA");
    nb_config cfg;
    nb_config_defaults(&cfg);
    cfg.write_float = cfg.write_int = cfg.write_pgm = cfg.write_noise = 0;
    cfg.precision = NB_PRECISION_DOUBLE;
    cfg.isa = isa && strcmp(isa, "auto") == 0 ? NB_ISA_AUTO : NB_ISA_SCALAR;
    nb_put_text(&cfg.device, "cpu");
    return cfg;
}

nb_series nb_test_series(void)
{
    nb_series series;
    nb_series_defaults(&series);
    return series;
}

/** Keeps a text until the process ends. */
static void keep(nb_text text)
{
    struct kept {
        nb_text text;
        struct kept *next;
    };
    static struct kept *all;
    struct kept *one = malloc(sizeof *one);
    if (!one)
        abort();
    one->text = nb_shared_hold(text);
    one->next = all;
    all = one;
}

nb_status nb_put(nb_config *cfg, const char *name, const char *text, nb_error *err)
{
    const nb_param *p = nb_param_find(name);
    nb_text *at = p && nb_param_is_text(p) ? (void *)((char *)cfg + p->offset) : NULL;
    nb_text old = at ? *at : NULL;
    nb_status st;
    if (at)
        *at = nb_no_text;
    st = nb_config_set(cfg, name, text, err);
    if (at && st)
        *at = old;
    else if (at)
        keep(*at);
    return st;
}

void nb_put_text(nb_text *to, const char *format, ...)
{
    char text[NB_PARAM_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *to = nb_no_text;
    if (nb_text_put(to, text, NULL))
        abort();
    if (text[0])
        keep(*to);
}

void nb_put_golden(nb_text *to, const char *name)
{
    char path[NB_PATH_MAX];
    nb_golden_path(path, name);
    nb_put_text(to, "%s", path);
}

void nb_put_scratch(nb_text *to, const char *name)
{
    char path[NB_PATH_MAX];
    nb_scratch_path(path, name);
    nb_put_text(to, "%s", path);
}

nb_config nb_suite_config(double lambda_A, int N, int pixels)
{
    nb_config cfg = nb_test_config();
    cfg.default_F = 100;
    nb_set_cell(&cfg, 100, 100, 100, 90, 90, 90);
    cfg.pixel_mm = 0.1;
    cfg.distance_mm = 100;
    cfg.convention = NB_CONV_MOSFLM;
    cfg.oversample = 1;
    cfg.lambda_A = lambda_A;
    nb_set_N(&cfg, N);
    nb_set_pixels(&cfg, pixels, pixels);
    return cfg;
}

void nb_set_N(nb_config *cfg, int N)
{
    cfg->N[0] = cfg->N[1] = cfg->N[2] = N;
}

void nb_set_pixels(nb_config *cfg, int fast, int slow)
{
    cfg->detpixels[0] = fast;
    cfg->detpixels[1] = slow;
}

void nb_set_cell(nb_config *cfg, double a, double b, double c, double alpha, double beta,
                 double gamma)
{
    const double cell[6] = {a, b, c, alpha, beta, gamma};
    memcpy(cfg->cell, cell, sizeof cell);
    cfg->cell_count = 6;
}

void nb_set_beam(nb_config *cfg, double Xbeam_mm, double Ybeam_mm)
{
    cfg->Xbeam_mm = Xbeam_mm;
    cfg->Ybeam_mm = Ybeam_mm;
}

void nb_set_misset(nb_config *cfg, double x_deg, double y_deg, double z_deg)
{
    cfg->misset_mode = NB_MISSET_FIXED;
    cfg->misset_deg[0] = x_deg;
    cfg->misset_deg[1] = y_deg;
    cfg->misset_deg[2] = z_deg;
}

void nb_set_rotations(nb_config *cfg, double x_deg, double y_deg, double z_deg)
{
    cfg->rot_deg[0] = x_deg;
    cfg->rot_deg[1] = y_deg;
    cfg->rot_deg[2] = z_deg;
}

void nb_set_vector(nb_opt3 *vector, double x, double y, double z)
{
    vector->set = 1;
    vector->v[0] = x;
    vector->v[1] = y;
    vector->v[2] = z;
}

nb_status nb_picture_render(const nb_config *cfg, nb_picture *picture, nb_error *err)
{
    nb_status st;
    memset(picture, 0, sizeof *picture);
    st = nb_sim_create(cfg, NULL, &picture->sim, err);
    if (st)
        return st;
    nb_sim_size(picture->sim, &picture->fast, &picture->slow);
    picture->n = (size_t)picture->fast * (size_t)picture->slow;
    picture->pixels = malloc(picture->n * sizeof *picture->pixels);
    st = picture->pixels
             ? nb_sim_render(picture->sim, picture->pixels, &picture->stats, err)
             : NB_ERR_NOMEM;
    if (st)
        nb_picture_free(picture);
    return st;
}

void nb_picture_free(nb_picture *picture)
{
    free(picture->pixels);
    nb_sim_free(picture->sim);
    memset(picture, 0, sizeof *picture);
}

void nb_golden_path(char path[NB_PATH_MAX], const char *name)
{
    const char *source = getenv("NB_SOURCE");
    snprintf(path, NB_PATH_MAX, "%s/golden_data/%s", source ? source : ".", name);
}

double nb_correlation(const float *a, const float *b, size_t n)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < n; i++) {
        ma += a[i] / (double)n;
        mb += b[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return ab / sqrt(aa * bb);
}

double nb_max_difference(const float *a, const float *b, size_t n)
{
    double worst = 0, max = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return NAN;
        worst = fmax(worst, fabs((double)a[i] - b[i]));
        max = fmax(max, b[i]);
    }
    return worst / max;
}

void nb_scratch_path(char path[NB_PATH_MAX], const char *name)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, NB_PATH_MAX, "%s/nb-test-%ld-%s", folder ? folder : "/tmp",
             (long)getpid(), name);
}

int nb_scratch_write(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    size_t written = file ? fwrite(data, 1, bytes, file) : 0;
    return file && fclose(file) == 0 && written == bytes;
}

char *nb_file_bytes(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    long size;
    *bytes = 0;
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        (data = malloc((size_t)size + 1))) {
        rewind(file);
        *bytes = fread(data, 1, (size_t)size, file);
        data[*bytes] = 0;
    }
    fclose(file);
    return data;
}
