/* SPDX-License-Identifier: MIT */
/* True values of a frame, one in each row: part in hdf5_place.c, member of nb_hdf5_frame,
 * name, unit, and the expression of the value. The expression uses nb_sim *sim, its model
 * m and nb_image_meta meta (src/outputs/describe.c). */
/* clang-format off */
NUMBER(NUMBERS, blocks, "blocks", NULL, m->blocks)
NUMBER(NUMBERS, phi_deg, "phi", "deg", m->settings.value.phi_deg)
NUMBER(NUMBERS, osc_deg, "osc", "deg", m->phi_range / NB_DEG)
NUMBER(NUMBERS, wavelength_A, "wavelength", "angstrom", nb_sim_wavelength(sim))
NUMBER(NUMBERS, fluence, "fluence", "1/m^2", m->fluence)
NUMBER(NUMBERS, mosaic_deg, "mosaic", "deg", m->mosaic.spread / NB_DEG)
NUMBER(NUMBERS, exposure_s, "exposure", "s", sim->cfg.exposure_s)
NUMBER(NUMBERS, distance_mm, "distance", "mm", meta.distance_mm)
NUMBER(NUMBERS, polarization, "polarization", NULL, meta.polarization)
NUMBER(NUMBERS, beam_fast, "beam_fast", "pixel", m->geometry.Fbeam / m->geometry.pixel)
NUMBER(NUMBERS, beam_slow, "beam_slow", "pixel", m->geometry.Sbeam / m->geometry.pixel)
NUMBER(DAMAGE, dose_MGy, "dose", "MGy", m->damage.dose)
NUMBER(DAMAGE, B_added, "B_added", "angstrom^2", m->damage.B)
NUMBER(DAMAGE, cell_factor, "cell_factor", NULL, m->damage.growth)
NUMBER(NOISE, flicker, "flicker_factor", NULL, nb_sim_flicker(sim))
NUMBER(SPECTRUM, spectrum_factor, "spectrum_factor", NULL, m->spectrum.n ? m->spectrum.factor : 1)
/* clang-format on */
