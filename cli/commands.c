#include "config.h"
#include "cli/command.h"

#include <string.h>

#include "cli/options.h"

#define BIT OPTION_BIT

const struct command commands[] = {
    { .name = "warm", .arguments = "DIR", .help = "Decode a dataset's images into the cache", .run = warm_run,
      .detail = "DIR holds one folder of images per class. Only the part of the pipeline before its cut point is run:\n"
                "that is what the cache stores. Images that are there already are not decoded again.",
      .min_args = 1, .max_args = 1, .requires = BIT(DATASET) | BIT(PIPELINE),
      .takes = BIT(DATASET) | BIT(PIPELINE) | BIT(THREADS) | BIT(BUDGET) },
    { .name = "list", .arguments = "", .help = "List the caches of the store", .run = list_run },
    { .name = "info", .arguments = "", .help = "Tell everything about caches", .run = info_run,
      .detail = "With --window it tells of the order that a loader has whose window_bytes are that size: how many samples are\n"
                "shuffled with each other, and how near that is to a full shuffle (1) for batches of --batch.",
      .takes = BIT(DATASET) | BIT(HASH) | BIT(WINDOW) | BIT(BATCH) },
    { .name = "clean", .arguments = "", .help = "Remove caches and give their space back", .run = clean_run,
      .detail = "Conditions combine: what goes fulfils all of them. --all, or --path DIR or --system without a condition,\n"
                "is every cache of that store. Nothing to clean is success.",
      .takes = BIT(DATASET) | BIT(HASH) | BIT(LARGER) | BIT(OLDER) | BIT(STALE) | BIT(ALL) | BIT(SYSTEM) | BIT(FORCE) |
               BIT(DRY_RUN) },
    { .name = "verify", .arguments = "", .help = "Compare every stored record with its checksum", .run = verify_run,
      .detail = "Damaged records are forgotten, so that they are decoded again. Exit code 5 when there were any.",
      .takes = BIT(DATASET) | BIT(HASH) },
    { .name = "repair", .arguments = "", .help = "Rebuild the store's index from its segments", .run = repair_run },
    { .name = "ops", .arguments = "[NAME]", .help = "Describe the operators of pipelines", .run = ops_run,
      .max_args = 1 },
    { .name = "probe", .arguments = "FILE...", .help = "Run a pipeline on single files, without cache or daemon",
      .run = probe_run, .min_args = 1, .max_args = -1, .takes = BIT(PIPELINE) | BIT(RAW) | BIT(SEED) | BIT(EPOCH) | BIT(SAMPLE),
      .detail = "Prints for each file the outcome (ok, ok-with-warning:KIND, error:KIND), the result's shape, type and XXH3-128, what\n"
                "the file holds, what each operator made of it and drew, and what can be done. Without --pipeline it is `decode`.\n"
                "Random operators draw as a training does with that seed in that epoch, for sample --sample, the files after the\n"
                "first for the numbers after it. `mscache preview --json` tells the numbers of a folder's files." },
    { .name = "preview", .arguments = "DIR", .help = "Make a picture of what augmented samples look like",
      .run = preview_run, .min_args = 1, .max_args = 1, .requires = BIT(PIPELINE) | BIT(OUTPUT),
      .takes = BIT(PIPELINE) | BIT(OUTPUT) | BIT(ROWS) | BIT(COLS) | BIT(SEED) | BIT(EPOCH),
      .detail = "DIR holds one folder of images per class; files are taken evenly from all of them. A row shows a file: what the\n"
                "cache stores of it, then what the training gets of it in one epoch after the other. Where the pipeline draws\n"
                "nothing, each cell is another file. Neither cache nor daemon is used." },
    { .name = "bench", .arguments = "DIR", .help = "Measure loading without cache, while filling it, and from it",
      .run = bench_run, .min_args = 1, .max_args = 1, .requires = BIT(DATASET) | BIT(PIPELINE),
      .takes = BIT(DATASET) | BIT(PIPELINE) | BIT(THREADS) | BIT(BUDGET) | BIT(BATCH) | BIT(WINDOW) | BIT(REPEAT) |
               BIT(SECONDS),
      .detail = "Each phase runs in a process of its own. A cache that has samples already is left alone: filling is then\n"
                "measured in a scratch cache that is removed at the end." },
    { .name = "ping", .arguments = "", .help = "Ask whether the daemon is alive", .run = ping_run },
    { .name = "stop", .arguments = "", .help = "Stop the daemon; what it stored stays", .run = stop_run },
    { .name = NULL },
};

const struct command *command_find(const char *name)
{
    for (const struct command *c = commands; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}
