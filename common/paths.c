#include "config.h"
#include "common/paths.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/error.h"

static const struct {
    unsigned long magic; /* statfs(2), f_type */
    const char *name;
} network_filesystems[] = {
    { 0x6969, "nfs" },       { 0xff534d42, "cifs" },      { 0xfe534d42, "smb2" },  { 0x517b, "smb" },
    { 0x65735546, "fuse" },  { 0x01021997, "9p" },        { 0x00c36400, "ceph" },  { 0x0bd00bd0, "lustre" },
    { 0x5346414f, "afs" },   { 0x6b414653, "afs" },       { 0x73757245, "coda" },  { 0x7461636f, "ocfs2" },
    { 0x01161970, "gfs2" },  { 0x47504653, "gpfs" },      { 0x19830326, "fhgfs" }, { 0xaad7aaea, "panfs" },
};

bool paths_on_network(const char *path, const char **ret_name)
{
    char dir[4096];
    struct statfs fs;

    snprintf(dir, sizeof dir, "%s", path);
    while (statfs(dir, &fs) < 0) {
        char *slash = strrchr(dir, '/');

        if (errno != ENOENT || !slash)
            return false;
        if (slash == dir && dir[1] == '\0')
            return false;
        slash[slash == dir] = '\0';
    }
    for (size_t i = 0; i < sizeof network_filesystems / sizeof *network_filesystems; i++)
        if ((unsigned long)fs.f_type == network_filesystems[i].magic) {
            *ret_name = network_filesystems[i].name;
            return true;
        }
    return false;
}

int paths_user_root(char *buf, size_t size)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *net;
    int n;

    if (!home || *home != '/') {
        const struct passwd *pw = getpwuid(geteuid());
        home = pw && pw->pw_dir[0] == '/' ? pw->pw_dir : NULL;
    }
    if (xdg && *xdg == '/')
        n = snprintf(buf, size, "%s/mscache", xdg);
    else if (home)
        n = snprintf(buf, size, "%s/.cache/mscache", home);
    else
        n = 0;
    if (n <= 0 || paths_on_network(buf, &net))
        n = snprintf(buf, size, "/var/tmp/mscache-%lu", (unsigned long)geteuid());
    return (size_t)n < size ? 0 : MSCACHE_ERANGE;
}

bool paths_dataset_ok(const char *name, char *why, size_t why_size)
{
    size_t n = strlen(name);

    if (n == 0)
        return snprintf(why, why_size, "the dataset name is empty: give one with --dataset NAME"), false;
    if (n > DATASET_NAME_MAX)
        return snprintf(why, why_size, "the dataset name has %zu bytes, at most %d are allowed", n,
                        DATASET_NAME_MAX), false;
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return snprintf(why, why_size, "the dataset name '%s' is a directory's: choose another", name), false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)name[i];

        if (c == '/')
            return snprintf(why, why_size, "the dataset name has a '/' at position %zu: it is a name, not a path",
                            i + 1), false;
        if (c < 0x20 || c == 0x7f)
            return snprintf(why, why_size, "the dataset name has a control character (\\x%02x) at position %zu",
                            c, i + 1), false;
    }
    return true;
}

/* Bytes of the UTF-8 sequence at s, 0 when it is not one (RFC 3629: no overlong forms, no surrogates). */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3
             : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

const char *paths_escape(const char *s, char *buf, size_t size)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t pos = 0;

    while (*p) {
        char piece[5];
        size_t n = utf8_length(p), used = n ? n : 1;

        if (n && *p >= 0x20 && *p != 0x7f && *p != '\\')
            memcpy(piece, p, n);
        else if (*p == '\n' || *p == '\t' || *p == '\\')
            n = (size_t)snprintf(piece, sizeof piece, "\\%c", *p == '\n' ? 'n' : *p == '\t' ? 't' : '\\');
        else
            n = (size_t)snprintf(piece, sizeof piece, "\\x%02x", *p);
        if (pos + n >= size)
            break;
        memcpy(buf + pos, piece, n);
        pos += n;
        p += used;
    }
    if (size)
        buf[pos] = '\0';
    return buf;
}
