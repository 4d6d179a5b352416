/* The editing jobs. `edit.rs` of the Rust editor does the same ones, step by step. */
#define _GNU_SOURCE
#include "editor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* `return false` with errno as the call left it. */
#define TRY(call)         \
    do {                  \
        if (!(call))      \
            return false; \
    } while (0)

/* A path below the root. Valid until it was called eight more times: no statement here uses more than three. */
static const char *root_folder;

static const char *in(const char *path) {
    static char paths[8][4096];
    static unsigned next;
    char *full = paths[next++ % 8];
    snprintf(full, sizeof paths[0], "%s/%s", root_folder, path);
    return full;
}

static char *below(const char *folder, const char *name) {
    struct text path = {0};
    say(&path, "%s/%s", folder, name);
    return path.chars;
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* The whole file, with a NUL behind it. */
static char *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) != 0)
        return NULL;
    long size = ftell(file);
    if (size < 0)
        return NULL;
    rewind(file);
    char *bytes = malloc((size_t)size + 1);
    if (bytes == NULL)
        abort();
    *len = fread(bytes, 1, (size_t)size, file);
    bytes[*len] = '\0';
    bool whole = *len == (size_t)size && !ferror(file);
    fclose(file);
    return whole ? bytes : NULL;
}

static bool write_file(const char *path, const char *mode, const char *text) {
    FILE *file = fopen(path, mode);
    TRY(file != NULL);
    bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

static char *replaced(const char *text, const char *old, const char *new) {
    struct text result = {0};
    say(&result, "%s", "");
    for (const char *found; (found = strstr(text, old)) != NULL; text = found + strlen(old))
        say(&result, "%.*s%s", (int)(found - text), text, new);
    say(&result, "%s", text);
    return result.chars;
}

static bool replace_in(const char *path, const char *old, const char *new, const char *to) {
    size_t len;
    char *text = read_file(path, &len);
    TRY(text != NULL);
    return write_file(to, "w", replaced(text, old, new));
}

/* Every `.txt` below the folder, whether or not it has the word: one that has not is written back as it was. */
static bool replace_word(const char *folder) {
    DIR *entries = opendir(folder);
    TRY(entries != NULL);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (is_dots(entry->d_name))
            continue;
        char *path = below(folder, entry->d_name);
        struct stat is;
        TRY(stat(path, &is) == 0);
        const char *extension = strrchr(entry->d_name, '.');
        if (S_ISDIR(is.st_mode))
            TRY(replace_word(path));
        else if (extension != NULL && strcmp(extension, ".txt") == 0)
            TRY(replace_in(path, "colour", "color", path));
        free(path);
    }
    return closedir(entries) == 0;
}

static bool replace_words(void) { return replace_word(in("notes")); }

static bool append_to_log(void) {
    for (int n = 0; n < 2; n++) {
        FILE *log = fopen(in("log/edits.log"), "a");
        TRY(log != NULL);
        TRY(fprintf(log, "%s\n", n == 0 ? "first" : "second") > 0);
        TRY(fclose(log) == 0);
    }
    return true;
}

/* The script can be executed, and an edit in place keeps it so. */
static bool append_to_script(void) { return write_file(in("run.sh"), "a", "echo done\n"); }

/* A folder with those that it is in, as `mkdir -p` makes it. */
static bool make_folders(const char *path) {
    char *full = strdup(path);
    for (char *slash = full + strlen(root_folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        TRY(mkdir(full, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    TRY(mkdir(full, 0777) == 0 || errno == EEXIST);
    free(full);
    return true;
}

static bool create_tree(void) {
    TRY(make_folders(in("made/deep/tree")));
    TRY(make_folders(in("made/deep/tree")));
    TRY(mkdir(in("made/empty"), 0777) == 0);
    FILE *file = fopen(in("made/deep/tree/new.txt"), "w");
    TRY(file != NULL);
    for (int n = 0; n < 2000; n++)
        TRY(fprintf(file, "line %d\n", n) > 0);
    return fclose(file) == 0;
}

static bool rename_file(void) { return rename(in("docs/draft.txt"), in("docs/final.txt")) == 0; }

/* A file below is edited under its new name, and nothing is left under the old one. */
static bool rename_folder(void) {
    TRY(rename(in("lib"), in("library")) == 0);
    if (access(in("lib/one.txt"), F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return write_file(in("library/in/two.txt"), "a", "edited after the move\n");
}

static bool move_file(void) {
    TRY(make_folders(in("archive/2026")));
    return rename(in("inbox/mail.txt"), in("archive/2026/mail.txt")) == 0;
}

static bool remove_file(void) { return remove(in("trash.txt")) == 0; }

/* Entries go while the folder is listed. */
static bool remove_folder(const char *folder) {
    DIR *entries = opendir(folder);
    TRY(entries != NULL);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (is_dots(entry->d_name))
            continue;
        char *path = below(folder, entry->d_name);
        TRY(entry->d_type == DT_DIR ? remove_folder(path) : unlink(path) == 0);
        free(path);
    }
    TRY(closedir(entries) == 0);
    return rmdir(folder) == 0;
}

static bool remove_tree(void) { return remove_folder(in("build")); }

static bool copy_file(void) {
    FILE *from = fopen(in("README.md"), "rb"), *to = fopen(in("README.copy.md"), "wb");
    TRY(from != NULL && to != NULL);
    char bytes[16];
    for (size_t len; (len = fread(bytes, 1, sizeof bytes, from)) > 0;)
        TRY(fwrite(bytes, 1, len, to) == len);
    TRY(!ferror(from));
    return fclose(from) == 0 && fclose(to) == 0;
}

static bool set_length(const char *path, off_t len) {
    FILE *file = fopen(path, "r+");
    TRY(file != NULL);
    TRY(ftruncate(fileno(file), len) == 0);
    return fclose(file) == 0;
}

static bool set_lengths(void) { return set_length(in("data/short.bin"), 10) && set_length(in("data/long.bin"), 100); }

/* In the middle, at the end and past the end, through one stream that reads and writes. */
static bool overwrite(void) {
    FILE *file = fopen(in("data/record.bin"), "r+");
    TRY(file != NULL);
    TRY(fseek(file, 10, SEEK_SET) == 0 && fputs("0123", file) >= 0);
    TRY(fseek(file, 0, SEEK_CUR) == 0);
    char rest[64];
    size_t len = fread(rest, 1, sizeof rest, file);
    TRY(len >= 3 && fseek(file, 0, SEEK_SET) == 0);
    TRY(fprintf(file, "%c%c%c", rest[len - 1], rest[len - 2], rest[len - 3]) == 3);
    TRY(fseek(file, 0, SEEK_END) == 0 && fseek(file, 5, SEEK_CUR) == 0 && fputc('!', file) == '!');
    TRY(fclose(file) == 0);
    FILE *big = fopen(in("data/big.bin"), "r+");
    TRY(big != NULL);
    TRY(fseek(big, 150000, SEEK_SET) == 0);
    for (int n = 0; n < 1000; n++)
        TRY(fputc(0xff, big) == 0xff);
    TRY(fseek(big, -1, SEEK_END) == 0 && fputs("tail", big) >= 0);
    return fclose(big) == 0;
}

/* As editors do: the new contents beside the old ones, then one rename. */
static bool save_atomically(void) {
    size_t len;
    char *text = read_file(in("settings.toml"), &len);
    TRY(text != NULL);
    char *new = replaced(text, "debug = true", "debug = false");
    int beside = open(in(".settings.toml.tmp"), O_WRONLY | O_CREAT | O_EXCL, 0666);
    TRY(beside >= 0);
    TRY(write(beside, new, strlen(new)) == (ssize_t)strlen(new));
    TRY(fsync(beside) == 0 && close(beside) == 0);
    return rename(in(".settings.toml.tmp"), in("settings.toml")) == 0;
}

static bool swap(void) {
    return rename(in("left.txt"), in("between")) == 0 && rename(in("right.txt"), in("left.txt")) == 0 &&
           rename(in("between"), in("right.txt")) == 0;
}

static bool replace(void) {
    TRY(unlink(in("replaced.txt")) == 0);
    if (fopen(in("replaced.txt"), "r") != NULL) {
        errno = EEXIST;
        return false;
    }
    return write_file(in("replaced.txt"), "w", "another file by the same name\n");
}

/* What is made and removed, moved and moved back, is no change. */
static bool leave_no_trace(void) {
    TRY(write_file(in("scratch.txt"), "w", "x"));
    TRY(rename(in("scratch.txt"), in("scratch-2.txt")) == 0 && remove(in("scratch-2.txt")) == 0);
    TRY(mkdir(in("scratch"), 0777) == 0 && rmdir(in("scratch")) == 0);
    return rename(in("there.txt"), in("away.txt")) == 0 && rename(in("away.txt"), in("there.txt")) == 0;
}

/* One line for each folder and each file below, in the form of `edit.rs`. */
static bool list(const char *folder, const char *prefix, char ***lines, size_t *count) {
    DIR *entries = opendir(folder);
    TRY(entries != NULL);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (is_dots(entry->d_name))
            continue;
        char *path = below(folder, entry->d_name);
        struct text name = {0}, line = {0};
        say(&name, "%s%s", prefix, entry->d_name);
        struct stat is;
        TRY(stat(path, &is) == 0);
        if (S_ISDIR(is.st_mode)) {
            struct text deeper = {0};
            say(&deeper, "%s/", name.chars);
            TRY(list(path, deeper.chars, lines, count));
            say(&line, "d %s", name.chars);
        } else {
            size_t len;
            char *bytes = read_file(path, &len);
            TRY(bytes != NULL);
            if (is.st_size != (off_t)len) {
                errno = EIO;
                return false;
            }
            uint64_t hash = 0xcbf29ce484222325;
            for (size_t n = 0; n < len; n++)
                hash = (hash ^ (uint8_t)bytes[n]) * 0x100000001b3;
            say(&line, "f %s %zu %016" PRIx64, name.chars, len, hash);
            free(bytes);
        }
        *lines = realloc(*lines, (*count + 1) * sizeof **lines);
        if (*lines == NULL)
            abort();
        (*lines)[(*count)++] = line.chars;
    }
    return closedir(entries) == 0;
}

static int by_bytes(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static const struct {
    const char *name;
    bool (*job)(void);
} jobs[] = {
    {"replace a word", replace_words},
    {"append to a log", append_to_log},
    {"append to a script", append_to_script},
    {"create a tree", create_tree},
    {"rename a file", rename_file},
    {"rename a folder", rename_folder},
    {"move a file", move_file},
    {"remove a file", remove_file},
    {"remove a tree", remove_tree},
    {"copy a file", copy_file},
    {"set lengths", set_lengths},
    {"overwrite a part", overwrite},
    {"save atomically", save_atomically},
    {"swap two files", swap},
    {"replace a file", replace},
    {"leave no trace", leave_no_trace},
};

bool edit(const char *root, struct text *report) {
    root_folder = root;
    for (size_t n = 0; n < sizeof jobs / sizeof jobs[0]; n++) {
        if (!jobs[n].job()) {
            say(report, "%s: %s", jobs[n].name, strerror(errno));
            return false;
        }
    }
    char **lines = NULL;
    size_t count = 0;
    if (!list(root, "", &lines, &count)) {
        say(report, "listing: %s", strerror(errno));
        return false;
    }
    qsort(lines, count, sizeof *lines, by_bytes);
    for (size_t n = 0; n < count; n++)
        say(report, "%s%s", n == 0 ? "" : "\n", lines[n]);
    return true;
}
