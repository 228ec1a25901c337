/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <string.h>

#include "sub.h"

const nb_help_example nb_help_examples[] = {
    {"nanobragg -detpixels 1024", "a default crystal, to test the program"},
    {"nanobragg -hkl P1.hkl -cell 79.1 79.1 37.9 90 90 90 -N 20 -lambda 1 -detpixels "
     "1024",
     "a still of a protein"},
    {"nanobragg -pdb 1aki.pdb -N 30 -gauss_xtal -osc 0.5 -crystal_volume 125000 -flux "
     "1e10 "
     "-background water:0.1",
     "a rotation image of a crystal in water, in photons of a beamline"},
    {"nanobragg -default_F 100 -cell 100 -N 5 -trace_pixel 512 512",
     "every quantity of one pixel"},
    {"nanobragg compare new.bin reference.bin -diff difference.png",
     "how two images differ"},
    {NULL, NULL}};

void nb_help_usage(FILE *out)
{
    fputs("usage: nanobragg FLAGS   (nanobragg -help lists the flags)\n"
          "Simulates the X-ray diffraction image of a small crystal, in photons per "
          "pixel.\n"
          "for example:\n",
          out);
    for (const nb_help_example *e = nb_help_examples; e->command; e++)
        fprintf(out, "  %s\n      %s\n", e->command, e->what);
}

void nb_help_options(FILE *out)
{
    nb_help_usage(out);
    fputs("\nType one dash or two, and the whole name of a flag. If you type a flag "
          "twice, the last one\nis used. The unit is in [brackets], the default in "
          "(parentheses). nanobragg -help WORD lists\nwhat has a word in it, for example "
          "-help mosaic.\n",
          out);
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (nb_flag_begins_group(f)) {
            fprintf(out, "\n%s\n", f->group);
            nb_help_group(out, f->group, nb_help_flag);
        }
    nb_sub_help_list(out);
    fputs("\nExit status: 0 done, 1 file, memory or device failed, 2 bad input, 130 "
          "stopped\nby SIGINT (Ctrl-C), SIGTERM or SIGHUP. No unfinished file is left "
          "then. A series\nkeeps its finished frames, and -resume continues with the "
          "next one.\n",
          out);
}

void nb_help_flags(FILE *out)
{
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));) {
        const char *cursor = f->synonyms;
        char word[64];
        fprintf(out, "-%s\n", f->name);
        while (nb_next_word(&cursor, word, sizeof word))
            fprintf(out, "-%s\n", word);
    }
}

void nb_help_version(FILE *out)
{
    const nb_feature *part;

    fprintf(out, "nanobragg %s\n", nb_version());
    for (int i = 0; (part = nb_feature_at(i)); i++)
        fprintf(out, "  %-12s %-4s %s\n", part->name, part->present ? "yes" : "no",
                part->detail ? part->detail : "");
}
