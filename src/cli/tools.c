/* SPDX-License-Identifier: MIT */
#include "tools.h"

#include "common.h"

#define TEXT(name, path)                                                                 \
    __asm__(".pushsection .rodata\n.global " #name "\n" #name ":\n.incbin \""            \
            "src/tools/" path "\"\n.byte 0\n.popsection\n")

TEXT(nb_tool_report, "report.py");
TEXT(nb_tool_run_compare, "run_compare.py");

nb_status nb_tool_missing(const char *what, nb_error *err)
{
    nb_cli_fail(err, "%s needs python3, which cannot be started (Debian package python3)",
                what);
    return err->code = NB_ERR_UNSUPPORTED;
}
