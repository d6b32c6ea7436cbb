#ifndef MSCACHE_CLIENT_POPULATE_H
#define MSCACHE_CLIENT_POPULATE_H

#include <stddef.h>

/* Bring the pages of a mapped file in, so that a file that is too short or a disk that fails is an error code
 * here and not a SIGBUS at the first touch. start is page-aligned. MSCACHE_EIO when a page cannot be read. */
int populate(const void *start, size_t n);

/* The same for kernels before Linux 5.14, which have no MADV_POPULATE_READ: the kernel itself reads a byte of
 * each page (process_vm_readv on this process). That needs no descriptor of the file, as pread would: with
 * one held for each segment a process would soon be at its limit. MSCACHE_EIO also where the system call is
 * forbidden. */
int populate_by_reading(const void *start, size_t n);

#endif
