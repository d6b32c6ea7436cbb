#include "config.h"
#include "client/socket.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/error.h"
#include "common/paths.h"

static char tmp[] = "/tmp/mscache-test-XXXXXX";
static char err[1024];

static void begin(void)
{
    unsetenv("MSCACHE_SOCKET");
    unsetenv("MSCACHE_PATH");
    cr_assert(mkdtemp(tmp));
}

static void end(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", tmp);
    cr_assert_eq(system(command), 0);
}

TestSuite(socket, .init = begin, .fini = end);

static struct where find(const struct client_options *o)
{
    struct where w;

    cr_assert_eq(where_find(&w, o, err, sizeof err), 0, "%s", err);
    return w;
}

Test(socket, options_come_before_the_environment)
{
    struct where w;

    setenv("MSCACHE_SOCKET", "/env/socket", 1);
    setenv("MSCACHE_PATH", "/env/root", 1);
    w = find(&(struct client_options){ .socket = "/a/b/c.sock", .root = "/d" });
    cr_assert_str_eq(w.dir, "/a/b");
    cr_assert_str_eq(w.name, "c.sock");
    cr_assert_not(w.root);
    w = find(&(struct client_options){ .root = "/d/", .start = true });
    cr_assert_str_eq(w.dir, "/d");
    cr_assert_str_eq(w.name, ROOT_SOCKET);
    cr_assert(w.root && w.start);
    w = find(&(struct client_options){ .start = true });
    cr_assert_str_eq(w.dir, "/env");
    cr_assert_str_eq(w.name, "socket");
    cr_assert_not(w.start, "nothing is known of the root behind a socket");
    unsetenv("MSCACHE_SOCKET");
    w = find(&(struct client_options){ .start = true });
    cr_assert_str_eq(w.dir, "/env/root");
}

Test(socket, without_settings_it_is_the_service_or_the_users_root)
{
    char root[4096];
    struct where w;

    setenv("XDG_CACHE_HOME", tmp, 1);
    w = find(&(struct client_options){ .start = true });
    if (access("/run/mscache", F_OK) == 0) {
        cr_assert_str_eq(w.dir, "/run/mscache");
        cr_assert_not(w.start);
    } else {
        cr_assert_eq(paths_user_root(root, sizeof root), 0);
        cr_assert_str_eq(w.dir, root);
        cr_assert(w.start);
    }
}

Test(socket, relative_paths_count_from_the_working_directory)
{
    char want[4096];
    struct where w;

    cr_assert_eq(chdir(tmp), 0);
    cr_assert(getcwd(want, sizeof want - 16));
    w = find(&(struct client_options){ .root = "store" });
    cr_assert_str_eq(w.dir, strcat(want, "/store"));
}

Test(socket, paths_that_cannot_be_are_refused_with_a_reason)
{
    char path[5000];
    struct where w;

    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    path[0] = '/';
    cr_assert_eq(where_find(&w, &(struct client_options){ .root = path }, err, sizeof err), MSCACHE_ERANGE);
    cr_assert(strstr(err, "too long"), "%s", err);
    path[200] = '\0';
    cr_assert_eq(where_find(&w, &(struct client_options){ .socket = path }, err, sizeof err), MSCACHE_ERANGE);
    cr_assert_eq(where_find(&w, &(struct client_options){ .socket = "/" }, err, sizeof err), MSCACHE_EINVAL);
}

/* A directory whose path is longer than any socket address. */
static void deep(char *path, size_t size)
{
    snprintf(path, size, "%s/%0100d/%0100d/%0100d", tmp, 1, 2, 3);
}

static int listen_in(const char *dir)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = ROOT_SOCKET };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    cr_assert_eq(chdir(dir), 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    cr_assert_eq(listen(fd, 5), 0);
    cr_assert_eq(chdir("/"), 0);
    return fd;
}

Test(socket, a_long_path_is_made_and_connected_to)
{
    struct fork_fd f;
    struct stat st;
    struct where w;
    char path[1024];
    int fd;

    deep(path, sizeof path);
    w = find(&(struct client_options){ .root = path });
    cr_assert_eq(socket_connect(&w, &f, err, sizeof err), MSCACHE_ENODAEMON);
    cr_assert_eq(where_make_root(&w, err, sizeof err), 0);
    cr_assert_eq(where_make_root(&w, err, sizeof err), 0, "one that is there is fine");
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0700);
    cr_assert_eq(socket_connect(&w, &f, err, sizeof err), MSCACHE_ENODAEMON);
    cr_assert(strstr(err, "no socket"), "%s", err);
    fd = listen_in(path);
    cr_assert_eq(socket_connect(&w, &f, err, sizeof err), 0, "%s", err);
    cr_assert(fcntl(f.fd, F_GETFD) & FD_CLOEXEC);
    cr_assert(fcntl(f.fd, F_GETFL) & O_NONBLOCK);
    fork_fd_close(&f);
    close(fd);
    cr_assert_eq(socket_connect(&w, &f, err, sizeof err), MSCACHE_ENODAEMON, "nobody listens any more");
}

Test(socket, a_root_of_another_user_is_refused)
{
    struct where w = find(&(struct client_options){ .root = tmp });
    struct fork_fd f;

    if (geteuid() != 0 || chown(tmp, 12345, (gid_t)-1) < 0)
        cr_skip_test("only root can give a directory away");
    cr_assert_eq(where_check_owner(&w, err, sizeof err), MSCACHE_EOWNER);
    cr_assert(strstr(err, "12345") && strstr(err, "MSCACHE_PATH"), "%s", err);
    cr_assert_eq(where_make_root(&w, err, sizeof err), MSCACHE_EOWNER);
    cr_assert_eq(socket_connect(&w, &f, err, sizeof err), MSCACHE_EOWNER);
}

Test(socket, a_root_that_cannot_be_made_says_which_directory)
{
    char path[64];
    struct where w;

    snprintf(path, sizeof path, "%s/file", tmp);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    strcat(path, "/store");
    w = find(&(struct client_options){ .root = path });
    cr_assert_neq(where_make_root(&w, err, sizeof err), 0);
    cr_assert(strstr(err, path), "%s", err);
}
