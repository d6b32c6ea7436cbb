#include "config.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/options.h"
#include "cli/say.h"
#include "common/error.h" /* before mscache.h, which leaves the list to it */
#include "client/mscache.h"

/* Output that could not be written must not look like success. */
static int finish(int code)
{
    if (fflush(stdout) == EOF || ferror(stdout)) {
        perror("mscache: the output cannot be written");
        return code ? code : EXIT_FAILED;
    }
    return code;
}

int main(int argc, char **argv)
{
    struct options o;
    char err[512];
    int rc;

    setlocale(LC_CTYPE, "");
    rc = options_parse(argc, argv, &o, err, sizeof err);
    if (rc < 0 && argc == 1) {
        options_help(stderr, NULL);
        return EXIT_USAGE;
    }
    if (rc < 0)
        return say_usage(o.command, "%s", err);
    if (o.help) {
        options_help(stdout, o.command);
        return finish(EXIT_DONE);
    }
    if (o.version) {
        printf("mscache %s\n", mscache_version());
        return finish(EXIT_DONE);
    }
    return finish(o.command->run(&o));
}
