#include "config.h"
#include "runtime/window.h"

#include "common/record.h"

/* What most of ImageNet's photographs measure. */
#define TYPICAL_WIDTH 500
#define TYPICAL_HEIGHT 375

uint64_t window_sample_bytes(const struct plan *p)
{
    size_t bytes = plan_prefix_bytes(p, TYPICAL_WIDTH, TYPICAL_HEIGHT);

    return record_span(bytes < RECORD_PAYLOAD_MAX ? (uint32_t)bytes : RECORD_PAYLOAD_MAX);
}

struct order_window window_of(const struct plan *p, uint64_t n, uint64_t bytes)
{
    return bytes ? order_window(n, bytes, window_sample_bytes(p)) : (struct order_window){ 0, 0 };
}
