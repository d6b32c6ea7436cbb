#include "config.h"
#include "runtime/options.h"

#include <criterion/criterion.h>
#include <string.h>

static char err[512];

static mscache_loader_options good(void)
{
    mscache_loader_options o;

    mscache_loader_options_init(&o);
    o.directory = "photos";
    o.pipeline = "decode";
    return o;
}

static void assert_refused(mscache_loader_options o, const char *part)
{
    mscache_loader_options got;

    cr_assert_eq(options_loader(&got, &o, err, sizeof err), MSCACHE_EINVAL);
    cr_assert(strstr(err, part), "\"%s\" lacks \"%s\"", err, part);
}

#define REFUSED(part, ...)                   \
    do {                                     \
        mscache_loader_options o = good();   \
        __VA_ARGS__;                         \
        assert_refused(o, part);             \
    } while (0)

Test(options, what_the_caller_forgot_is_named)
{
    REFUSED("directory or a list", o.directory = NULL);
    REFUSED("not both", o.paths = &o.directory; o.num_paths = 1);
    REFUSED("pipeline", o.pipeline = NULL);
    REFUSED("_init", o.size = 0);
}

Test(options, values_out_of_range_are_named)
{
    REFUSED("batch is 0", o.batch = 0);
    REFUSED("num_shards", o.num_shards = 0);
    REFUSED("shard is 2: it must be from 0 to 1", o.num_shards = 2; o.shard = 2);
    REFUSED("threads", o.threads = 5000);
    REFUSED("prefetch", o.prefetch = 0);
    REFUSED("on_error", o.on_error = (enum mscache_on_error)7);
    REFUSED("set shuffle, too", o.window_bytes = 1 << 20);
    REFUSED("alloc and free", o.alloc = (void *(*)(void *, size_t))1);
}

Test(options, a_bad_dataset_name_is_shown_escaped)
{
    REFUSED("a\\nb", o.dataset = "a\nb");
    REFUSED("a/b", o.dataset = "a/b");
    REFUSED("dataset name \"\"", o.dataset = "");
}

Test(options, a_caller_with_an_older_header_gets_defaults_for_what_it_lacks)
{
    mscache_loader_options o = good(), got;

    o.size = offsetof(mscache_loader_options, batch);
    o.batch = 0;
    o.prefetch = 0;
    cr_assert_eq(options_loader(&got, &o, err, sizeof err), 0);
    cr_assert_eq(got.batch, 1);
    cr_assert_eq(got.prefetch, 2);
}

Test(options, a_caller_with_a_newer_header_may_only_leave_the_new_part_zero)
{
    struct {
        mscache_loader_options o;
        uint64_t more;
    } newer = { good(), 0 };
    mscache_loader_options got;

    newer.o.size = sizeof newer;
    cr_assert_eq(options_loader(&got, &newer.o, err, sizeof err), 0);
    newer.more = 1;
    cr_assert_eq(options_loader(&got, &newer.o, err, sizeof err), MSCACHE_EINVAL);
}

Test(options, there_is_at_least_one_thread)
{
    cr_assert_geq(options_threads(), 1);
}
