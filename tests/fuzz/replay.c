/* SPDX-License-Identifier: MIT */
/* Feeds corpus files to one fuzz target: `replay FOLDER...`. Inputs named bad_* must be
 * rejected, good_* accepted; others (found by the fuzzer) must not crash. Prints ok or not
 * ok for each. The exit status is 1 after a failure, or if a folder has no input. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

static uint8_t *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL, *larger;
    size_t used = 0, room = 0, got = 1;
    while (file && got > 0) {
        if (used == room) {
            room = 2 * room + 4096;
            larger = realloc(data, room);
            if (!larger)
                break;
            data = larger;
        }
        got = fread(data + used, 1, room - used, file);
        used += got;
    }
    if (!file || ferror(file)) {
        free(data);
        data = NULL;
    }
    if (file)
        fclose(file);
    *size = used;
    return data;
}

/* Parses a copy of the exact size, so that a sanitizer sees a read past the end. */
static int accepts(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    int accepted;
    if (!exact)
        abort();
    memcpy(exact, data, size);
    accepted = nb_fuzz_accepts(exact, size);
    free(exact);
    return accepted;
}

static int replay_file(const char *folder, const char *name)
{
    char path[4096];
    size_t size;
    uint8_t *data;
    int accepted, wrong;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    data = read_whole(path, &size);
    if (!data) {
        printf("not ok %s cannot be read\n", path);
        return 1;
    }
    accepted = accepts(data, size);
    free(data);
    wrong = accepted ? strncmp(name, "bad_", 4) == 0 : strncmp(name, "good_", 5) == 0;
    printf("%s %s is %s\n", wrong ? "not ok" : "ok", path,
           accepted ? "accepted" : "rejected");
    return wrong;
}

static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int files = 0, wrong = 0;
    while (dir && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.') {
            files++;
            wrong += replay_file(folder, entry->d_name);
        }
    if (dir)
        closedir(dir);
    if (files == 0)
        printf("not ok %s has no input\n", folder);
    return wrong > 0 || files == 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++)
        failed |= replay_folder(argv[i]);
    return failed;
}
