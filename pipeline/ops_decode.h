#ifndef MSCACHE_PIPELINE_OPS_DECODE_H
#define MSCACHE_PIPELINE_OPS_DECODE_H

#include "decoders/decode.h"
#include "pipeline/ops.h"

/* The decoder's options that a `decode` step asks for. */
struct decode_options ops_decode_options(const struct op_step *step);

#endif
