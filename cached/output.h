#ifndef MSCACHE_CACHED_OUTPUT_H
#define MSCACHE_CACHED_OUTPUT_H

#include "cached/frame.h"

/* Frames on their way to a socket that does not block. */
struct output {
    struct list frames;
    size_t bytes;   /* not yet sent */
    uint64_t since; /* when something was last sent, or the queue began, in ms of the caller's clock */
};

void output_init(struct output *o);
void output_done(struct output *o);

/* Takes a sealed frame. */
void output_add(struct output *o, struct frame *f, uint64_t now);

/* Send what the socket takes. 0 (also when it takes no more for now), or MSCACHE_EIO: the connection is lost. */
int output_flush(struct output *o, int fd, uint64_t now);

#endif
