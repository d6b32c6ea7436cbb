#ifndef MSCACHE_PIPELINE_OPS_DECODE_H
#define MSCACHE_PIPELINE_OPS_DECODE_H

#include "decoders/decode.h"
#include "pipeline/ops.h"

/* The decoder's limits that a `decode` step asks for. */
struct decode_limits ops_decode_limits(const struct op_step *step);

#endif
