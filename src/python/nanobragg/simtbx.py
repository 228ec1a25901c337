# SPDX-License-Identifier: MIT
"""Class nanoBragg with the names, units and defaults of simtbx's, over Simulation.

    from nanobragg.simtbx import nanoBragg, shapetype

docs/coming-from.md has what is taken and what raises."""

import enum
import os
import tempfile
import time

import numpy as np

from . import _arrays
from ._simulation import Simulation

AVOGADRO = 6.02214179e23


class _Word(enum.IntEnum):
    def __str__(self):
        return self.name


pivot = _Word("pivot", ["Sample", "Beam"], start=0)
shapetype = _Word("shapetype", ["Unknown", "Square", "Round", "Gauss", "Gauss_argchk", "Tophat", "Fiber"], start=0)
convention = _Word("convention", ["Custom", "ADXV", "MOSFLM", "XDS", "DIALS", "DENZO"], start=0)

_SHAPES = {shapetype.Square: "square_xtal", shapetype.Round: "round_xtal", shapetype.Gauss: "gauss_xtal",
           shapetype.Gauss_argchk: "gauss_xtal", shapetype.Tophat: "tophat_spots"}
_AXES = ("fdet_vector", "sdet_vector", "odet_vector", "beam_vector", "polar_vector", "spindle_axis", "twotheta_axis")
_DIALS = dict(zip(_AXES, ((1, 0, 0), (0, -1, 0), (0, 0, -1), (0, 0, -1), (1, 0, 0), (1, 0, 0), (1, 0, 0))))

# name: default.  A value has the type of its default; a tuple its length.
_VALUES = {
    "verbose": 0, "progress_meter": True, "device_Id": 0, "cbf_int": False, "distance_mm": 100.0, "pixel_size_mm": 0.1,
    "detector_rotation_deg": (0.0, 0.0, 0.0), "detector_twotheta_deg": 0.0, "curved_detector": False,
    "polarization": 0.0, "nopolar": False, "oversample": 0, "wavelength_A": 1.0, "dispersion_pct": 0.0, "dispsteps": 1,
    "divergence_hv_mrad": (0.0, 0.0), "divsteps_hv": (1, 1), "round_div": True, "phi_deg": 0.0, "osc_deg": 0.0,
    "phisteps": 1, "detector_thick_mm": 0.0, "detector_attenuation_length_mm": 0.234, "detector_thicksteps": 1,
    "mosaic_spread_deg": 0.0, "mosaic_domains": 1, "mosaic_seed": 12345678, "calib_seed": 123456789, "seed": 0,
    "missets_deg": (0.0, 0.0, 0.0), "Ncells_abc": (1.0, 1.0, 1.0), "default_F": 0.0, "F000": 0.0, "interpolate": 2,
    "spot_scale": 1.0, "quantum_gain": 1.0, "adc_offset_adu": 40.0, "detector_calibration_noise_pct": 3.0,
    "flicker_noise_pct": 0.0, "readout_noise_adu": 3.0, "detector_psf_fwhm_mm": 0.08,
    "detector_psf_type": shapetype.Fiber, "xtal_shape": shapetype.Square, "amorphous_sample_thick_mm": 0.0,
    "amorphous_density_gcm3": 1.0, "amorphous_molecular_weight_Da": 18.0}

_MENDS = {"apply_psf": "set detector_psf_type and detector_psf_fwhm_mm before add_noise()",
          "extract_background": "use `nanobragg extract`", "imageset": "write the image with to_smv_format()",
          "as_explist": "Simulation.write(exptout=...) writes the experiment", "integral_form": "raise oversample",
          "to_cbf": "nanobragg.noise(image, 'a.cbf', nopoisson=True) writes CBF",
          "to_nexus_nxmx": "nanobragg.run_series(..., hdf5=...) writes NXmx", "xray_beams": "set xray_source_wavelengths_A",
          "set_mosaic_blocks": "Simulation takes mosaic_blocks="}


class Pixels(np.ndarray):
    """Image [slow, fast] of float64; one integer counts the pixels, as in cctbx's arrays."""

    def __getitem__(self, at):
        return self.reshape(-1)[at] if isinstance(at, (int, np.integer)) and self.ndim == 2 else super().__getitem__(at)

    def as_numpy_array(self):
        return np.array(self)

    deep_copy = np.ndarray.copy


def _numbers(value):
    return value.as_numpy_array() if hasattr(value, "as_numpy_array") else np.asarray(value)


class nanoBragg:
    """A simulation whose values are attributes; add_nanoBragg_spots() adds to raw_pixels."""

    def __init__(self, detector=None, beam=None, verbose=0, panel_id=0, *, detpixels_slowfast=(1024, 1024),
                 Ncells_abc=(1, 1, 1), unit_cell_Adeg=(78, 78, 38, 90, 90, 90), misset_deg=(0, 0, 0),
                 beam_center_mm=None, distance_mm=100, pixel_size_mm=0.1, wavelength_A=1, divergence_mrad=0,
                 dispersion_pct=0, mosaic_spread_deg=0, oversample=0):
        self.__dict__.update(_VALUES, _kept=None, _typed=None, _fluence=125932015286227086360700780544.0,
                             _beamsize=0.1, _exposure=1.0, _centre=None, _org=None, _convention=convention.MOSFLM,
                             _axes=None, _A=None, _Fhkl=None, _stol=None, _sources=None, _roi=None,
                             _pivot=None, seed=int(time.time()))
        self._flux = self._fluence / self._exposure * (self._beamsize * 1e-3) ** 2
        self.detpixels_fastslow = detpixels_slowfast[::-1]
        self.unit_cell_tuple = unit_cell_Adeg
        self.Ncells_abc, self.missets_deg, self.distance_mm = Ncells_abc, misset_deg, distance_mm
        self.pixel_size_mm, self.wavelength_A, self.dispersion_pct = pixel_size_mm, wavelength_A, dispersion_pct
        self.divergence_hv_mrad = (divergence_mrad, divergence_mrad)
        self.mosaic_spread_deg, self.oversample, self.verbose = mosaic_spread_deg, oversample, verbose
        if beam_center_mm is not None:
            self.beam_center_mm = beam_center_mm
        if detector is not None:
            self._take_beam(beam)
            self.set_dxtbx_detector_panel(detector[panel_id], beam.get_s0())

    def __setattr__(self, name, value):
        if name == "raw_pixels":
            self.__dict__[name] = np.array(_numbers(value), float).reshape(self._detpixels[::-1]).view(Pixels)
        elif name in _VALUES:
            like = _VALUES[name]
            if isinstance(like, tuple):
                value = tuple(type(like[0])(x) for x in value)
                if len(value) != len(like):
                    raise ValueError(f"{name}: needs {len(like)} numbers, not {len(value)}")
            else:
                value = type(like)(value)
            self.__dict__[name] = value
        elif name.startswith("_") or isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            raise self._unknown(name)

    def __getattr__(self, name):
        raise self._unknown(name)

    @staticmethod
    def _unknown(name):
        mend = f"; {_MENDS[name]}" if name in _MENDS else ""
        return AttributeError(f"nanobragg.simtbx has no '{name}'{mend}")

    # --- detector and beam ---

    def _take_beam(self, beam):
        self.wavelength_A, self.polarization = beam.get_wavelength(), beam.get_polarization_fraction()
        along = np.array(beam.get_unit_s0(), float)
        self._axes = dict(beam_vector=tuple(along),
                          polar_vector=tuple(np.cross(along, beam.get_polarization_normal())))
        if beam.get_flux() > 0:
            self.flux = beam.get_flux()

    def set_dxtbx_detector_panel(self, panel, s0_vector):
        fast, slow, origin = (np.array(x, float) for x in (panel.get_fast_axis(), panel.get_slow_axis(),
                                                          panel.get_origin()))
        along = np.array(s0_vector, float) / np.linalg.norm(s0_vector)
        normal = np.cross(fast, slow)
        normal *= np.sign(normal @ origin)
        spot = along * (origin @ normal) / (along @ normal) - origin
        self.detpixels_fastslow, self.pixel_size_mm = panel.get_image_size(), panel.get_pixel_size()[0]
        self._convention, self._pivot, self.distance_mm = convention.Custom, pivot.Beam, origin @ normal
        self._centre, self._org = (float(spot @ fast), float(spot @ slow)), None
        self._axes = dict(self._axes or {}, fdet_vector=tuple(fast), sdet_vector=tuple(slow),
                          odet_vector=tuple(normal), beam_vector=tuple(along), spindle_axis=tuple(fast))
        self.detector_thick_mm, self.quantum_gain = panel.get_thickness(), panel.get_gain()
        if panel.get_mu() > 0:
            self.detector_attenuation_length_mm = 1 / panel.get_mu()

    @property
    def detpixels_fastslow(self):
        return self._detpixels

    @detpixels_fastslow.setter
    def detpixels_fastslow(self, value):
        self._detpixels = tuple(int(n) for n in value)
        self.__dict__["raw_pixels"] = np.zeros(self._detpixels[::-1]).view(Pixels)

    @property
    def beam_center_mm(self):
        return self._centre or tuple(self.simulation.config["detector"][x] for x in ("Xbeam_mm", "Ybeam_mm"))

    @beam_center_mm.setter
    def beam_center_mm(self, value):
        self._centre, self._org = tuple(float(x) for x in value), None

    @property
    def XDS_ORGXY(self):
        return tuple(self.simulation.config["detector"][x] for x in ("ORGX_pixels", "ORGY_pixels"))

    @XDS_ORGXY.setter
    def XDS_ORGXY(self, value):
        self._org, self._centre, self._convention, self._axes = tuple(value), None, convention.XDS, None

    @property
    def beamcenter_convention(self):
        return self._convention

    @beamcenter_convention.setter
    def beamcenter_convention(self, value):
        self._convention = convention(value)
        self._axes, self._pivot = (dict(_DIALS), pivot.Sample) if value == convention.DIALS else (None, None)

    @property
    def region_of_interest(self):
        return self._roi or tuple((0, n) for n in self._detpixels)

    @region_of_interest.setter
    def region_of_interest(self, value):
        self._roi = tuple(tuple(int(x) for x in pair) for pair in value)

    def _geometry(self):
        fast, slow = self._detpixels
        words = dict(detpixels_x=fast, detpixels_y=slow, pixel=self.pixel_size_mm, curved_det=self.curved_detector,
                     close_distance=self.distance_mm, twotheta=self.detector_twotheta_deg)
        words.update(zip(("detector_rotx", "detector_roty", "detector_rotz"), self.detector_rotation_deg))
        words.update(self._axes or {self._convention.name.lower(): True})
        if self._pivot is not None:
            words["pivot"] = self._pivot.name.lower()
        centre = self._centre
        if self._convention == convention.XDS and centre:
            self._org, centre = [x / self.pixel_size_mm + 0.5 for x in centre], None
        if self._org:
            words.update(zip(("ORGX", "ORGY"), self._org))
        elif centre:
            words.update(zip(("Xbeam", "Ybeam"), centre))
        if self._roi:
            words["roi"] = [min(x, n - 1) for pair, n in zip(self._roi, self._detpixels) for x in pair]
        if self.detector_thick_mm > 0:
            words.update(detector_thick=1e3 * self.detector_thick_mm, layer_depth="front",
                         detector_abs=1e3 * self.detector_attenuation_length_mm,
                         detector_thicksteps=max(2, self.detector_thicksteps))
        return words

    # --- photons: fluence = flux exposure / beamsize^2 ---

    def _from_flux(self):
        if self._exposure > 0 and self._beamsize > 0:
            self._fluence = self._flux * self._exposure / (self._beamsize * 1e-3) ** 2

    def _photons(name, of_flux=True):  # noqa: N805
        def put(self, value):
            self.__dict__[name] = float(value)
            if of_flux:
                self._from_flux()
            else:
                self._flux = self._fluence / self._exposure * (self._beamsize * 1e-3) ** 2

        return property(lambda self: self.__dict__[name], put)

    flux, exposure_s, beamsize_mm = _photons("_flux"), _photons("_exposure"), _photons("_beamsize")
    fluence = _photons("_fluence", of_flux=False)

    @property
    def xray_source_wavelengths_A(self):
        return [line["wavelength_A"] for line in self.simulation.config["beam"]["source_list"]]

    @xray_source_wavelengths_A.setter
    def xray_source_wavelengths_A(self, value):
        waves = _numbers(value).astype(float)
        old = self._sources
        self._sources = (waves, old[1] if old and len(old[1]) == len(waves) else np.full(len(waves), 1 / len(waves)))

    @property
    def xray_source_intensity_fraction(self):
        return [line["weight"] for line in self.simulation.config["beam"]["source_list"]]

    @xray_source_intensity_fraction.setter
    def xray_source_intensity_fraction(self, value):
        shares = _numbers(value).astype(float)
        waves = self._sources[0] if self._sources else np.full(len(shares), self.wavelength_A)
        self._sources = (waves, shares)

    # --- crystal ---

    @property
    def unit_cell_tuple(self):
        return self._cell

    @unit_cell_tuple.setter
    def unit_cell_tuple(self, value):
        value = value.parameters() if hasattr(value, "parameters") else value
        self._cell, self._A = tuple(float(x) for x in value), None

    unit_cell_Adeg = unit_cell_tuple

    @property
    def Amatrix(self):
        crystal = self.simulation.config["crystal"]
        return tuple(x for axis in "abc" for x in crystal[f"{axis}_star_per_A"])

    @Amatrix.setter
    def Amatrix(self, value):
        self._A = np.array(_numbers(list(value)), float).reshape(3, 3).T

    @property
    def Amatrix_RUB(self):
        return self.Amatrix

    @Amatrix_RUB.setter
    def Amatrix_RUB(self, value):
        self._A = np.linalg.inv(np.array(_numbers(list(value)), float).reshape(3, 3))
        self.missets_deg = (0, 0, 0)

    def randomize_orientation(self):
        words = dict(cell=self._cell, default_F=1, detpixels=1, misset="random", misset_seed=abs(self.seed))
        self.missets_deg = Simulation(**words).config["crystal"]["misset_deg"]
        self.seed = abs(self.seed) + 1

    @property
    def Fhkl_tuple(self):
        return self._Fhkl or (np.zeros((1, 3), int), np.array([self.F000]))

    @Fhkl_tuple.setter
    def Fhkl_tuple(self, value):
        self._Fhkl = _arrays.reflections((_numbers(list(value[0])), _numbers(value[1])))

    @property
    def Fhkl(self):
        return self.Fhkl_tuple

    @Fhkl.setter
    def Fhkl(self, value):
        if hasattr(value, "expand_to_p1"):
            value = value.expand_to_p1().generate_bijvoet_mates()
        if hasattr(value, "unit_cell"):
            self.unit_cell_tuple = value.unit_cell()
        self._Fhkl = _arrays.reflections(value)

    def _crystal(self):
        words = dict(zip(("Na", "Nb", "Nc"), self.Ncells_abc), misset=self.missets_deg, default_F=self.default_F,
                     F000=self.F000, mosaic=self.mosaic_spread_deg, mosaic_seed=self.mosaic_seed, phi=self.phi_deg,
                     osc=self.osc_deg)
        words[_SHAPES[self.xtal_shape]] = True
        words.update(dict(A=self._A) if self._A is not None else dict(cell=self._cell))
        if self.mosaic_spread_deg > 0:
            words["mosaic_domains"] = self.mosaic_domains
        if self.osc_deg > 0:  # left edges of the steps
            words.update(phisteps=self.phisteps, phi=self.phi_deg - self.osc_deg / self.phisteps / 2)
        if self._Fhkl is not None:
            words["hkl"] = self._Fhkl
        if self.interpolate < 2:
            words["interpolate" if self.interpolate else "nointerpolate"] = True
        return words

    def _beam(self):
        words = dict(fluence=self._fluence, polar=self.polarization, nopolar=self.nopolar, exposure=self._exposure)
        words["wavelength"] = self.wavelength_A
        if self.oversample > 0:
            words["oversample"] = self.oversample
        if self._sources:
            words["sources"] = self._sources
            return words
        for name, width, n in zip("hv", self.divergence_hv_mrad, self.divsteps_hv):
            if width > 0:
                words.update({f"{name}divrange": width, f"{name}divsteps": max(2, n)})
        if self.dispersion_pct > 0:
            words.update(dispersion=self.dispersion_pct, dispsteps=max(2, self.dispsteps))
        return words

    def _noise(self):
        words = dict(gain=self.quantum_gain, adc=self.adc_offset_adu, readout_noise=self.readout_noise_adu,
                     flicker=self.flicker_noise_pct / 100, calibration=self.detector_calibration_noise_pct / 100,
                     calib_seed=self.calib_seed, seed=abs(self.seed))
        if self.detector_psf_type != shapetype.Unknown and self.detector_psf_fwhm_mm > 0:
            words.update(psf="gauss" if self.detector_psf_type == shapetype.Gauss else "fibre",
                         psf_fwhm=1e3 * self.detector_psf_fwhm_mm)
        return words

    @property
    def simulation(self):
        """The nanobragg.Simulation of the present values."""
        return self._of({})

    def _of(self, more):
        words = {**self._geometry(), **self._beam(), **self._crystal(), **self._noise(), **more}
        if self._kept is None or more:
            made = Simulation(**words)
            if more:
                return made
            self._kept = made
        else:
            old = self._typed
            new = {name: value for name, value in words.items()
                   if name not in old or (value is not old[name] and not np.array_equal(value, old[name]))}
            new.update({name: None for name in old if name not in words})
            if new:
                self._kept.set(**new)
        self._typed = words
        return self._kept

    # --- images ---

    def add_nanoBragg_spots(self):
        scale = self.spot_scale * (self._sources[1].sum() if self._sources else 1)
        self.raw_pixels = self.raw_pixels + scale * self.simulation.render().astype(float)

    def add_nanoBragg_spots_nks(self, output=None):
        self.add_nanoBragg_spots()

    def add_nanoBragg_spots_cuda(self):
        scale = self.spot_scale * (self._sources[1].sum() if self._sources else 1)
        there = self._of({"device": f"cuda:{self.device_Id}"})
        self.raw_pixels = self.raw_pixels + scale * there.render().astype(float)

    @property
    def Fbg_vs_stol(self):
        return self._stol

    @Fbg_vs_stol.setter
    def Fbg_vs_stol(self, value):
        table = np.array([tuple(row) for row in value], float)
        self._stol = table[np.argsort(table[:, 0], kind="stable")]

    def add_background(self, oversample=-1, override_source=-1):
        if self._stol is None:
            raise ValueError("add_background: set Fbg_vs_stol first")
        if override_source >= 0 and self._sources:
            raise NotImplementedError("override_source: all sources make the background; leave it out")
        volume = self.amorphous_sample_thick_mm * 1e-3 * (self._beamsize * 1e-3) ** 2  # m^3
        molecules = volume * self.amorphous_density_gcm3 * 1e6 * AVOGADRO / self.amorphous_molecular_weight_Da
        if molecules == 0:
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.stol")
            np.savetxt(path, self._stol, fmt="%.17g")
            more = dict(stol=path, molecules=molecules, default_F=0, F000=0, hkl=None)
            if oversample > 0:
                more["oversample"] = oversample
            light = self._of(more).render()
        self.raw_pixels = self.raw_pixels + light.astype(float)

    def add_noise(self):
        """Turn photons of raw_pixels into ADU; the next call draws other numbers."""
        counts = self.simulation.noise(np.asarray(self.raw_pixels, np.float32), dtype=np.int32)
        self.raw_pixels = counts.astype(float)
        self.seed = abs(self.seed) + 1

    def get_intfile_scale(self, intfile_scale=0):
        top = self.raw_pixels.max()
        return intfile_scale if intfile_scale > 0 else 55000 / top if top > 0 else 1.0

    def to_smv_format(self, fileout, intfile_scale=0, debug_x=-1, debug_y=-1):
        whole = np.floor(np.minimum(self.raw_pixels * self.get_intfile_scale(intfile_scale), 65534))
        self.simulation.write(np.asarray(whole - self.adc_offset_adu, np.float32), intfile=fileout, scale=1)

    def show_params(self):
        print(self.simulation.report)

    def free_all(self):
        self._kept = self._typed = None

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __getstate__(self):
        return {**self.__dict__, "_kept": None, "_typed": None}
