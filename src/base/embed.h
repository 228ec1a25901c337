/* SPDX-License-Identifier: MIT */
/** Include a file of the source in the program as a constant text. */
#ifndef NB_BASE_EMBED_H
#define NB_BASE_EMBED_H

/** Define const char symbol[]: the bytes of the file (path relative to make's folder) and
 * a NUL. The Makefile lists the object that depends on the file. */
#define NB_EMBED(symbol, file)                                                           \
    extern const char symbol[];                                                          \
    __asm__(".pushsection .rodata\n.global " #symbol "\n.type " #symbol                  \
            ", %object\n" #symbol ":\n.incbin \"" file "\"\n.byte 0\n.size " #symbol     \
            ", . - " #symbol "\n.popsection\n")

#endif
