/* What a file system answers: small experiments whose outcome a program may depend on. A test runs them natively and as a
   guest, and holds the two against each other. Each works in a folder of its own, by its number. What an experiment finds
   there already it does not make: so the same experiments are done with files that the program made, and with files that
   were there before it. */
#define _GNU_SOURCE
#include "editor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where the running experiment works: an empty folder, with no slash behind. */
static char folder[4096];
/* What the running experiment saw. */
static struct text *seen;

/* A path in `folder`. Valid until it was called four more times. */
static const char *at(const char *name) {
    static char paths[4][8192];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Numbers and texts of errors are each platform's own; the names are not. */
static const char *error_name(void) {
    switch (errno) {
#define NAME(e) \
    case e:     \
        return #e
        NAME(EACCES);
        NAME(EBADF);
        NAME(EBUSY);
        NAME(EEXIST);
        NAME(EINVAL);
        NAME(EIO);
        NAME(EISDIR);
        NAME(ELOOP);
        NAME(EMFILE);
        NAME(ENAMETOOLONG);
        NAME(ENOENT);
        NAME(ENOSPC);
        NAME(ENOSYS);
        NAME(ENOTDIR);
        NAME(ENOTEMPTY);
        NAME(ENOTSUP);
        NAME(EPERM);
        NAME(EROFS);
        NAME(ESPIPE);
        NAME(EXDEV);
#ifdef ENOTCAPABLE
        NAME(ENOTCAPABLE);
#endif
#undef NAME
    }
    static char number[32];
    snprintf(number, sizeof number, "errno %d", errno);
    return number;
}

/* Notes the outcome of a call that gives a negative number on error. */
static long saw(long outcome) {
    if (outcome < 0)
        say(seen, " %s", error_name());
    else
        say(seen, " %ld", outcome);
    return outcome;
}

/* Notes whether a call succeeded that gives something which may be another natively, such as a descriptor. */
static int opened(int fd) {
    say(seen, " %s", fd < 0 ? error_name() : "ok");
    return fd;
}

static FILE *streamed(FILE *file) {
    say(seen, " %s", file == NULL ? error_name() : "ok");
    return file;
}

/* Ends the experiment where a stream does not open that the rest of it needs. */
#define STREAM(file, call)                      \
    do {                                        \
        if (((file) = streamed(call)) == NULL)  \
            return;                             \
    } while (0)

static void make(const char *name) {
    if (access(at(name), F_OK) == 0)
        return;
    FILE *file = fopen(at(name), "w");
    if (file == NULL || fputs("old", file) < 0 || fclose(file) != 0)
        say(seen, " cannot make %s: %s", name, error_name());
}

static void make_folder(const char *name) {
    if (mkdir(at(name), 0777) != 0 && errno != EEXIST)
        say(seen, " cannot make %s: %s", name, error_name());
}

/* Notes what a file holds. */
static void show(const char *name) {
    FILE *file = fopen(at(name), "r");
    if (file == NULL) {
        say(seen, " %s", error_name());
        return;
    }
    char text[64];
    size_t len = fread(text, 1, sizeof text, file);
    say(seen, " '%.*s'", (int)len, text);
    fclose(file);
}

static int by_name(const void *one, const void *other) { return strcmp(one, other); }

/* Notes the sorted names of a folder, with the dots. */
static void show_names(const char *name) {
    static char names[16][256];
    size_t count = 0;
    DIR *entries = opendir(at(name));
    if (entries == NULL) {
        say(seen, " %s", error_name());
        return;
    }
    for (struct dirent *entry; count < 16 && (entry = readdir(entries)) != NULL; count++)
        snprintf(names[count], sizeof names[0], "%s", entry->d_name);
    closedir(entries);
    qsort(names, count, sizeof names[0], by_name);
    for (size_t n = 0; n < count; n++)
        say(seen, " %s", names[n]);
}

static void open_missing(void) {
    streamed(fopen(at("none"), "r"));
    streamed(fopen(at("none"), "r+"));
    streamed(fopen(at("none/f"), "w"));
    opened(open(at("none"), O_WRONLY));
    opened(open(at("none"), O_RDONLY | O_DIRECTORY));
}

static void read_folder(void) {
    char byte;
    int fd = open(folder, O_RDONLY);
    saw(read(fd, &byte, 1));
    close(fd);
}

static void open_folder(void) {
    opened(open(folder, O_RDONLY));
    streamed(fopen(folder, "w"));
    streamed(fopen(folder, "r+"));
    streamed(fopen(folder, "a"));
    opened(open(folder, O_WRONLY));
    opened(open(folder, O_RDWR | O_CREAT, 0666));
}

static void open_file(void) {
    make("f");
    opened(open(at("f"), O_RDONLY | O_DIRECTORY));
    opened(open(at("f"), O_RDONLY | O_NOFOLLOW));
    opened(open(at("f"), O_WRONLY | O_CREAT | O_EXCL, 0666));
    opened(open(at("f/"), O_RDONLY));
    opened(open(at("f/g"), O_RDONLY));
    opened(open(at("f/g"), O_WRONLY | O_CREAT, 0666));
    streamed(opendir(at("f")) == NULL ? NULL : stdout);
}

static void empty_path(void) { opened(open("", O_RDONLY)); }

static void modes(void) {
    FILE *file;
    STREAM(file, fopen(at("f"), "w+"));
    saw(fputs("one two", file) >= 0);
    rewind(file);
    char word[16] = "";
    saw(fscanf(file, "%15s", word));
    say(seen, " %s", word);
    fclose(file);
    STREAM(file, fopen(at("f"), "a+"));
    saw(fputs(" three", file) >= 0);
    saw(ftell(file));
    rewind(file);
    saw(fread(word, 1, 3, file) == 3);
    fclose(file);
    show("f");
    STREAM(file, fopen(at("f"), "r+"));
    saw(fputs("ONE", file) >= 0);
    fclose(file);
    show("f");
    streamed(fopen(at("f"), "wx"));
    STREAM(file, fopen(at("g"), "wx"));
    fclose(file);
    STREAM(file, fopen(at("f"), "w"));
    fclose(file);
    show("f");
}

static void wrong_direction(void) {
    make("f");
    char byte = 'x';
    int fd = opened(open(at("f"), O_RDONLY));
    saw(ftruncate(fd, 0));
    saw(write(fd, &byte, 1));
    close(fd);
    fd = opened(open(at("f"), O_WRONLY));
    saw(read(fd, &byte, 1));
    close(fd);
    saw(read(fd, &byte, 1));
}

static void append(void) {
    make("f");
    int one = opened(open(at("f"), O_WRONLY | O_APPEND)), two = opened(open(at("f"), O_WRONLY | O_APPEND));
    saw(write(one, " one", 4));
    saw(write(two, " two", 4));
    saw(lseek(one, 0, SEEK_SET));
    saw(write(one, " three", 6));
    saw(lseek(one, 0, SEEK_CUR));
    show("f");
    close(one);
    close(two);
}

static void append_later(void) {
    make("f");
    int fd = opened(open(at("f"), O_RDWR));
    saw(fcntl(fd, F_SETFL, O_APPEND));
    saw((fcntl(fd, F_GETFL) & O_APPEND) != 0);
    saw(write(fd, " end", 4));
    saw(fcntl(fd, F_SETFL, 0));
    saw(lseek(fd, 0, SEEK_SET));
    saw(write(fd, "new", 3));
    show("f");
    close(fd);
}

static void truncating(void) {
    make("f");
    saw(truncate(at("f"), 2));
    show("f");
    saw(truncate(at("f"), -1));
    saw(truncate(at("none"), 1));
    saw(truncate(folder, 1));
    int fd = opened(open(at("f"), O_RDWR | O_TRUNC));
    struct stat is;
    saw(fstat(fd, &is));
    saw(is.st_size);
    saw(ftruncate(fd, 5));
    saw(fstat(fd, &is));
    saw(is.st_size);
    close(fd);
}

static void may(void) {
    make("f");
    make_folder("d");
    static const char *const names[] = {"f", "d", "d/", "f/", "none", "."};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        saw(access(at(names[n]), F_OK));
        saw(access(at(names[n]), R_OK | W_OK));
    }
}

static void stats(void) {
    make("f");
    make_folder("d");
    static const char *const names[] = {"f", "d", "d/", "d/.", "d/..", "f/", "none", "none/f", "d/../f", "./f"};
    struct stat is;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        if (stat(at(names[n]), &is) != 0)
            say(seen, " %s", error_name());
        else
            say(seen, " %s", S_ISDIR(is.st_mode) ? "folder" : S_ISREG(is.st_mode) ? "file" : "other");
    }
    struct stat same;
    saw(lstat(at("f"), &is));
    int fd = open(at("f"), O_RDONLY);
    saw(fstat(fd, &same));
    saw(is.st_size);
    saw(is.st_dev == same.st_dev && is.st_ino == same.st_ino);
    saw(stat(at("d"), &same));
    saw(is.st_ino == same.st_ino);
    close(fd);
}

/* A program that works in its current folder. */
static void current_folder(void) {
    make("f");
    make_folder("d");
    saw(chdir(folder));
    char *here = getcwd(NULL, 0);
    saw(here != NULL && strcmp(here, folder) == 0);
    saw(access("f", F_OK));
    FILE *file;
    STREAM(file, fopen("d/g", "w"));
    fclose(file);
    saw(chdir("d"));
    saw(access("g", F_OK));
    saw(access("../f", F_OK));
    saw(rename("../f", "f"));
    show_names("d");
    saw(chdir(at("none")));
}

static void relative_to_handles(void) {
    make_folder("d");
    int d = opened(open(at("d"), O_RDONLY | O_DIRECTORY));
    int fd = opened(openat(d, "f", O_WRONLY | O_CREAT, 0666));
    saw(write(fd, "new", 3));
    close(fd);
    struct stat is;
    saw(fstatat(d, "f", &is, 0));
    saw(mkdirat(d, "e", 0777));
    saw(renameat(d, "f", d, "e/g"));
    saw(unlinkat(d, "e", 0));
    saw(unlinkat(d, "e", AT_REMOVEDIR));
    saw(unlinkat(d, "e/g", 0));
    saw(unlinkat(d, "e", AT_REMOVEDIR));
    DIR *entries = fdopendir(d);
    int count = 0;
    while (readdir(entries) != NULL)
        count++;
    saw(count);
    saw(closedir(entries));
}

static void removing(void) {
    make("f");
    make_folder("d");
    make("d/f");
    saw(unlink(at("d")));
    saw(rmdir(at("f")));
    saw(rmdir(at("d")));
    saw(remove(at("d")));
    saw(remove(at("d/f")));
    saw(remove(at("d")));
    saw(remove(at("f")));
    saw(remove(at("f")));
    saw(rmdir(at("d")));
    show_names(".");
}

static void making(void) {
    make("f");
    make_folder("d");
    saw(mkdir(at("d"), 0777));
    saw(mkdir(at("f"), 0777));
    saw(mkdir(at("none/d"), 0777));
    saw(mkdir(at("f/d"), 0777));
    saw(mkdir(at("d/."), 0777));
    saw(mkdir(at("d/.."), 0777));
}

static void renaming(void) {
    make("f");
    make("g");
    make_folder("d");
    make_folder("e");
    make_folder("full");
    make("full/f");
    saw(rename(at("f"), at("f")));
    saw(rename(at("f"), at("d")));
    saw(rename(at("d"), at("f")));
    saw(rename(at("d"), at("full")));
    saw(rename(at("d"), at("d/inside")));
    saw(rename(at("f"), at("f/inside")));
    saw(rename(at("none"), at("f")));
    saw(rename(at("f"), at("none/f")));
    saw(rename(at("full"), at("e")));
    saw(rename(at("f"), at("g")));
    show_names(".");
    show_names("e");
}

/* It asks for a folder. */
static void slash_behind(void) {
    make("f");
    make_folder("d");
    saw(rename(at("f"), at("x/")));
    saw(rename(at("f/"), at("x")));
    saw(rename(at("f"), at("x")));
    saw(unlink(at("x/")));
    saw(unlink(at("d/")));
    saw(rename(at("d/"), at("e/")));
    saw(rmdir(at("e/.")));
    saw(rmdir(at("e/")));
    saw(mkdir(at("g/"), 0777));
    streamed(fopen(at("h/"), "w"));
    show_names(".");
}

static void removed_while_open(void) {
    make("f");
    int fd = opened(open(at("f"), O_RDWR));
    saw(unlink(at("f")));
    make("f");
    char text[16] = "";
    saw(pwrite(fd, "still", 5, 3));
    saw(pread(fd, text, 8, 0));
    say(seen, " %s", text);
    close(fd);
    show("f");
}

static void renamed_while_open(void) {
    make("f");
    FILE *file;
    STREAM(file, fopen(at("f"), "a"));
    saw(rename(at("f"), at("g")));
    saw(fputs(" more", file) >= 0);
    saw(fclose(file));
    show("f");
    show("g");
}

/* An atomic save beside a reader, and a write beside one. */
static void written_while_open(void) {
    make("f");
    char text[16] = "";
    int reader = opened(open(at("f"), O_RDONLY)), writer = opened(open(at("f"), O_RDWR));
    saw(pwrite(writer, "NEW!", 4, 0));
    saw(pread(reader, text, 8, 0));
    say(seen, " %s", text);
    int beside = opened(open(at("beside"), O_WRONLY | O_CREAT, 0666));
    saw(write(beside, "third", 5));
    saw(rename(at("beside"), at("f")));
    saw(pwrite(writer, "gone", 4, 0));
    saw(pread(reader, text, 8, 0));
    say(seen, " %s", text);
    show("f");
    saw(pwrite(beside, "still", 5, 5));
    show("f");
    close(reader);
    close(writer);
    close(beside);
}

static void renamed_folder_while_open(void) {
    make_folder("d");
    int d = opened(open(at("d"), O_RDONLY | O_DIRECTORY));
    saw(rename(at("d"), at("e")));
    int fd = opened(openat(d, "g", O_WRONLY | O_CREAT, 0666));
    saw(write(fd, "new", 3));
    close(fd);
    show("e/g");
    make_folder("d");
    saw(unlinkat(d, "g", 0));
    saw(access(at("e/g"), F_OK));
    close(d);
}

static void removed_folder_while_open(void) {
    make_folder("d");
    int d = opened(open(at("d"), O_RDONLY | O_DIRECTORY));
    saw(rmdir(at("d")));
    make_folder("d");
    make("d/f");
    opened(openat(d, "f", O_RDONLY));
    opened(openat(d, "g", O_WRONLY | O_CREAT, 0666));
    struct stat is;
    saw(fstat(d, &is));
    saw(S_ISDIR(is.st_mode));
    close(d);
}

/* Tools that watch a file take it for another one when its number changes. A write may change it: WASI has it so. */
static void identity(void) {
    make("f");
    make("g");
    struct stat was, other, is;
    saw(stat(at("f"), &was));
    saw(was.st_nlink);
    saw(stat(at("g"), &other));
    saw(other.st_ino == was.st_ino);
    int fd = opened(open(at("f"), O_RDWR));
    saw(fstat(fd, &is));
    saw(is.st_ino == was.st_ino);
    saw(stat(at("f"), &is));
    saw(is.st_ino == was.st_ino);
    saw(rename(at("f"), at("h")));
    saw(stat(at("h"), &is));
    saw(is.st_ino == was.st_ino);
    saw(rename(at("g"), at("h")));
    saw(stat(at("h"), &is));
    saw(is.st_ino == other.st_ino);
    saw(fstat(fd, &is));
    saw(is.st_ino == was.st_ino);
    close(fd);
}

/* `make` and its kin believe the times of what nobody wrote to. */
static void times_that_stay(void) {
    make("f");
    struct stat was, is;
    saw(stat(at("f"), &was));
    int fd = opened(open(at("f"), O_RDWR | O_APPEND));
    saw(fstat(fd, &is));
    saw(is.st_mtim.tv_sec == was.st_mtim.tv_sec && is.st_mtim.tv_nsec == was.st_mtim.tv_nsec);
    close(fd);
    saw(rename(at("f"), at("g")));
    saw(stat(at("g"), &is));
    saw(is.st_mtim.tv_sec == was.st_mtim.tv_sec && is.st_mtim.tv_nsec == was.st_mtim.tv_nsec);
    make_folder("full");
    make("full/f");
    saw(stat(at("full/f"), &was));
    saw(rename(at("full"), at("moved")));
    saw(stat(at("moved/f"), &is));
    saw(is.st_mtim.tv_sec == was.st_mtim.tv_sec && is.st_mtim.tv_nsec == was.st_mtim.tv_nsec);
}

/* The pattern of `tmpfile` and `mkstemp`: a name of its own, removed while it is open. */
static void temporary(void) {
    int fd = opened(open(at(".tmp-f8Xq2"), O_RDWR | O_CREAT | O_EXCL, 0600));
    saw(unlink(at(".tmp-f8Xq2")));
    FILE *file;
    STREAM(file, fdopen(fd, "w+"));
    for (int n = 0; n < 10000; n++)
        fprintf(file, "%d\n", n);
    rewind(file);
    long sum = 0, value;
    while (fscanf(file, "%ld", &value) == 1)
        sum += value;
    saw(sum);
    saw(fclose(file));
    show_names(".");
}

static void positions(void) {
    make("f");
    int fd = opened(open(at("f"), O_RDWR));
    saw(lseek(fd, -1, SEEK_SET));
    saw(lseek(fd, -1, SEEK_END));
    saw(lseek(fd, 70000, SEEK_CUR));
    saw(read(fd, &(char){0}, 1));
    saw(write(fd, "x", 1));
    saw(lseek(fd, 0, SEEK_END));
    saw(pread(fd, &(char){0}, 1, 70001));
    saw(pread(fd, &(char){0}, 1, 80000));
    saw(write(fd, "", 0));
    saw(fsync(fd));
    saw(fdatasync(fd));
    saw(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
    saw(isatty(fd));
    saw(close(fd));
    saw(close(fd));
}

/* A call may write or read less than it was given; what it says that it did must be so. */
static void vectors(void) {
    int fd = opened(open(at("f"), O_RDWR | O_CREAT | O_TRUNC, 0666));
    struct iovec parts[2] = {{"ab", 2}, {"cd", 2}};
    ssize_t written = writev(fd, parts, 2);
    saw(written == lseek(fd, 0, SEEK_END));
    char two[2], four[4];
    struct iovec into[2] = {{two, 2}, {four, 4}};
    saw(lseek(fd, 0, SEEK_SET));
    ssize_t got = readv(fd, into, 2);
    saw(got == lseek(fd, 0, SEEK_CUR));
    say(seen, " %.2s", two);
    close(fd);
}

static void buffers(void) {
    FILE *writer;
    STREAM(writer, fopen(at("f"), "w"));
    saw(fputs("in the buffer", writer) >= 0);
    show("f");
    saw(fflush(writer));
    show("f");
    saw(setvbuf(writer, NULL, _IONBF, 0));
    saw(fputc('!', writer));
    show("f");
    STREAM(writer, freopen(at("g"), "w", writer));
    saw(fputs("line 1\nline 2\n", writer) >= 0);
    fclose(writer);
    FILE *reader;
    STREAM(reader, fopen(at("g"), "r"));
    char *line = NULL;
    size_t size = 0;
    saw(getline(&line, &size, reader));
    saw(ungetc('x', reader));
    saw(getline(&line, &size, reader));
    say(seen, " %.7s", line);
    saw(getline(&line, &size, reader) < 0 && feof(reader));
    fclose(reader);
}

static void listing(void) {
    enum { FILES = 500 };
    char name[64];
    for (int n = 0; n < FILES; n++) {
        snprintf(name, sizeof name, "a file with a longer name, number %d", n);
        make(name);
    }
    DIR *entries = opendir(folder);
    int files = 0, others = 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        *(entry->d_type == DT_REG ? &files : &others) += 1;
    saw(files);
    saw(others);
    rewinddir(entries);
    int removed = 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        removed += entry->d_type == DT_REG && unlink(at(entry->d_name)) == 0;
    saw(removed);
    saw(closedir(entries));
    show_names(".");
}

static void times(void) {
    make("f");
    struct timespec set[2] = {{1000000000, 0}, {1100000000, 500}};
    struct stat is;
    saw(utimensat(AT_FDCWD, at("f"), set, 0));
    saw(stat(at("f"), &is));
    saw(is.st_mtim.tv_sec);
    saw(is.st_mtim.tv_nsec);
    int fd = opened(open(at("f"), O_WRONLY));
    set[1].tv_sec = 1200000000;
    set[0].tv_nsec = UTIME_OMIT;
    saw(futimens(fd, set));
    saw(fstat(fd, &is));
    saw(is.st_atim.tv_sec);
    saw(is.st_mtim.tv_sec);
    saw(write(fd, "x", 1));
    close(fd);
    saw(stat(at("f"), &is));
    saw(is.st_mtim.tv_sec > 1200000000);
}

static void links(void) {
    make("f");
    char target[64];
    saw(readlink(at("f"), target, sizeof target));
    saw(readlink(at("none"), target, sizeof target));
    saw(link(at("f"), at("hard")));
    saw(symlink("f", at("soft")));
    saw(access(at("hard"), F_OK));
    saw(access(at("soft"), F_OK));
}

static void names(void) {
    char long_name[257];
    memset(long_name, 'n', 256);
    long_name[256] = '\0';
    opened(open(at(long_name), O_WRONLY | O_CREAT, 0666));
    opened(open(at(long_name + 1), O_WRONLY | O_CREAT, 0666));
    saw(unlink(at(long_name + 1)));
    static const char *const odd[] = {"with space", "-", "*", "a:b", "back\\slash", "\xc3\xbc", "new\nline", "..."};
    for (size_t n = 0; n < sizeof odd / sizeof odd[0]; n++)
        make(odd[n]);
    for (size_t n = 0; n < sizeof odd / sizeof odd[0]; n++)
        saw(unlink(at(odd[n])));
}

static const struct {
    const char *name;
    void (*experiment)(void);
} experiments[] = {
    {"open what is missing", open_missing},
    {"open a folder", open_folder},
    {"read a folder", read_folder},
    {"open a file", open_file},
    {"an empty path", empty_path},
    {"modes of fopen", modes},
    {"the wrong direction", wrong_direction},
    {"append", append},
    {"append from now on", append_later},
    {"truncate", truncating},
    {"access", may},
    {"stat", stats},
    {"chdir", current_folder},
    {"openat and its kin", relative_to_handles},
    {"remove", removing},
    {"mkdir", making},
    {"rename", renaming},
    {"a slash behind", slash_behind},
    {"removed while open", removed_while_open},
    {"renamed while open", renamed_while_open},
    {"written while open", written_while_open},
    {"renamed folder while open", renamed_folder_while_open},
    {"removed folder while open", removed_folder_while_open},
    {"identity", identity},
    {"times that stay", times_that_stay},
    {"temporary file", temporary},
    {"positions", positions},
    {"vectors", vectors},
    {"buffers", buffers},
    {"readdir", listing},
    {"times", times},
    {"links", links},
    {"names", names},
};

bool observe(const char *root, struct text *report) {
    seen = report;
    for (size_t n = 0; n < sizeof experiments / sizeof experiments[0]; n++) {
        snprintf(folder, sizeof folder, "%s/%zu", root, n);
        say(report, "%s%s:", n == 0 ? "" : "\n", experiments[n].name);
        if (mkdir(folder, 0777) == 0 || errno == EEXIST)
            experiments[n].experiment();
        else
            say(report, " not done: %s", error_name());
    }
    return true;
}
