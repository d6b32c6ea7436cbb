#include "config.h"
#include "cli/say.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/paths.h"

int say_code(int err)
{
    switch (err) {
    case 0: return EXIT_DONE;
    case MSCACHE_ESYNTAX: case MSCACHE_ERANGE: case MSCACHE_EINVAL: return EXIT_USAGE;
    case MSCACHE_ENODAEMON: case MSCACHE_EVERSION: case MSCACHE_ETIMEOUT: return EXIT_NO_DAEMON;
    case MSCACHE_EACCESS: case MSCACHE_EOWNER: return EXIT_PERMISSION;
    case MSCACHE_EDAMAGED: return EXIT_DAMAGE;
    default: return EXIT_FAILED;
    }
}

static void say(const char *format, va_list ap)
{
    fflush(stdout);
    fputs("mscache: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
}

int say_failed(int err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say(format, ap);
    va_end(ap);
    return say_code(err);
}

int say_usage(const struct command *command, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say(format, ap);
    va_end(ap);
    fprintf(stderr, "`mscache %s%s--help` tells how.\n", command ? command->name : "", command ? " " : "");
    return EXIT_USAGE;
}

json_t *say_name(const char *name)
{
    size_t size;
    char *text;
    json_t *json;

    if (!name)
        return json_null();
    size = 4 * strlen(name) + 1;
    text = malloc(size);
    json = text ? json_string(paths_escape(name, text, size)) : NULL;
    free(text);
    return json;
}

json_t *say_text(const char *text)
{
    json_t *json = json_string(text);

    return json ? json : say_name(text);
}

int say_json(json_t *json, int code)
{
    return say_json_to(stdout, json, code);
}

int say_json_to(FILE *out, json_t *json, int code)
{
    char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;

    json_decref(json);
    if (!text)
        return say_failed(MSCACHE_ENOMEM, "out of memory");
    fprintf(out, "%s\n", text);
    free(text);
    return code;
}

void say_number(json_t *object, const char *name, uint64_t v)
{
    json_object_set_new(object, name, json_integer((json_int_t)v));
}

void say_real(json_t *object, const char *name, double v)
{
    json_object_set_new(object, name, isfinite(v) ? json_real(round(v * 1000) / 1000) : json_null());
}
