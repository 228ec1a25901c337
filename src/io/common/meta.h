/* SPDX-License-Identifier: MIT */
/** The metadata of an image file, in users' units (mm, deg, A). outputs/describe.c builds
 * them once from the model; writers only read them. */
#ifndef NB_IO_META_H
#define NB_IO_META_H

#include <time.h>

#include "../../nanobragg.h"

typedef struct nb_image_meta {
    int fast, slow; /* size of the image, pixels */
    double pixel_mm;
    double distance_mm, close_distance_mm;
    double wavelength_A;
    double Xbeam_mm, Ybeam_mm; /* as typed; the convention defines their meaning */
    double Fbeam_mm,
        Sbeam_mm; /* beam spot along fast, slow from the outer corner of pixel (0,0) */
    double detsize_f_mm, detsize_s_mm;
    double orgx, orgy; /* beam centre of XDS, pixels */
    double pix0_mm[3]; /* outer corner of pixel (0,0), lab frame */
    double fast_axis[3], slow_axis[3], normal[3], beam[3], spindle[3],
        polar_axis[3]; /* unit vectors, lab frame */
    double phi_deg, osc_deg, twotheta_deg;
    double exposure_s;
    double adc_offset;
    double gain;                  /* ADU/photon; 0 means 1 */
    double saturation;            /* largest trusted value; 0: the largest of the type */
    double polarization;          /* Kahn factor */
    int nopolar;                  /* 1: the images have no polarization factor */
    double thick_mm;              /* thickness of the sensor; 0 without a sensor */
    char material[NB_SENSOR_MAX]; /* material of the sensor; "" if not given */
    double blocks;                /* number of mosaic blocks of the crystal */
    int64_t seed;
    time_t date;              /* time of writing */
    const char *command_line; /* may be "" */
    const nb_config *inputs;  /* the configuration as typed, for the NANOBRAGG_* keys */
} nb_image_meta;

/** The geometry in the header of an image; NaN where the header lacks a value. */
typedef struct nb_said_geometry {
    int own; /* 1: nanobragg wrote the file */
    double pixel_mm, wavelength_A, distance_mm;
    double beam_px[2]; /* fast, slow, from the outer corner of the first pixel */
    double twotheta_deg;
    double phi_deg, osc_deg; /* start and width of the rotation, which may be negative */
    double polarization;     /* Kahn's K */
    double thick_mm;         /* thickness of the sensor */
    char material[NB_MATERIAL_NAME]; /* material of the sensor, or "" */
    /* point that does not move when the detector swings */
    nb_pivot pivot;
} nb_said_geometry;

/** Parts of a detector's geometry that a header can hold. */
typedef enum nb_header_kind {
    NB_HEADER_NONE = 0,
    NB_HEADER_SIMPLE, /* beam centre and distance (SMV) */
    NB_HEADER_FULL    /* with vectors too, if the geometry needs vectors (CBF) */
} nb_header_kind;

#endif
