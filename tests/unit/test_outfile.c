/* SPDX-License-Identifier: MIT */
/* Files are complete or absent after any error. */
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../../src/base/memory.h"
#include "../../src/base/outfile.h"

static nb_status write_text(const char *path, const char *text, nb_error *err)
{
    nb_outfile out;
    nb_status st = nb_outfile_open(&out, path, err);
    if (!st)
        st = nb_outfile_write(&out, text, strlen(text), err);
    if (!st)
        st = nb_outfile_commit(&out, err);
    nb_outfile_abort(&out);
    return st;
}

static int mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (int)(st.st_mode & 07777);
}

SCRATCH_TEST(new_file)
{
    scratch *s = *state;
    const char *path = scratch_path(s, "a.img");
    mode_t old = umask(027);
    assert_int_equal(write_text(path, "whole", NULL), NB_OK);
    umask(old);
    assert_file_is(path, "whole");
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(scratch_count(s, 0), 1);
}

SCRATCH_TEST(appears_at_commit)
{
    scratch *s = *state;
    const char *path = scratch_path(s, "a.img");
    nb_outfile out;
    scratch_write(path, "old");
    assert_int_equal(nb_outfile_open(&out, path, NULL), NB_OK);
    assert_int_equal(nb_outfile_write(&out, "new", 3, NULL), NB_OK);
    assert_file_is(path, "old");
    assert_true(fcntl(out.fd, F_GETFD) & FD_CLOEXEC);
    assert_non_null(strstr(out.temp, "/.a.img."));
    assert_non_null(strstr(out.temp, ".part"));
    assert_int_equal(nb_outfile_commit(&out, NULL), NB_OK);
    assert_file_is(path, "new");
    nb_outfile_abort(&out); /* after a commit this call has no effect */
    assert_file_is(path, "new");
    assert_int_equal(scratch_count(s, 0), 1);
}

SCRATCH_TEST(abort_keeps_the_old_file)
{
    scratch *s = *state;
    const char *path = scratch_path(s, "a.img");
    nb_outfile out;
    nb_error err;
    scratch_write(path, "old");
    assert_int_equal(nb_outfile_open(&out, path, NULL), NB_OK);
    assert_int_equal(nb_outfile_write(&out, "half", 4, NULL), NB_OK);
    nb_outfile_abort(&out);
    nb_outfile_abort(&out);
    nb_outfile_abort(NULL);
    assert_file_is(path, "old");
    assert_int_equal(scratch_count(s, 0), 1);
    assert_int_equal(nb_outfile_commit(&out, &err), NB_ERR_INTERNAL);
}

SCRATCH_TEST(keeps_permissions)
{
    scratch *s = *state;
    const char *path = scratch_path(s, "a.img");
    scratch_write(path, "old");
    chmod(path, 0604);
    assert_int_equal(write_text(path, "new", NULL), NB_OK);
    assert_int_equal(mode_of(path), 0604);
}

/** A file that root replaces keeps its owner. */
SCRATCH_TEST(keeps_owner)
{
    scratch *s = *state;
    const char *path = scratch_path(s, "a.img");
    struct stat st;
    if (geteuid() != 0) {
        print_message("# keeps_owner: only root may give a file away\n");
        skip();
    }
    scratch_write(path, "old");
    assert_int_equal(chown(path, 1234, 2345), 0);
    chmod(path, 0640);
    assert_int_equal(write_text(path, "new", NULL), NB_OK);
    assert_file_is(path, "new");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, 1234);
    assert_int_equal(st.st_gid, 2345);
    assert_int_equal(mode_of(path), 0640);
}

static void assert_refused(const char *path, const char *named, const char *why)
{
    nb_error err = {0};
    assert_int_equal(write_text(path, "x", &err), NB_ERR_IO);
    assert_int_equal(err.code, NB_ERR_IO);
    if (!strstr(err.message, named) || !strstr(err.message, why))
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", err.message, named, why);
    assert_null(strchr(err.message, '\n'));
}

SCRATCH_TEST(refusals)
{
    scratch *s = *state;
    char path[NB_PATH_MAX + 10];
    assert_refused(scratch_path(s, "none/a.img"), "none/a.img", strerror(ENOENT));
    assert_refused(s->folder, s->folder, strerror(EISDIR));
    assert_refused("", "", "empty");
    scratch_write(scratch_path(s, "file"), "");
    assert_refused(scratch_path(s, "file/a.img"), "file/a.img", strerror(ENOTDIR));
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_refused(path, "aaa", "too long");
    assert_int_equal(scratch_count(s, 0), 1);
}

/* Permissions do not apply to the superuser, so the test changes to another user. */
SCRATCH_TEST(read_only)
{
    scratch *s = *state;
    const uid_t nobody = 65534, me = geteuid();
    int was_root = me == 0;
    const char *path = scratch_path(s, "a.img");
    scratch_write(path, "old");
    chmod(path, 0444);
    if (was_root) {
        assert_int_equal(chown(path, nobody, (gid_t)-1), 0);
        assert_int_equal(chown(s->folder, nobody, (gid_t)-1), 0);
        if (seteuid(nobody) != 0)
            skip_because("the superuser cannot become another user here");
        if (faccessat(AT_FDCWD, s->folder, X_OK, AT_EACCESS) != 0) {
            assert_int_equal(seteuid(me), 0);
            skip_because("others may not enter the temporary folder");
        }
    }
    assert_refused(path, "a.img", strerror(EACCES));
    chmod(path, 0644);
    chmod(s->folder, 0500);
    assert_refused(path, "a.img", strerror(EACCES));
    chmod(s->folder, 0700);
    assert_int_equal(write_text(path, "new", NULL), NB_OK);
    if (was_root)
        assert_int_equal(seteuid(me), 0);
    assert_file_is(path, "new");
}

SCRATCH_TEST(long_name)
{
    scratch *s = *state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_int_equal(write_text(scratch_path(s, name), "x", NULL), NB_OK);
    assert_file_is(scratch_path(s, name), "x");
}

SCRATCH_TEST(disk_full)
{
    scratch *s = *state;
    const char *path = scratch_path(s, "a.img");
    struct rlimit before, tight;
    static const char block[4096] = "";
    nb_outfile out;
    nb_error err = {0};
    nb_status st = NB_OK;
    scratch_write(path, "old");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    assert_int_equal(nb_outfile_open(&out, path, &err), NB_OK);
    for (int i = 0; i < 100 && !st; i++)
        st = nb_outfile_write(&out, block, sizeof block, &err);
    nb_outfile_abort(&out);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(st, NB_ERR_IO);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, strerror(EFBIG)));
    assert_file_is(path, "old");
    assert_int_equal(scratch_count(s, 0), 1);
}

UNIT_TEST(devices)
{
    nb_error err = {0};
    struct stat st;
    assert_int_equal(write_text("/dev/null", "gone", &err), NB_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    if (access("/dev/full", W_OK) != 0)
        skip_because("no /dev/full here");
    assert_refused("/dev/full", "/dev/full", strerror(ENOSPC));
}

SCRATCH_TEST(fifo)
{
    scratch *s = *state;
    const char *path = scratch_path(s, "pipe");
    char text[16] = "";
    struct stat st;
    int reader;
    assert_int_equal(mkfifo(path, 0600), 0);
    reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(write_text(path, "through", NULL), NB_OK);
    assert_int_equal(read(reader, text, sizeof text - 1), 7);
    assert_string_equal(text, "through");
    close(reader);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(scratch_count(s, 0), 1);
}

SCRATCH_TEST(symbolic_link)
{
    scratch *s = *state;
    char target[512], name[512];
    struct stat st;
    snprintf(target, sizeof target, "%s", scratch_path(s, "target"));
    snprintf(name, sizeof name, "%s", scratch_path(s, "link"));
    scratch_write(target, "old");
    assert_int_equal(symlink("target", name), 0);
    assert_int_equal(write_text(name, "new", NULL), NB_OK);
    assert_file_is(target, "new");
    assert_int_equal(lstat(name, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(target);
    assert_int_equal(write_text(name, "newer", NULL), NB_OK); /* a broken link */
    assert_file_is(name, "newer");
}

SCRATCH_TEST(abort_all)
{
    scratch *s = *state;
    char path[512];
    nb_outfile a, b;
    nb_error err;
    snprintf(path, sizeof path, "%s", scratch_path(s, "a"));
    scratch_write(path, "old");
    assert_int_equal(nb_outfile_open(&a, path, NULL), NB_OK);
    assert_int_equal(nb_outfile_open(&b, scratch_path(s, "b"), NULL), NB_OK);
    assert_int_equal(scratch_count(s, 0), 3);
    nb_outfile_abort_all();
    assert_int_equal(scratch_count(s, 0), 1);
    assert_int_equal(nb_outfile_commit(&a, &err), NB_ERR_IO);
    nb_outfile_abort(&b);
    assert_file_is(path, "old");
}

/* Finished files return their slots. Without a slot only the clean-up by signal fails. */
SCRATCH_TEST(many_files)
{
    enum { MANY = 40 };
    scratch *s = *state;
    static nb_outfile out[MANY];
    char name[16];
    for (int i = 0; i < 200; i++)
        assert_int_equal(write_text(scratch_path(s, "a"), "x", NULL), NB_OK);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "f%d", i);
        assert_int_equal(nb_outfile_open(&out[i], scratch_path(s, name), NULL), NB_OK);
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(nb_outfile_commit(&out[i], NULL), NB_OK);
    assert_int_equal(scratch_count(s, 0), 1 + MANY);
    assert_int_equal(nb_outfile_open(&out[0], scratch_path(s, "z"), NULL), NB_OK);
    nb_outfile_abort_all();
    assert_int_equal(scratch_count(s, 0), 1 + MANY);
    nb_outfile_abort(&out[0]);
}

static void on_signal(int number)
{
    nb_outfile_abort_all();
    _exit(128 + number);
}

SCRATCH_TEST(killed_half_way)
{
    scratch *s = *state;
    int ready[2], status;
    char byte;
    pid_t child;
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        nb_outfile out;
        signal(SIGTERM, on_signal);
        if (nb_outfile_open(&out, scratch_path(s, "a"), NULL) ||
            nb_outfile_write(&out, "half", 4, NULL) || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_true(child > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(scratch_count(s, 0), 1);
    kill(child, SIGTERM);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
    assert_int_equal(scratch_count(s, 0), 0);
    close(ready[0]);
    close(ready[1]);
}

SCRATCH_TEST(read_whole)
{
    scratch *s = *state;
    const char *path = scratch_path(s, "in");
    char *data;
    size_t bytes;
    nb_error err;
    scratch_write(path, "12345");
    assert_int_equal(nb_read_file(path, "-hkl", 0, &data, &bytes, &err), NB_OK);
    assert_int_equal(bytes, 5);
    assert_string_equal(data, "12345");
    nb_free(data);
    assert_int_equal(nb_read_file(path, "-hkl", 5, &data, &bytes, &err), NB_OK);
    nb_free(data);
    assert_int_equal(nb_read_file(path, "-hkl", 4, &data, &bytes, &err), NB_ERR_INPUT);
    assert_null(data);
    assert_non_null(strstr(err.message, "-hkl"));
    assert_non_null(strstr(err.message, path));
    scratch_write(path, "");
    assert_int_equal(nb_read_file(path, "-hkl", 4, &data, &bytes, &err), NB_OK);
    assert_int_equal(bytes, 0);
    assert_string_equal(data, "");
    nb_free(data);
}

SCRATCH_TEST(read_refusals)
{
    scratch *s = *state;
    char *data;
    size_t bytes;
    nb_error err;
    assert_int_equal(nb_read_file(scratch_path(s, "none"), "-mat", 0, &data, &bytes, &err),
                     NB_ERR_INPUT);
    assert_non_null(strstr(err.message, strerror(ENOENT)));
    assert_non_null(strstr(err.message, "-mat"));
    assert_int_equal(nb_read_file(s->folder, "-mat", 0, &data, &bytes, &err),
                     NB_ERR_INPUT);
    assert_non_null(strstr(err.message, strerror(EISDIR)));
    assert_null(data);
    scratch_write(scratch_path(s, "in"), "12345");
    nb_alloc_fail_after(1);
    assert_int_equal(nb_read_file(s->path, "-mat", 0, &data, &bytes, &err), NB_ERR_NOMEM);
    nb_alloc_fail_after(0);
    assert_null(data);
}

/* The length of a pipe is unknown. */
SCRATCH_TEST(read_pipe)
{
    enum { BYTES = 200001 };
    scratch *s = *state;
    const char *path = scratch_path(s, "pipe");
    char *data;
    size_t bytes;
    nb_error err;
    int status;
    pid_t child;
    assert_int_equal(mkfifo(path, 0600), 0);
    child = fork();
    if (child == 0) {
        int fd = open(path, O_WRONLY);
        for (int i = 0; i < BYTES; i++) {
            char c = (char)('a' + i % 26);
            if (write(fd, &c, 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    assert_int_equal(nb_read_file(path, "-hkl", 0, &data, &bytes, &err), NB_OK);
    assert_int_equal(bytes, BYTES);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(data[i], 'a' + i % 26);
    nb_free(data);
    assert_int_equal(waitpid(child, &status, 0), child);
}
