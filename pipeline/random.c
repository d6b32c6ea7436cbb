#include "config.h"
#include "pipeline/random.h"

#include <math.h>
#include <string.h>

#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u
#define PHILOX_ROUNDS 10

#define LN2 0.69314718055994530942

void random_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret[4])
{
    uint32_t c[4], k0 = key[0], k1 = key[1];

    memcpy(c, counter, sizeof c);
    for (int i = 0; i < PHILOX_ROUNDS; i++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c[0], p1 = (uint64_t)PHILOX_M1 * c[2];

        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    memcpy(ret, c, sizeof c);
}

void random_start(struct random *r, uint64_t seed, uint64_t epoch, uint64_t sample, unsigned op_index)
{
    *r = (struct random){
        /* word 0 counts blocks in its low 24 bits */
        .counter = { (uint32_t)op_index << 24, (uint32_t)epoch, (uint32_t)sample, (uint32_t)(sample >> 32) },
        .key = { (uint32_t)seed, (uint32_t)(seed >> 32) ^ (uint32_t)(epoch >> 32) },
    };
}

uint32_t random_u32(struct random *r)
{
    if (r->left == 0) {
        random_philox(r->counter, r->key, r->block);
        r->counter[0] = (r->counter[0] & 0xFF000000u) | ((r->counter[0] + 1) & 0x00FFFFFFu);
        r->left = 4;
    }
    return r->block[4 - r->left--];
}

double random_unit(struct random *r)
{
    uint64_t high = random_u32(r), low = random_u32(r);

    return (double)((high << 32 | low) >> 11) * 0x1p-53;
}

double random_between(struct random *r, double low, double high)
{
    return low + (high - low) * random_unit(r);
}

/* log x for finite x > 0: x = m * 2^e with m near 1, log m = 2 atanh((m - 1) / (m + 1)). */
static double log_series(double x)
{
    int e;
    double m = frexp(x, &e), s, square, sum = 0;

    if (m < 0.70710678118654752440) {
        m *= 2;
        e--;
    }
    s = (m - 1) / (m + 1);
    square = s * s;
    for (int n = 25; n >= 1; n -= 2)
        sum = sum * square + 1.0 / n;
    return e * LN2 + 2 * s * sum;
}

/* exp x for |x| < 700: x = k ln 2 + f, Taylor's series for f. */
static double exp_series(double x)
{
    double k = floor(x / LN2 + 0.5), f = x - k * LN2, sum = 1;

    for (int n = 18; n >= 1; n--)
        sum = 1 + sum * f / n;
    return ldexp(sum, (int)k);
}

double random_log_between(struct random *r, double low, double high)
{
    return exp_series(random_between(r, log_series(low), log_series(high)));
}

double random_normal(struct random *r)
{
    double x, y, square;

    do {
        x = random_between(r, -1, 1);
        y = random_between(r, -1, 1);
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * log_series(square) / square);
}

/* Of shape alpha >= 1. */
static double gamma_large(struct random *r, double alpha)
{
    double d = alpha - 1.0 / 3, c = 1 / sqrt(9 * d);

    for (;;) {
        double x = random_normal(r), v = 1 + c * x, u = 1 - random_unit(r);

        if (v <= 0)
            continue;
        v = v * v * v;
        if (log_series(u) < 0.5 * x * x + d - d * v + d * log_series(v))
            return d * v;
    }
}

double random_gamma(struct random *r, double alpha)
{
    double g, power;

    if (alpha >= 1)
        return gamma_large(r, alpha);
    g = gamma_large(r, alpha + 1);
    power = log_series(1 - random_unit(r)) / alpha;
    g *= power > -600 ? exp_series(power) : 0;
    return g > 1e-300 ? g : 1e-300;
}

double random_beta(struct random *r, double a, double b)
{
    double x = random_gamma(r, a), y = random_gamma(r, b);

    return x / (x + y);
}

uint32_t random_below(struct random *r, uint32_t n)
{
    /* Lemire's method: the high word of a product, without those low words that would come once too often. */
    uint32_t refuse = -n % n;
    uint64_t product;

    do
        product = (uint64_t)random_u32(r) * n;
    while ((uint32_t)product < refuse);
    return (uint32_t)(product >> 32);
}
