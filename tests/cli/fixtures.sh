# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced: makes the input files for the rows of flags.tsv and bad_inputs.tsv.

# X: a small valid simulation; C: X without -detpixels; NOFILES: no files of an image.
X="-default_F 100 -cell 100 -N 5 -detpixels 8"
C="-default_F 100 -cell 100 -N 5"
NOFILES="-nofloat -noint -nonoise -nopgm"
# OTHER: an instruction set of another processor.
case $(uname -m) in aarch64) OTHER=sse2 ;; *) OTHER=neon ;; esac
# M: a simulation from atoms; R: one from reflections.
M="-pdb good.pdb -dmin 3 -N 3 -detpixels 16 -pixel 4"
R="-mtz good.mtz -N 3 -detpixels 16 -pixel 4"
export X C M R NOFILES OTHER
NB_SOURCE=${NB_SOURCE:-$(cd ../.. && pwd)}

# make_fixtures FOLDER: makes the input files that the tables name, some with $NANOBRAGG.
make_fixtures() {
    mkdir -p "$1/folder" && cd "$1" || return 1
    cp "$OLDPWD/../../golden_data/detectors/geom/"{quad.geom,rot.expt,stack3d.h5} . || return 1
    chmod u+w quad.geom rot.expt stack3d.h5
    sed 's/^clen.*/clen = \/a/' quad.geom >place.geom
    sed 's/"detector": 0/"detector": 1/' rot.expt >index.expt
    cp "$OLDPWD/../../golden_data/real/lcysteine/scan_varying_02.expt" scan.expt || return 1
    chmod u+w scan.expt
    sed '/-0.12880600677870427,/d' scan.expt >point.expt
    echo 1 0 0 0 1 0 0 0 1 1 0 0 0 1 0 0 0 0 >ends.mat
    head -c 20000 stack3d.h5 >cut.h5
    printf 'p0/min_fs = 0\n' >half.geom
    printf '0 0 0\n1 0 0\n' >blocks.txt
    echo 'CrystFEL stream format 2.3' >empty.stream
    printf '0 0 0 100\n1 0 0 50\n0 1 0 20\n0 0 1 30\n' >good.hkl
    printf '1 0 0 5\nx y z 1\n' >word.hkl
    printf '1 0\n' >short.hkl
    printf '1.5 0 0 10\n' >fraction.hkl
    printf '0 0 0 1\n1 0 0 nan\n' >nan.hkl
    printf '0 0 0 1\n100000 100000 100000 1\n' >huge.hkl
    printf '# nothing\n# at all\n' >comments.hkl
    printf '0.01 0 0\n0 0.01 0\n0 0 0.01\n' >good.mat
    printf '0.01 0 0\n0 zwei 0\n0 0 0.01\n' >word.mat
    printf '0.01 0 0\n0 0.01 0\n' >short.mat
    printf '0.01 0 0\n0 nan 0\n0 0 0.01\n' >nan.mat
    printf '0.01 0 0\n0.01 0 0\n0 0 0.01\n' >flat.mat
    printf -- '-10 0 0 1 1e-10\n-10 0.01 0 3 1.1e-10\n' >good.src
    printf -- '-10 0 0 1 1e-10\n-10 zero 0 1 1e-10\n' >word.src
    printf '0 0 0 1 1e-10\n' >zero.src
    printf -- '-10 0 0 1 0\n' >dark.src
    printf -- '-10 0 0 -1 1e-10\n' >negative.src
    printf -- '-10 0 0 nan 1e-10\n' >nan.src
    printf '# misset angles, then a matrix\n10 20 30\n0 -1 0 1 0 0 0 0 1\n' >good.rot
    printf '10 20 30\n2 0 0 0 1 0 0 0 1\n' >stretched.rot
    printf '10,,20 30\n1 2 3\n' >commas.rot
    printf '1-2 3\n1 2 3\n' >joined.rot
    printf '1 2 3\0\n1 2 3\n' >nul.rot
    printf '# wavelength weight\n1 1 1.01 2\n\n0.99:1;1:3\n' >good.spectra
    printf '1 1\n1 1 1.01\n' >bad.spectra
    printf '9000 1\n9100 2\n8900 1\n' >back.spectrum
    printf '9000 1\n9100 nan\n' >nan.spectrum
    printf '9000 0\n9100 0\n' >dark.spectrum
    printf '{"N": 4}\n{"cell": [32, 32, 40], "Badd": 5}\n' >cell.crystals
    printf '{"N": 3}\n[{"N": 3}]\n' >list.crystals
    printf '{"N": %s\n' "$(printf '[%.0s' {1..2000})" >deep.crystals
    printf '{"N": 3}\n{"N": [1, 2\n' >cut.crystals
    printf '{}\n%.0s' {1..1001} >many.crystals
    printf '{"phi": 3}\n\n{"misset": [1, 2, 3], "nopolar": true}\n' >good.jobs
    printf '{"phi": 3}\n{"phi": "x"}\n' >word.jobs
    printf 'phi 3\n' >text.jobs
    printf '{"frames": 3}\n' >series.jobs
    printf '{"phi": 3}\n{"phi": 4} {"phi": 5}\n' >tail.jobs
    printf '{"phi": 3}\0{"phi": 4}\n' >nul.jobs
    printf '{"hkl": "good.hkl\\u0000x"}\n' >escape.jobs
    printf '{"phi": 3, "phi": 4}\n' >twice.jobs
    printf '{"nopolar": ["-phi", 5]}\n' >flag.jobs
    printf '{"phi": 3}\n{"interpolat": false}\n' >false.jobs
    printf '{"phi": 3}\n{"Xbeam": 1e308}\n' >far.jobs
    printf '1 0 0 5\n0 1 0 1e200\n' >bright.hkl
    { cat rot.expt && printf '{}\n'; } >two.expt
    for _ in {1..64}; do printf '\234\165\000\210\074\344\067\176'; done >large.loss # a file of doubles with the value 1e300
    printf '{"phi": 3}\n{"phi": 4}\n\n{"cell": [50, 60, 70, 80, 90, 10]}\n' >cell.jobs
    printf '{"phi": 3}\n{"mat": "nosuch.mat"}\n' >file.jobs
    printf '{"phi": 3}\n{"mat": "."}\n' >folder.jobs
    printf '{"phi": 3}\n{"detpixels": 9}\n' >size.jobs
    printf '{"phi": 3}\n{"mosaic": 1, "mosaic_aniso": [1, 2, 3]}\n' >pair.jobs
    printf '1 1\n1 1e308 1.1 1\n' >heavy.spectra
    head -c 256 /dev/zero >good.gain
    printf '# F of a molecule\n0 8\n0.1,7\n\t0.25 4 x\n0.5 2.5 # the end' >good.stol
    printf '0 8\n0.4 7\n1 4\r\n2 2.5\n' >four.stol
    printf '0.4 8\n0.401 7\n' >short.stol
    printf '0 1\n0.1 cold\n' >words.stol
    printf '0.1\n0.2\n' >column.stol
    printf '0 1\n0.2 1\n0.1 1\n' >back.stol
    printf -- '-0.1 1\n0.2 1\n' >minus.stol
    printf '1e-320 1\n' >short.spectra
    printf '0 1\n0.1 nan\n' >nan.stol
    printf '0 -8\n0.5 2\n' >dark.stol
    { head -c 252 good.gain && printf '\0\0\300\177'; } >nan.gain
    cp "$NB_SOURCE/golden_data/structure_factors/models/made-hydrogens.pdb" good.pdb
    cp "$NB_SOURCE/golden_data/structure_factors/models/made-small.cif" good.cif
    cp "$NB_SOURCE/golden_data/structure_factors/reflections/made-pairs.mtz" good.mtz
    cp "$NB_SOURCE/golden_data/structure_factors/reflections/made-intensities.mtz" other.mtz
    printf 'C 12000 0.5 0.7\nC 13000 0.4 0.6\n' >good.fprime
    : >empty.hkl && : >empty.mat && : >empty.src && : >empty.img
    make_models "$NB_SOURCE/golden_data/structure_factors"
    echo 'this is no image' >text.img
    "$NANOBRAGG" $X -quiet $NOFILES -intfile good.img -adc 0 -distance 90 -scale 1e9 &&
        "$NANOBRAGG" $X -quiet $NOFILES -intfile small.img -detpixels 4 &&
        "$NANOBRAGG" -hkl good.hkl -cell 10 -detpixels 4 -quiet $NOFILES -dump good.dump ||
        return 1
    head -c 600 good.img >truncated.img
    sed 's/SIZE1=/SOZE1=/' good.img >nosize.img
    # Headers as if of another program: only then are the keys of other programs read.
    sed 's/WAVELENGTH=./WAVELENGTH=x/; s/NANOBRAGG_/SOMEONES__/' good.img >badvalue.img
    head -c 60 good.dump >truncated.dump
    cd - >/dev/null || return 1
}

# make_models FOLDER: makes models and lists of reflections that must be refused.
make_models() {
    cp "$1/models/made-special.pdb" special.pdb
    cp "$1/models/made-p1121.cif" p1121.cif
    ln -s "$1/reflections/1dur-sf.cif" sf.cif
    printf '%s\n' 'CRYST1   20.000   24.000   28.000  90.00  90.00  90.00 P 21 21 21    4' \
        'ATOM      1  CA  ALA A   1      11.000  12.000  13.000  1.00 20.00           C  ' >ok.pdb
    : >empty.pdb
    printf '\0\1\2\377%.0s' {1..1000} >binary.pdb
    sed 1d ok.pdb >no-cell.pdb
    sed 's/20.000   24.000   28.000/ 1.000    1.000    1.000/; s/P 21 21 21/P 1       /' ok.pdb >dummy-cell.pdb
    sed 's/ 90.00  90.00  90.00/170.00  90.00  10.00/' ok.pdb >flat-cell.pdb
    sed 's/   20.000   24.000   28.000/                           /' ok.pdb >blank-cell.pdb
    sed 's/P 21 21 21/P 21 99 21/' ok.pdb >unknown-group.pdb
    { cat ok.pdb && sed '1d; s/    1  CA /    2  XX /; s/          C  /          X  /' ok.pdb; } >unknown-element.pdb
    sed 's/   28.000/ 1.0e-150/' ok.pdb >tiny-cell.pdb
    sed 's/  1.00 20.00/ -1.00 20.00/' ok.pdb >occupancy.pdb
    sed 's/  1.00 20.00/  1.00-20.00/' ok.pdb >B.pdb
    gzip -c special.pdb | head -c 400 >cut.pdb.gz
    { cat p1121.cif && printf "\nloop_\n'x\n"; } >bad.cif
    printf 'data_x\n_cell.length_a 10\n' >neither.cif
    head -c $(($(wc -c <good.mtz) / 2)) good.mtz >cut.mtz
    { head -c 80 good.mtz && printf '\0\240\014\106\0\0\141\104' && tail -c +89 good.mtz; } >wild.mtz # h k 9000 900
    sed 's/END /XXX /g' good.mtz >noend.mtz
    printf '%s\n' '!FORMAT=XDS_ASCII    MERGE=TRUE    FRIEDEL_S_LAW=TRUE' '!END_OF_HEADER' '1 0 0 5.0E+01 2.0E+00' \
        '!END_OF_DATA' >xds.hkl
    printf '%s\n' '   1   0   0  234.50   12.10   1' '  -1 -12   3   34.50    2.10   1' '   0   0   0    0.00    0.00   0' >shelx.hkl
    printf 'Fe seven 1 2\n' >words.txt
    printf 'Fe 7112 1\n' >three.txt
    printf '# no\n' >nothing.txt
    printf 'Xx 7112 1 2\n' >symbol.txt
}
