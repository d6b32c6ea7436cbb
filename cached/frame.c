#include "config.h"
#include "cached/frame.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"

struct frame *frame_new(unsigned type, uint32_t tag, size_t room)
{
    struct frame *f = malloc(sizeof *f + WIRE_HEAD_SIZE + room);

    if (!f)
        return NULL;
    *f = (struct frame){ .fd = -1, .type = (uint16_t)type, .tag = tag };
    f->body = cursor_over(f->bytes + WIRE_HEAD_SIZE, room);
    list_init(&f->link);
    return f;
}

int frame_seal(struct frame *f)
{
    struct cursor head = cursor_over(f->bytes, WIRE_HEAD_SIZE);

    f->size = WIRE_HEAD_SIZE + f->body.pos;
    if (f->body.bad || f->size > WIRE_FRAME_MAX)
        return MSCACHE_EPROTOCOL;
    put_head(&head, &(struct wire_head){ .size = (uint32_t)f->size, .type = f->type, .fds = f->fd >= 0,
                                         .tag = f->tag });
    return 0;
}

void frame_free(struct frame *f)
{
    if (f && f->fd >= 0)
        close(f->fd);
    free(f);
}
