/* A peer: records kept by memcached or redis, read over their Unix socket, 64 in a request, by a client written by hand
 * (reads payloads where they are wanted; faster than the usual client libraries), and normalised by the limit's loop.
 * server_peer memcached|redis SOCKET FILE SIDE stores FILE's records, checks what comes back, then answers:
 *   u8|f32 PASSES */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench/measure.h"
#include "bench/normalise.h"

enum { BATCH = 64, LINE = 256 };

struct server {
    int redis;
    int fd;
    const uint8_t *records;
    size_t record, pixels, n; /* bytes of a record, pixels, records */
    uint32_t *order;
    const struct normalise *loops;
    uint8_t *bytes; /* of one batch */
    float *floats;
    char buffer[1 << 16]; /* received, not used yet: at .. end */
    size_t at, end;
};

static void connect_to(struct server *s, const char *path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };

    if (strlen(path) >= sizeof a.sun_path)
        measure_die("server_peer: %s is too long", path);
    strcpy(a.sun_path, path);
    s->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&a, sizeof a) != 0)
        measure_die("server_peer: %s: %s", path, strerror(errno));
}

static void send_all(struct server *s, const void *data, size_t size)
{
    const char *p = data;

    while (size) {
        ssize_t n = write(s->fd, p, size);

        if (n <= 0)
            measure_die("server_peer: write: %s", strerror(errno));
        p += n;
        size -= (size_t)n;
    }
}

static size_t receive(struct server *s, void *data, size_t size)
{
    ssize_t n = read(s->fd, data, size);

    if (n <= 0)
        measure_die("server_peer: the server hung up");
    return (size_t)n;
}

static void fill(struct server *s)
{
    memmove(s->buffer, s->buffer + s->at, s->end - s->at);
    s->end -= s->at;
    s->at = 0;
    s->end += receive(s, s->buffer + s->end, sizeof s->buffer - s->end);
}

/* A line without its CR LF. */
static void get_line(struct server *s, char line[LINE])
{
    char *lf;

    while (!(lf = memchr(s->buffer + s->at, '\n', s->end - s->at)))
        fill(s);
    size_t n = (size_t)(lf - (s->buffer + s->at)) + 1;
    if (n < 2 || n >= LINE)
        measure_die("server_peer: a line of %zu bytes", n);
    memcpy(line, s->buffer + s->at, n - 2);
    line[n - 2] = '\0';
    s->at += n;
}

/* A payload and the CR LF after it; what is not in the buffer yet goes to its place without a copy. */
static void get_payload(struct server *s, uint8_t *dst, size_t size)
{
    size_t have = s->end - s->at < size ? s->end - s->at : size;

    memcpy(dst, s->buffer + s->at, have);
    s->at += have;
    while (have < size)
        have += receive(s, dst + have, size - have);
    while (s->end - s->at < 2)
        fill(s);
    s->at += 2;
}

static void expect(struct server *s, const char *want)
{
    char line[LINE];

    get_line(s, line);
    if (strcmp(line, want) != 0)
        measure_die("server_peer: %s instead of %s", line, want);
}

static void store(struct server *s, size_t i)
{
    char head[LINE];
    const char *format = s->redis ? "*3\r\n$3\r\nSET\r\n$8\r\nk%07zu\r\n$%zu\r\n" : "set k%07zu 0 0 %zu\r\n";

    send_all(s, head, (size_t)snprintf(head, sizeof head, format, i, s->record));
    send_all(s, s->records + i * s->record, s->record);
    send_all(s, "\r\n", 2);
    expect(s, s->redis ? "+OK" : "STORED");
}

static void ask(struct server *s, size_t from, size_t n)
{
    char request[BATCH * 24 + 64];
    size_t at = (size_t)(s->redis ? sprintf(request, "*%zu\r\n$4\r\nMGET\r\n", n + 1) : sprintf(request, "get"));

    for (size_t i = from; i < from + n; i++)
        at += (size_t)sprintf(request + at, s->redis ? "$8\r\nk%07u\r\n" : " k%07u", s->order[i]);
    if (!s->redis)
        at += (size_t)sprintf(request + at, "\r\n");
    send_all(s, request, at);
}

static void get_batch(struct server *s, size_t from, size_t n)
{
    char line[LINE];
    size_t size;

    ask(s, from, n);
    if (s->redis)
        get_line(s, line);
    for (size_t i = 0; i < n; i++) {
        get_line(s, line);
        if (sscanf(line, s->redis ? "$%zu" : "VALUE %*s %*u %zu", &size) != 1 || size != s->record)
            measure_die("server_peer: %s instead of a record", line);
        get_payload(s, s->bytes + i * s->record, size);
    }
    if (!s->redis)
        expect(s, "END");
}

static void pass(struct server *s, int floats, int check)
{
    for (size_t b = 0; b < s->n; b += BATCH) {
        size_t n = s->n - b < BATCH ? s->n - b : BATCH;

        get_batch(s, b, n);
        for (size_t i = 0; i < n && check; i++)
            if (memcmp(s->bytes + i * s->record, s->records + s->order[b + i] * s->record, s->record) != 0)
                measure_die("server_peer: wrong bytes");
        for (size_t i = 0; i < n && floats; i++)
            s->loops->f32(s->floats + i * s->record, s->bytes + i * s->record, s->pixels);
    }
}

static void answer(void *arg, const char *request)
{
    struct server *s = arg;
    double begun = measure_now();
    char type[8];
    int passes;

    if (sscanf(request, "%7s %d", type, &passes) != 2)
        measure_die("server_peer: %s?", request);
    for (int i = 0; i < passes; i++)
        pass(s, !strcmp(type, "f32"), 0);
    /* the CPU of client and server together is not known here: 0 */
    printf("{\"samples\": %zu, \"seconds\": %.6f, \"cpu\": 0}", s->n * (size_t)passes, measure_now() - begun);
}

int main(int argc, char **argv)
{
    static struct server s;
    size_t bytes;

    if (argc != 5)
        measure_die("usage: server_peer memcached|redis SOCKET FILE SIDE");
    s.redis = !strcmp(argv[1], "redis");
    s.pixels = (size_t)atoi(argv[4]) * (size_t)atoi(argv[4]);
    s.record = s.pixels * 3;
    s.records = measure_map(argv[3], &bytes, 1);
    s.n = s.record ? bytes / s.record : 0;
    s.order = measure_order(s.n, 5);
    s.bytes = measure_memory(BATCH * s.record + 1);
    s.floats = measure_memory(BATCH * s.record * sizeof *s.floats + 1);
    s.loops = normalise_best();
    connect_to(&s, argv[2]);
    for (size_t i = 0; i < s.n; i++)
        store(&s, i);
    pass(&s, 0, 1);
    measure_serve(answer, &s);
    return 0;
}
