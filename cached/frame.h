#ifndef MSCACHE_CACHED_FRAME_H
#define MSCACHE_CACHED_FRAME_H

#include "cached/list.h"
#include "common/wire.h"

/* One message on its way out. */
struct frame {
    struct list link;
    int fd; /* goes along with the first byte, then is closed; -1: none */
    uint16_t type;
    uint32_t tag;
    size_t size, sent;
    struct cursor body; /* to be written with put_x */
    unsigned char bytes[];
};

/* A frame with room for a body of so many bytes; NULL when memory is out. */
struct frame *frame_new(unsigned type, uint32_t tag, size_t room);

/* The body is complete: fill the head in. MSCACHE_EPROTOCOL when it did not fit. */
int frame_seal(struct frame *f);

void frame_free(struct frame *f); /* NULL is fine; closes fd */

#endif
