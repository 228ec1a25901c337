/* SPDX-License-Identifier: MIT */
/* The golden suite: runs the program with each line of golden_data/cases.tsv, in a folder
 * of links to the input files, and compares the image with the golden image.
 *
 *   golden PROGRAM GOLDEN_DIR [--report] [--limits scalar|mixed] [--only ID] [-- FLAGS]
 *
 * FLAGS are added to each case (-isa avx2, -device cuda, ...).  Prints "ok NAME" or
 * "not ok NAME" for each case, or with --report a markdown table; exit status 1 when one fails. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"

enum { MAX_ARGS = 128, LINE_SIZE = 4096 };

typedef struct limits {
    const char *name;
    double maxrel, rel6, sum, corr;
} limits;

static const limits known_limits[] = {
    {"scalar", 2e-7, 1e-5, 1e-6, 1e-12},
    {"mixed", 1e-6, 1e-4, 1e-6, 1e-11},
};

typedef struct suite {
    char program[PATH_MAX], data[PATH_MAX], scratch[PATH_MAX];
    const limits *limit;
    const char *only;
    char **extra;
    int n_extra, report, passed, failed;
    double worst[4];
} suite;

typedef struct golden_case {
    char id[128];
    int fast, slow;
    char *args;
} golden_case;

static float *read_floats(const char *path, size_t n)
{
    FILE *file = fopen(path, "rb");
    float *pixels = malloc((n + 1) * sizeof *pixels);
    size_t got = file ? fread(pixels, sizeof *pixels, n + 1, file) : 0;
    if (file)
        fclose(file);
    if (got == n)
        return pixels;
    free(pixels);
    return NULL;
}

static void link_inputs(const suite *s, int remove)
{
    DIR *dir = opendir(s->data);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char from[2 * PATH_MAX], to[2 * PATH_MAX];
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || (strcmp(dot, ".hkl") && strcmp(dot, ".mat") && strcmp(dot, ".txt")))
            continue;
        snprintf(from, sizeof from, "%s/%s", s->data, entry->d_name);
        snprintf(to, sizeof to, "%s/%s", s->scratch, entry->d_name);
        if (remove)
            unlink(to);
        else if (symlink(from, to))
            perror(to);
    }
    if (dir)
        closedir(dir);
}

static int run_program(const suite *s, char *args)
{
    char *argv[MAX_ARGS], *token;
    int n = 0, i, status = -1;
    pid_t child;
    argv[n++] = (char *)s->program;
    for (token = strtok(args, " \n"); token && n < MAX_ARGS - 40;
         token = strtok(NULL, " \n"))
        argv[n++] = token;
    for (i = 0; i < s->n_extra && n < MAX_ARGS - 8; i++)
        argv[n++] = s->extra[i];
    argv[n++] = "-floatfile";
    argv[n++] = "out.bin";
    argv[n++] = "-noint";
    argv[n++] = "-nopgm";
    argv[n++] = "-nonoise";
    argv[n] = NULL;
    child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY), log;
        if (chdir(s->scratch))
            _exit(126);
        log = open("stderr.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(null, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        execv(s->program, argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void show_log(const suite *s)
{
    char path[2 * PATH_MAX], line[512];
    FILE *file;
    snprintf(path, sizeof path, "%s/stderr.txt", s->scratch);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        printf("#   %s", line);
    if (file)
        fclose(file);
}

/** Floor of rel6, larger if N >= 300: there dark pixels (zeros of F_latt) vary more. */
static double dim_pixel_floor(const suite *s, const char *args)
{
    const char *p = strstr(args, "-N ");
    int mixed = s->limit != &known_limits[0];
    return mixed && p && atoi(p + 3) >= 300 ? 1e-4 : 1e-6;
}

static void judge(suite *s, const golden_case *g, const nb_comparison *c)
{
    const limits *l = s->limit;
    double figures[4] = {c->maxrel, c->rel6, c->sum, c->corr};
    int ok = c->maxrel <= l->maxrel && c->sum <= l->sum && c->corr <= l->corr &&
             (isinf(l->rel6) || c->rel6 <= l->rel6);
    int i;
    for (i = 0; i < 4; i++)
        if (!(figures[i] <= s->worst[i]))
            s->worst[i] = figures[i];
    *(ok ? &s->passed : &s->failed) += 1;
    if (s->report)
        printf("| %s | %dx%d | %.1e | %.1e | %.1e | %.1e | %s |\n", g->id, g->fast,
               g->slow, c->maxrel, c->rel6, c->sum, c->corr, ok ? "pass" : "FAIL");
    else
        printf("%s golden/%s maxrel %.1e rel6 %.1e sum %.1e corr %.1e\n",
               ok ? "ok" : "not ok", g->id, c->maxrel, c->rel6, c->sum, c->corr);
}

static void run_case(suite *s, const golden_case *g)
{
    char path[2 * PATH_MAX], out[2 * PATH_MAX];
    size_t n = (size_t)g->fast * (size_t)g->slow;
    double floor = dim_pixel_floor(s, g->args);
    nb_comparison c = {NAN, NAN, NAN, NAN};
    float *golden, *ours = NULL;
    int status;
    snprintf(path, sizeof path, "%s/%s.bin", s->data, g->id);
    snprintf(out, sizeof out, "%s/out.bin", s->scratch);
    unlink(out);
    link_inputs(s, 0);
    status = run_program(s, g->args);
    golden = read_floats(path, n);
    if (status == 0)
        ours = read_floats(out, n);
    if (golden && ours)
        c = nb_compare(ours, golden, n, floor);
    else
        printf("# %s: exit status %d, golden image %s, our image %s\n", g->id, status,
               golden ? "read" : "missing", ours ? "read" : "missing");
    if (status)
        show_log(s);
    judge(s, g, &c);
    free(golden);
    free(ours);
    link_inputs(s, 1);
    unlink(out);
    snprintf(out, sizeof out, "%s/Fdump.bin", s->scratch);
    unlink(out);
}

/** Parse a line: id fast slow sum max max_fast max_slow args, separated by tabs. */
static int parse_case(char *line, golden_case *g)
{
    char *field[8];
    int n = 0;
    for (field[n++] = line; n < 8; n++) {
        char *tab = strchr(field[n - 1], '\t');
        if (!tab)
            return 0;
        *tab = 0;
        field[n] = tab + 1;
    }
    snprintf(g->id, sizeof g->id, "%.127s", field[0]);
    g->fast = atoi(field[1]);
    g->slow = atoi(field[2]);
    g->args = field[7];
    return g->fast > 0 && g->slow > 0;
}

static int parse_arguments(suite *s, int argc, char **argv)
{
    int i;
    size_t k;
    if (argc < 3 || !realpath(argv[1], s->program) || !realpath(argv[2], s->data))
        return 0;
    s->limit = &known_limits[0];
    for (i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--report") == 0) {
            s->report = 1;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            s->only = argv[++i];
        } else if (strcmp(argv[i], "--limits") == 0 && i + 1 < argc) {
            s->limit = NULL;
            for (k = 0; k < sizeof known_limits / sizeof *known_limits; k++)
                if (strcmp(argv[i + 1], known_limits[k].name) == 0)
                    s->limit = &known_limits[k];
            i++;
            if (!s->limit)
                return 0;
        } else if (strcmp(argv[i], "--") == 0) {
            s->extra = argv + i + 1;
            s->n_extra = argc - i - 1;
            return 1;
        } else {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    static suite s;
    char path[2 * PATH_MAX], line[LINE_SIZE];
    FILE *cases;
    if (!parse_arguments(&s, argc, argv)) {
        fprintf(stderr,
                "usage: golden PROGRAM GOLDEN_DIR [--report] [--limits scalar|mixed] "
                "[--only ID] [-- FLAGS]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/cases.tsv", s.data);
    cases = fopen(path, "r");
    snprintf(s.scratch, sizeof s.scratch, "/tmp/nanobragg-golden-XXXXXX");
    if (!cases || !mkdtemp(s.scratch)) {
        perror(path);
        return 2;
    }
    if (s.report)
        printf("| case | pixels | max diff/max | rel diff | sum-1 | 1-corr | |\n"
               "| --- | --- | --- | --- | --- | --- | --- |\n");
    while (fgets(line, sizeof line, cases)) {
        golden_case g;
        if (parse_case(line, &g) && (!s.only || strcmp(s.only, g.id) == 0))
            run_case(&s, &g);
        fflush(stdout);
    }
    fclose(cases);
    snprintf(path, sizeof path, "%s/stderr.txt", s.scratch);
    unlink(path);
    rmdir(s.scratch);
    if (s.report)
        printf("| worst | | %.1e | %.1e | %.1e | %.1e | %d of %d pass |\n", s.worst[0],
               s.worst[1], s.worst[2], s.worst[3], s.passed, s.passed + s.failed);
    if (s.passed + s.failed == 0)
        printf("not ok golden: no case ran\n");
    return s.failed > 0 || s.passed == 0;
}
