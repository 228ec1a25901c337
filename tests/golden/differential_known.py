# SPDX-License-Identifier: MIT
"""Changes of a command line that avoid the known differences of docs/differences.md.

RULES are (name, applies(options, facts), rule(options)): `applies` is true if the
difference can occur; `rule` returns options that avoid it.  `facts`: JSON of -show_config,
or {} if nanobragg refuses.  REFUSALS are changes that avoid an error message."""
import re


def has(options, *flags):
    return any(option[0] in flags for option in options)


def last(options, *flags):
    """Returns the values of the last option whose flag is in `flags`, or [] if no option
    has such a flag."""
    found = [option[1:] for option in options if option[0] in flags]
    return found[-1] if found else []


def drop(options, *flags):
    return [option for option in options if option[0] not in flags]


def put(options, *option):
    """Removes all options with the flag of `option`, and appends `option`."""
    return drop(options, option[0]) + [list(option)]


def dropping(*flags):
    return lambda options, facts: has(options, *flags), lambda options: drop(options, *flags)


def angles(facts):
    spindle = facts.get("spindle", {})
    n, start, step = (spindle.get(k, 0) for k in ("phisteps", "phi_deg", "phistep_deg"))
    return [start + i * step for i in range(int(n))]


def shift_phi(options):
    """Moves -phi, so that no phi step is at exactly 0 degrees."""
    start = float((last(options, "-phi") or ["0"])[0])
    return put(drop(options, "-phi"), "-phi", f"{start + 0.0137:.6g}")


def steps_without_range(options, _):
    osc = last(options, "-osc")
    return has(options, "-phisteps") and (not osc or float(osc[0]) <= 0)


def step_of_a_still(options, _):
    osc = last(options, "-osc")
    still = osc == ["0"] or not osc and any(o[-1] == "still.img" for o in options)
    return still and has(options, "-phistep")


def step_of_nothing(options, _):
    """True for -phistep 0."""
    step = last(options, "-phistep")
    return bool(step) and float(step[0]) == 0


def aligned(options, _):
    """True if cell axes may be along lab axes: an index can be a whole number (D10)."""
    return not has(options, "-misset", "-round_xtal", "-gauss_xtal", "-tophat_spots")


def order_missets(options):
    """Puts -misset_seed first: nanoBragg reads the three words after it as angles."""
    rest = drop(options, "-misset_seed", "-misset")
    misset = last(options, "-misset")
    if not misset:
        return rest
    seed = last(options, "-misset_seed") or ["7"]
    return [["-misset_seed", seed[0].lstrip("-")]] + rest + [["-misset"] + misset]


def positive_seeds(options):
    return [[o[0], o[1].lstrip("-")] if o[0].endswith("seed") else o for o in options]


def unit_normal(options):
    """Types a normal of length 1, because nanoBragg replaces any other normal."""
    return put(options, "-odet_vector", "1", "0", "0")


def swing_last(options):
    """Puts -twotheta after its axis, which gets the length 1."""
    angle = last(options, "-twotheta") or ["0"]
    rest = drop(options, "-twotheta", "-twotheta_axis")
    return rest + [["-twotheta_axis", "0", "1", "0"], ["-twotheta", angle[0]]]


def is_size(option):
    return re.match(r"-(sample|xtal)_?(size|thick|width|heigh|[xyz])|-(width|heigh)", option[0])


def smaller_sizes(options):
    """Makes sizes 0.1 % smaller: rounding then cannot change the number of cells."""
    return [[o[0], f"{float(o[1]) * 0.999:.6g}"] if is_size(o) else o for o in options]


def fix_oversampling(options):
    return put(options, "-oversample", "2")


def nearest(options):
    return drop(options, "-interpolate", "-nointerpolate") + [["-nointerpolate"]]


def typed_against_header(options, _):
    sizes = ("-distance", "-close_distance", "-detsize", "-detsize_f", "-detsize_s")
    return has(options, "-img", "-mask") and has(options, *sizes)


def header_alone(options):
    return drop(options, "-distance", "-close_distance", "-detsize", "-detsize_f", "-detsize_s")


def other_header(options, old, new):
    return [[o[0], new] if o[-1] == old else o for o in options]


def file_named(name):
    return lambda options, _: any(o[-1] == name for o in options)


DIV_STEP = ("-hdivstep", "-vdivstep")
SENSOR = ("-detector_thick", "-detector_abs", "-detector_thicksteps", "-thicksteps")
TABLES = ("-stol", "-4stol", "-Q")
TERMS = ("-oversample_thick", "-oversample_polar", "-oversample_omega")

RULES = [
    ("misset_seed", lambda o, _: has(o, "-misset_seed", "-misset"), order_missets),
    ("negative seeds", lambda o, _: positive_seeds(o) != o, positive_seeds),
    ("twotheta_axis", lambda o, _: has(o, "-twotheta_axis"), swing_last),
    ("odet_vector", lambda o, _: has(o, "-odet_vector"), unit_normal),
    ("pivot", *dropping("-pivot")),
    ("D12 pix0_vector", *dropping("-pix0_vector")),
    ("D2 D3 D24 oversample_*", *dropping(*TERMS)),
    ("D4 D5 layers", *dropping(*SENSOR)),
    ("D6 D7 water", *dropping("-water")),
    ("D7 dmin and polarization", lambda o, _: has(o, "-dmin"),
     lambda o: drop(o, "-polar", "-nopolar") + [["-nopolar"]]),
    ("D8 curved_det", *dropping("-curved_det")),
    ("D11 close to a peak", *dropping("-round_xtal")),
    ("a table of a background", *dropping(*TABLES)),
    ("D10 whole Miller index", aligned, lambda o: o + [["-misset", "0.13", "0.27", "0.19"]]),
    ("D13 interpolation", lambda o, _: has(o, "-hkl"), nearest),
    ("divergence off centre", *dropping(*DIV_STEP)),
    ("phisteps without osc", steps_without_range,
     lambda o: drop(o, "-phisteps", "-phistep")),
    ("osc 0 with a phistep", step_of_a_still, lambda o: drop(o, "-phistep")),
    ("phistep 0", step_of_nothing, lambda o: drop(o, "-phistep")),
    ("D1 phi 0", lambda o, f: 0 in angles(f) and len(angles(f)) > 1, shift_phi),
    ("automatic oversampling", lambda o, _: not has(o, "-oversample"), fix_oversampling),
    ("whole number of cells", lambda o, _: any(map(is_size, o)), smaller_sizes),
    ("typed against a header", typed_against_header, header_alone),
    ("TWOTHETA of a header", file_named("swung.img"),
     lambda o: other_header(o, "swung.img", "close.img")),
    ("beam centre of a mask", file_named("centred-mask.img"),
     lambda o: other_header(o, "centred-mask.img", "mask.img")),
]

STEPS = ("-hdivsteps", "-vdivsteps", "-divsteps") + DIV_STEP
COUNTS = ("-N", "-Na", "-Nb", "-Nc")
SIZES = ("-detsize", "-detsize_f", "-detsize_s")
PIXELS = ("-detpixels", "-detpixels_f", "-detpixels_s", "-detpixels_x", "-detpixels_y")

# name, pattern of the error message, flags to remove or a function of the options
REFUSALS = [
    ("a table of a background", r"the first column does not increase", TABLES),
    ("D12 pix0_vector", r"-curved_det: the detector must be downstream", ("-pix0_vector",)),
    ("N 0", r" -N 0: ", ("-N",)),
    ("negative osc", r" -osc -", ("-osc",)),
    ("divergence steps without a range", r"divergence steps need a range", STEPS),
    ("region of interest off the detector", r" -roi ", ("-roi",)),
    ("mask of another size", r"-mask has", PIXELS + SIZES),
    ("contradicting flags", r" -N\w* \d+ contradicts -\w*(sample|xtal|width|heigh)", COUNTS),
    ("contradicting flags", r" -detpixels\w* \d+ contradicts -detsize", SIZES),
    ("contradicting flags", r" -distance .* contradicts -close_distance", ("-distance",)),
    ("automatic oversampling", r" sub-pixels; type -oversample", fix_oversampling),
    ("a cache that is not there", r" -dump .*cannot read", ("-dump",)),
    ("contradicting flags", r" -fluence .* contradicts -flux", ("-fluence",)),
]


def refusal(message):
    """(name, function that changes the options) of a refusal, or None if unknown."""
    for name, pattern, mend in REFUSALS:
        if re.search(pattern, message):
            return name, mend if callable(mend) else lambda options: drop(options, *mend)
    return None
