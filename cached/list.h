#ifndef MSCACHE_CACHED_LIST_H
#define MSCACHE_CACHED_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A circular list through its members: a struct list is a head, or embedded in a member. A member is in one list at
 * most; list_del leaves it empty, so that taking it out twice is harmless. */
struct list {
    struct list *next, *prev;
};

#define LIST_ENTRY(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_add_tail(struct list *head, struct list *l)
{
    l->next = head;
    l->prev = head->prev;
    head->prev->next = l;
    head->prev = l;
}

static inline void list_del(struct list *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    list_init(l);
}

/* Move all members of `from` into the uninitialised head `to`. */
static inline void list_take(struct list *to, struct list *from)
{
    list_init(to);
    if (list_empty(from))
        return;
    to->next = from->next;
    to->prev = from->prev;
    to->next->prev = to->prev->next = to;
    list_init(from);
}

#endif
