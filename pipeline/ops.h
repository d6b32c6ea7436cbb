#ifndef MSCACHE_PIPELINE_OPS_H
#define MSCACHE_PIPELINE_OPS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/dtype.h"

/* The one table of operators. A row stands next to its code in ops_*.c and carries everything that the parser, the
 * canonical text, the hash, `mscache ops`, the manual's check, bindings and tests need.
 * To add an operator: its row and functions in an ops_*.c, its name in OPS_MAP, its entry in mscache-pipeline(7). */
#define OPS_MAP(XX)            \
    XX(decode)                 \
    XX(cache)                  \
    XX(resize)                 \
    XX(center_crop)            \
    XX(crop)                   \
    XX(pad)                    \
    XX(five_crop)              \
    XX(ten_crop)               \
    XX(random_crop)            \
    XX(random_resized_crop)    \
    XX(random_horizontal_flip) \
    XX(random_vertical_flip)   \
    XX(random_rotation)        \
    XX(random_affine)          \
    XX(random_perspective)     \
    XX(gaussian_blur)          \
    XX(color_jitter)           \
    XX(grayscale)              \
    XX(random_grayscale)       \
    XX(random_invert)          \
    XX(random_posterize)       \
    XX(random_solarize)        \
    XX(random_adjust_sharpness)\
    XX(random_autocontrast)    \
    XX(random_equalize)        \
    XX(random_erasing)         \
    XX(trivial_augment_wide)   \
    XX(rand_augment)           \
    XX(auto_augment)           \
    XX(augmix)                 \
    XX(normalize)              \
    XX(to)                     \
    XX(mixup)                  \
    XX(cutmix)

#define OP_PARAMS_MAX 10 /* parameters of an operator, with the end mark */
#define OP_WORDS_MAX 10  /* words that a parameter can choose from, with the end mark */
#define OP_LIST_MAX 4    /* numbers in a list */
#define OP_EDGE_MAX 1000000 /* pixels of an edge that a parameter can ask for */

enum op_type {
    OP_INTEGER,
    OP_NUMBER,
    OP_NUMBERS, /* [a,b,...]; a single number is a list of one */
    OP_INTEGERS, /* the same of whole numbers */
    OP_RANGE,   /* low:high */
    OP_SPREAD,  /* low:high, or a single n that the operator makes a range of */
    OP_SIZE,    /* [height,width]; a single n is [n,n] */
    OP_EDGE,    /* [height,width], or a single n that means something else: the shorter edge */
    OP_WORD,
};

/* "a whole number", "low:high": what to write for a value of a type. */
const char *op_type_text(enum op_type type);

struct op_param {
    const char *name; /* NULL ends the list */
    enum op_type type;
    const char *dflt;                /* as text; NULL: must be given */
    double min, max;                 /* of each number */
    int count_min, count_max;        /* OP_NUMBERS, OP_INTEGERS: how many numbers */
    const char *words[OP_WORDS_MAX]; /* OP_WORD: what it can be; other types: words that can stand for a number, as in max_size=none */
    const char *help;
};

/* A parameter's value: n numbers; of OP_RANGE low and high, of OP_SIZE height and width. Of a word, whatever the type:
 * n is 0 and v[0] the word's place in the parameter's list. */
struct op_value {
    int n;
    double v[OP_LIST_MAX];
};

/* Of a parameter with one number for all channels, or one for each: that of a channel. */
static inline double op_value_of(const struct op_value *value, int channel)
{
    return value->v[value->n == 1 ? 0 : channel];
}

/* Does such a parameter, of this name, fit an image of so many channels? A word does. MSCACHE_ERANGE with a sentence. */
int op_check_channels(const struct op_value *value, const char *name, int channels, char *err, size_t err_size);

/* What goes from one operator to the next. A bit set in op.takes. */
enum op_data {
    OP_SAME = 0,        /* op.gives: what it took */
    OP_FILE = 1 << 0,   /* encoded bytes */
    OP_PIXELS = 1 << 1, /* image of 8 bits, or 16 where `decode` was asked for that */
    OP_VALUES = 1 << 2, /* normalised image */
    OP_TENSOR = 1 << 3, /* finished: element type and layout are settled */
};

/* "pixels". */
const char *op_data_text(enum op_data data);

/* Where lists and manuals put an operator. */
#define OP_GROUP_MAP(XX)                                   \
    XX(GEOMETRY, "Geometry: sizes, edges, warps, mirrors") \
    XX(READING,  "Reading and caching")                    \
    XX(CROPS,    "Crops")                                  \
    XX(COLOUR,   "Colour, sharpness, erasing")             \
    XX(POLICIES, "Augmentation policies")                  \
    XX(TENSORS,  "Tensors")                                \
    XX(BATCHES,  "Batches")

enum op_group {
#define XX(name, text) OP_##name,
    OP_GROUP_MAP(XX)
#undef XX
    OP_GROUPS
};

/* "Crops". */
const char *op_group_text(enum op_group group);

/* An image's form, on its way through the operators. */
struct op_shape {
    int width, height, channels;
    enum dtype dtype;
    int count;  /* images of this size that a sample has, one below the other in memory: 1, or 5 of five_crop */
    bool chw;
    bool erased; /* normalised, with parts that are erased at the end */
    bool fixed; /* width, height and channels are the same for all files */
    bool drawn; /* width and height are what a random operator makes them, known when it has run */
};

struct mix;
struct op;
struct run;

/* An operator with its parameters' values. */
struct op_step {
    const struct op *op;
    size_t at;         /* where its name stands in the text */
    int random_index;  /* random operators before it */
    struct op_value arg[OP_PARAMS_MAX];
};

struct op {
    const char *name;
    enum op_group group;
    int version; /* raised when the same text comes to mean other pixels: part of the hash */
    bool random; /* draws random numbers */
    bool cut;    /* is no step, only says where the cached part ends */
    bool crops;  /* makes several images of one */
    bool many;   /* works on samples of several images, too */
    bool late;   /* works behind random_erasing of normalised values, too */
    bool batch;  /* works on whole batches: has mix instead of run */
    bool colour; /* works on 8-bit grey or RGB images only */
    unsigned takes;
    enum op_data gives;
    struct op_param params[OP_PARAMS_MAX];

    /* Change s from the form of the input to that of the output. MSCACHE_ERANGE with err (a sentence without the
     * operator's name) where the operator does not fit. NULL: the form stays. */
    int (*shape)(const struct op_step *step, struct op_shape *s, char *err, size_t err_size);

    /* Do it to run's image (pipeline/run.h); `to` is what shape said. 0, or an error of decode.h or MSCACHE_ENOMEM. */
    int (*run)(struct run *run, const struct op_step *step, const struct op_shape *to);

    /* Mix the samples of a batch (pipeline/mix.h). */
    void (*mix)(struct mix *mix, const struct op_step *step);

    const char *help;        /* one line */
    const char *example;     /* a whole pipeline */
    const char *torchvision; /* what does the same there */
};

#define XX(name) extern const struct op op_##name;
OPS_MAP(XX)
#undef XX

extern const struct op *const ops[];
extern const size_t n_ops;

/* By its name of n bytes; NULL when there is none. */
const struct op *op_find(const char *name, size_t n);

/* The operator that the user probably meant, also from a torchvision name; NULL when nothing is near. */
const struct op *op_suggest(const char *name, size_t n);

/* Canonical text of a value. Returns the bytes it has, as snprintf does. */
int op_value_text(const struct op_param *param, const struct op_value *value, char *buf, size_t size);

/* Canonical text of a step: "resize(size=256, interpolation=bilinear)". Returns as snprintf. */
int op_step_text(const struct op_step *step, char *buf, size_t size);

/* "resize(size, interpolation=bilinear)". Returns buf. */
const char *op_signature(const struct op *op, char *buf, size_t size);

#endif
