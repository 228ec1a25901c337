/* SPDX-License-Identifier: MIT */
/* Compares the point spread with its definition, pixel by pixel. */
#include "noise_samples.h"

#include "image/light.h"

static double gauss_1d(double fwhm, double edge, int d)
{
    double c = sqrt(4 * log(2)) / fwhm * edge;
    return (erf(c * (d + 0.5)) - erf(c * (d - 0.5))) / 2;
}

static double fibre_corner(double x, double y, double g)
{
    return atan(x * y / (g * sqrt(g * g + x * x + y * y))) / (2 * NB_PI);
}

/** K(f, s): fraction of a pixel's light that goes to the pixel at (f, s) from it. */
static double kernel(nb_psf_shape shape, double fwhm, const nb_panel *p, int f, int s)
{
    double g = 0.652383013252053 * fwhm;
    double x0 = p->pixel_fast * (f - 0.5), x1 = p->pixel_fast * (f + 0.5);
    double y0 = p->pixel_slow * (s - 0.5), y1 = p->pixel_slow * (s + 0.5);
    if (shape == NB_PSF_GAUSS)
        return gauss_1d(fwhm, p->pixel_fast, f) * gauss_1d(fwhm, p->pixel_slow, s);
    return fibre_corner(x1, y1, g) - fibre_corner(x1, y0, g) - fibre_corner(x0, y1, g) +
           fibre_corner(x0, y0, g);
}

/** Light of these photons after the point spread, in doubles, row after row. */
static double *light_of(const detector *d, const float *photons, nb_stage stage,
                        nb_isa isa, int threads)
{
    const nb_photons of = {.scene = &d->scene,
                           .pixels = photons,
                           .kernels = nb_image_kernels_of(isa),
                           .threads = threads};
    double *out = nb_alloc(d->scene.raster.pixels, sizeof *out, "light", NULL), *to = out;
    nb_light *light;
    nb_error err = {0};
    if (nb_light_make(&of, &stage, 0, &light, &err))
        fail_msg("%s", err.message);
    for (int s = 0; s < d->scene.raster.rows; s++) {
        nb_light_row(light, s, to);
        to += nb_stack_row_of(&d->scene, s).columns;
    }
    nb_light_free(light);
    return out;
}

/* The light of one pixel becomes K: it neither reaches another panel nor wraps around. */
static void lit_pixel(nb_psf_shape shape, double um, int f, int s)
{
    enum { W = 31, H = 23 };
    static float photons[2 * W * H];
    nb_fibres *fibres = some_fibres();
    detector d = {0};
    double *light, sum = 0, expected = 0;
    memset(photons, 0, sizeof photons);
    put_panel(&d, W, H, 0.1e-3);
    put_panel(&d, W, H, 0.1e-3);
    /* pixels are not square; the width of the point spread is a length, not a number of
     * pixels */
    d.panels[0].pixel_slow = 0.07e-3;
    photons[s * W + f] = 1;
    light = light_of(&d, photons, spread(shape, um, fibres), widest(), 1);
    for (int i = 0; i < W * H; i++) {
        double k = kernel(shape, um * 1e-6, d.panels, i % W - f, i / W - s);
        check_close(light[i], k, 1e-12);
        sum += light[i];
        expected += k;
    }
    check_close(sum, expected, 1e-11);
    assert_true(sum < 1 + 1e-12);
    for (int i = W * H; i < 2 * W * H; i++)
        check_close(light[i], 0, 0);
    nb_free(light);
    nb_fibres_free(fibres);
}

UNIT_TEST(lit_pixels)
{
    for (int shape = NB_PSF_GAUSS; shape <= NB_PSF_FIBRE; shape++) {
        if (shape == NB_PSF_FIBRE && !has_fftw())
            skip_because("fibre: no FFTW");
        for (double um = 3; um < 20000; um *= 9) {
            lit_pixel((nb_psf_shape)shape, um, 15, 11);
            lit_pixel((nb_psf_shape)shape, um, 0, 22);
            lit_pixel((nb_psf_shape)shape, um, 30, 0);
        }
    }
}

/** The integral of the fibre function over the square |x|, |y| < a. */
static double fibre_square(double a, double fwhm)
{
    return 4 * fibre_corner(a, a, 0.652383013252053 * fwhm);
}

/* If only the centre pixel has light, the total is the integral of K over the panel, to
 * within the size of a pixel. */
UNIT_TEST(totals)
{
    enum { W = 101 };
    static float photons[W * W];
    nb_fibres *fibres = some_fibres();
    detector d = {0};
    if (!has_fftw())
        skip_because("no FFTW");
    put_panel(&d, W, W, 1e-4);
    photons[W / 2 * W + W / 2] = 1000;
    for (int shape = NB_PSF_GAUSS; shape <= NB_PSF_FIBRE; shape++) {
        double *light =
            light_of(&d, photons, spread((nb_psf_shape)shape, 300, fibres), widest(), 1);
        double sum = 0;
        for (int i = 0; i < W * W; i++) {
            sum += light[i];
            check_close(light[i], light[W * W - 1 - i], 1e-9); /* symmetric */
            check_close(light[i], light[i % W * W + i / W], 1e-9);
        }
        check_close(sum / 1000,
                    shape == NB_PSF_GAUSS ? 1 : fibre_square(W * 0.5e-4, 300e-6), 1e-11);
        nb_free(light);
    }
    nb_fibres_free(fibres);
}

/* Compares FFT and direct sum on 64 x 48 pixels of counts. */
UNIT_TEST(direct_sum)
{
    enum { W = 64, H = 48 };
    static float photons[W * H];
    nb_fibres *fibres = some_fibres();
    detector d = {0};
    double brightest = 0;
    if (!has_fftw())
        skip_because("no FFTW");
    put_panel(&d, W, H, 0.172e-3);
    for (int i = 0; i < W * H; i++) {
        photons[i] = (float)(i * 7919 % 1013 + (i % 611 == 5 ? 1e6 : 0));
        brightest = fmax(brightest, photons[i]);
    }
    for (int shape = NB_PSF_GAUSS; shape <= NB_PSF_FIBRE; shape++) {
        double *light =
            light_of(&d, photons, spread((nb_psf_shape)shape, 110, fibres), widest(), 2);
        for (int q = 0; q < W * H; q += 7) {
            double sum = 0;
            for (int r = 0; r < W * H; r++)
                sum += photons[r] * kernel((nb_psf_shape)shape, 110e-6, d.panels,
                                           q % W - r % W, q / W - r / W);
            check_close(light[q] / brightest, sum / brightest, 1e-12);
        }
        nb_free(light);
    }
    nb_fibres_free(fibres);
}

/* A kept transform gives the bits of a new transform, for panels of several sizes. */
UNIT_TEST(kept_transforms)
{
    enum { W = 40 };
    static float photons[3 * W * W];
    nb_fibres *fibres = some_fibres();
    double *first = NULL;
    if (!has_fftw())
        skip_because("no FFTW");
    for (int i = 0; i < 3 * W * W; i++)
        photons[i] = (float)(i % 37);
    for (int round = 0; round < 3; round++) {
        detector d = {0};
        double *light, *fresh;
        nb_fibres *new = some_fibres();
        put_panel(&d, W, 20, 1e-4);
        put_panel(&d, 33, 17, 1e-4);
        put_panel(&d, W, 20, 1e-4);
        light = light_of(&d, photons, spread(NB_PSF_FIBRE, 90, fibres), widest(), 1);
        fresh = light_of(&d, photons, spread(NB_PSF_FIBRE, 90, new), widest(), 1);
        assert_memory_equal(light, fresh, d.scene.raster.pixels * sizeof *light);
        if (first)
            assert_memory_equal(light, first, d.scene.raster.pixels * sizeof *light);
        nb_free(fresh);
        nb_fibres_free(new);
        nb_free(first);
        first = light;
        for (int k = 0; k < 6; k++) { /* other transforms are made between the two */
            detector o = {0};
            put_panel(&o, 5 + k, 9, 1e-4);
            nb_free(light_of(&o, photons, spread(NB_PSF_FIBRE, 50, fibres), widest(), 1));
        }
    }
    nb_free(first);
    nb_fibres_free(fibres);
}
