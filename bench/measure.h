#ifndef MSCACHE_BENCH_MEASURE_H
#define MSCACHE_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* What the programs of this folder share. Each sets itself up from its arguments, says so with a line {"ready": true},
 * and then answers each line on standard input with one line of JSON, so that bench/run can take turns between programs
 * whose set-up is paid for once. What fails ends the program with a message. */

_Noreturn void measure_die(const char *what, ...) __attribute__((format(printf, 1, 2)));

/* Seconds: of a clock that never goes back; of CPU used by all threads of this process so far. */
double measure_now(void);
double measure_cpu(void);

/* Numbers 0 ... n-1 in a random order, the same for the same seed. The caller frees. */
uint32_t *measure_order(size_t n, uint64_t seed);

/* Memory of at least `bytes` whole pages, each touched. Never given back. */
void *measure_memory(size_t bytes);

/* A file's bytes, mapped read-only; with `load`, all pages are mapped before it returns. Unmapped by munmap. */
const uint8_t *measure_map(const char *file, size_t *ret_bytes, int load);

/* Run work(arg, 0, n) ... work(arg, n - 1, n), each in its thread. Seconds from the first that begins to the last that
 * ends, stamped by the threads themselves after a barrier. */
typedef void (*measure_work)(void *arg, int thread, int threads);
double measure_threads(measure_work work, void *arg, int threads);

/* Say that the program is ready, and answer requests until standard input ends. An answer prints JSON without the
 * newline. */
void measure_serve(void (*answer)(void *arg, const char *request), void *arg);

#endif
