#include "config.h"
#include "tests/runtime/util.h"

#include <sys/wait.h>

/* What children of fork() may do. A child reports by its exit code; one that hangs is ended by its alarm. */

/* A child of a program with busy threads may wait for ever for the locks of AddressSanitizer's allocator. */
#if defined __SANITIZE_ADDRESS__
#define ALLOCATOR_HANGS 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define ALLOCATOR_HANGS 1
#endif
#endif
#ifndef ALLOCATOR_HANGS
#define ALLOCATOR_HANGS 0
#endif

static int exit_code(pid_t pid)
{
    int status;

    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static pid_t child(void)
{
    pid_t pid = fork();

    if (pid == 0)
        alarm(60);
    return pid;
}

Test(forked, an_inherited_loader_says_so_and_can_be_closed)
{
    mscache_loader_options o = photo_options(SMALL);
    mscache_loader *l = must_open(NULL, &o);
    mscache_batch *held, *b;
    pid_t pid;

    cr_assert_eq(mscache_loader_next(l, &held), 0);
    pid = child();
    if (pid == 0) {
        int ok = mscache_loader_next(l, &b) == MSCACHE_EFORKED && *mscache_loader_error(l);

        mscache_batch_release(held);
        mscache_loader_close(l);
        _exit(ok ? 7 : 8);
    }
    cr_assert_eq(exit_code(pid), 7);
    mscache_batch_release(held);
    hash_epoch(l);
    mscache_loader_close(l);
}

Test(forked, a_child_of_a_busy_process_opens_a_loader_of_its_own)
{
    mscache_loader_options o = photo_options(EVERY_OPERATOR);
    mscache_loader *l;
    mscache_batch *b;
    struct key want;

    if (ALLOCATOR_HANGS)
        cr_skip_test("not with AddressSanitizer");
    l = must_open(NULL, &o);
    want = hash_epoch(l);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    mscache_batch_release(b);
    for (int i = 0; i < 10; i++) {
        pid_t pid = child(); /* while the parent's threads load and hold locks */

        if (pid == 0) {
            mscache_loader *own = NULL;
            int ok = mscache_loader_open(&own, NULL, &o, NULL, 0) == 0 && key_equal(hash_epoch(own), want);

            mscache_loader_close(own);
            mscache_loader_close(l);
            _exit(ok ? 7 : 8);
        }
        cr_assert_eq(exit_code(pid), 7);
    }
    mscache_loader_close(l);
}
