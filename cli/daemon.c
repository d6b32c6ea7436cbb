#include "config.h"
#include "cli/rows.h"

#include <string.h>

#include "cli/say.h"
#include "common/error.h"
#include "common/paths.h"
#include "common/units.h"

/* Commands that ask the daemon for something about the whole store: verify, repair, ping, stop. */

static void print_verified(const struct rows *rows, uint64_t damaged)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct wire_row *r = &rows->v[i];
        char name[1100], hex[KEY_HEX_SIZE];

        key_hex(r->hash, hex);
        printf("%s %.8s: %llu damaged\n", paths_escape(r->dataset.s, name, sizeof name), hex,
               (unsigned long long)r->damaged);
    }
    printf("%llu records compared, %llu damaged%s\n", (unsigned long long)rows->end.bytes,
           (unsigned long long)damaged, damaged ? " and forgotten: their samples will be decoded again" : "");
}

int verify_run(const struct options *o)
{
    struct rows rows;
    uint64_t damaged = 0;
    int rc = rows_get(o, WIRE_VERIFY, &rows);

    for (size_t i = 0; i < rows.n; i++)
        damaged += rows.v[i].damaged;
    if (!rc && o->json) {
        json_t *json = rows_json(&rows);

        say_number(json, "records", rows.end.bytes);
        say_number(json, "damaged", damaged);
        rc = say_json(json, EXIT_DONE);
    } else if (!rc) {
        print_verified(&rows, damaged);
    }
    rows_done(&rows);
    return rc ? rc : damaged ? EXIT_DAMAGE : EXIT_DONE;
}

int repair_run(const struct options *o)
{
    struct rows rows;
    int rc = rows_get(o, WIRE_REPAIR, &rows);
    uint64_t records = rows.end.bytes;

    rows_done(&rows);
    if (rc)
        return rc;
    if (o->json) {
        json_t *json = json_object();

        say_number(json, "records", records);
        return say_json(json, EXIT_DONE);
    }
    printf("the index was rebuilt: %llu records\n", (unsigned long long)records);
    return EXIT_DONE;
}

/* A connection to a daemon that runs already. */
static int running(const struct options *o, struct client **ret)
{
    struct place place;
    int rc = place_find(o, &place);

    if (rc)
        return rc;
    if (place_is_empty(&place))
        return say_failed(MSCACHE_ENODAEMON, "no daemon: there is no store at %s", place_name(&place));
    return place_connect(&place, false, ret);
}

static json_t *pong_json(const struct admin_pong *p)
{
    json_t *json = json_object();

    say_number(json, "pid", p->pid);
    say_number(json, "uptime", p->uptime);
    say_number(json, "sessions", p->sessions);
    say_number(json, "size_bytes", p->size_bytes);
    say_number(json, "budget", p->budget);
    json_object_set_new(json, "program", say_name(p->program));
    json_object_set_new(json, "root", say_name(p->root));
    return json;
}

static void print_pong(const struct admin_pong *p)
{
    char root[4200], up[32], bytes[32], budget[32];

    printf("%s, process %u, up %s, %llu session%s; %s: %s of %s\n", p->program, (unsigned)p->pid,
           units_duration(p->uptime, up, sizeof up), (unsigned long long)p->sessions,
           p->sessions == 1 ? "" : "s", paths_escape(p->root, root, sizeof root),
           units_size(p->size_bytes, bytes, sizeof bytes), units_size(p->budget, budget, sizeof budget));
}

int ping_run(const struct options *o)
{
    struct client *c;
    struct admin_pong pong;
    char err[1024] = "";
    int rc = running(o, &c);

    if (rc)
        return rc;
    rc = admin_ping(c, &pong, err, sizeof err);
    client_free(c);
    if (rc < 0)
        return say_failed(rc, "%s", *err ? err : mscache_strerror(rc));
    if (o->json)
        return say_json(pong_json(&pong), EXIT_DONE);
    print_pong(&pong);
    return EXIT_DONE;
}

int stop_run(const struct options *o)
{
    struct client *c;
    struct admin_pong pong = { 0 };
    char err[1024] = "";
    int rc = running(o, &c);

    if (rc)
        return rc;
    rc = admin_ping(c, &pong, err, sizeof err);
    if (rc == 0)
        rc = admin_stop(c, err, sizeof err);
    client_free(c);
    if (rc < 0)
        return say_failed(rc, "%s", *err ? err : mscache_strerror(rc));
    if (o->json) {
        json_t *json = json_object();

        say_number(json, "stopped", pong.pid);
        return say_json(json, EXIT_DONE);
    }
    printf("process %u stopped\n", (unsigned)pong.pid);
    return EXIT_DONE;
}
