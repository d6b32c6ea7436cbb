/* replay FILE|DIRECTORY...: run a fuzz target over files, as the fuzzer would. Says how many. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static int run_file(FILE *file)
{
    static uint8_t buffer[1 << 20];
    size_t n = fread(buffer, 1, sizeof buffer, file);
    uint8_t *bytes = malloc(n ? n : 1);

    if (!bytes || ferror(file))
        return 1;
    memcpy(bytes, buffer, n);
    LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
    return 0;
}

static int run_path(const char *path, long *files);

static int run_directory(DIR *dir, const char *path, long *files)
{
    struct dirent *entry;
    char name[PATH_MAX];
    int failed = 0;

    while (!failed && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed = run_path(name, files);
    }
    return failed;
}

static int run_path(const char *path, long *files)
{
    DIR *dir = opendir(path);
    FILE *file;
    int failed;

    if (dir) {
        failed = run_directory(dir, path, files);
        closedir(dir);
        return failed;
    }
    file = fopen(path, "rb");
    failed = !file || run_file(file);
    if (failed)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (file)
        fclose(file);
    *files += 1;
    return failed;
}

int main(int argc, char **argv)
{
    long files = 0;

    for (int i = 1; i < argc; i++)
        if (run_path(argv[i], &files))
            return 1;
    printf("%ld inputs\n", files);
    return files == 0;
}
