#include "config.h"
#include "pipeline/warp.h"

#include <math.h>
#include <string.h>

/* torchvision finds the map by least squares in single precision (torch.linalg.lstsq with the driver "gels"), and that
 * precision moves pixels. So this is the algorithm of LAPACK's sgels for a square matrix, Householder's QR without blocks,
 * each operation rounded to single precision in its order: the same coefficients as from the reference LAPACK. Other LAPACKs
 * add in another order, and end a few units in the last place away. */

enum { N = 8 };

/* Columns, as there. */
struct qr {
    float a[N][N], tau[N];
};

/* Euclidean length, of numbers whose squares neither overflow nor all vanish. */
static float length(const float *v, int n)
{
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrtf(sum);
}

/* sqrt(x^2 + y^2), as slapy2 does it. */
static float hypotenuse(float x, float y)
{
    float ax = fabsf(x), ay = fabsf(y), w = fmaxf(ax, ay), z = fminf(ax, ay);

    return z == 0 ? w : w * sqrtf(1 + (z / w) * (z / w));
}

/* A reflection that leaves only v[0] of v (slarfg): v becomes its new first value and the vector's rest. Returns tau. */
static float reflection(float *v, int n)
{
    float rest = n > 1 ? length(v + 1, n - 1) : 0, beta, scale, tau;

    if (rest == 0)
        return 0;
    beta = -copysignf(hypotenuse(v[0], rest), v[0]);
    tau = (beta - v[0]) / beta;
    scale = 1 / (v[0] - beta);
    for (int i = 1; i < n; i++)
        v[i] *= scale;
    v[0] = beta;
    return tau;
}

/* c = (1 - tau v v') c, where v[0] is taken as 1 (slarf). */
static void reflect(float *c, const float *v, int n, float tau)
{
    float sum = c[0];

    for (int i = 1; i < n; i++)
        sum += c[i] * v[i];
    sum *= -tau;
    c[0] += sum;
    for (int i = 1; i < n; i++)
        c[i] += v[i] * sum;
}

static void factor(struct qr *q)
{
    for (int i = 0; i < N; i++) {
        q->tau[i] = reflection(&q->a[i][i], N - i);
        for (int j = i + 1; j < N && q->tau[i] != 0; j++)
            reflect(&q->a[j][i], &q->a[i][i], N - i, q->tau[i]);
    }
}

/* b becomes the solution. */
static bool solve(const struct qr *q, float b[N])
{
    for (int i = 0; i < N; i++)
        if (q->tau[i] != 0)
            reflect(b + i, &q->a[i][i], N - i, q->tau[i]);
    for (int i = 0; i < N; i++)
        if (q->a[i][i] == 0)
            return false;
    for (int k = N - 1; k >= 0; k--) {
        b[k] /= q->a[k][k];
        for (int i = 0; i < k; i++)
            b[i] -= b[k] * q->a[k][i];
    }
    return true;
}

bool warp_perspective_map(const warp_corners start, const warp_corners end, double a[8])
{
    struct qr q;
    float b[N];

    for (int i = 0; i < 4; i++) {
        double x = end[i][0], y = end[i][1], u = start[i][0], v = start[i][1];
        const double rows[2][N] = { { x, y, 1, 0, 0, 0, -u * x, -u * y }, { 0, 0, 0, x, y, 1, -v * x, -v * y } };

        for (int j = 0; j < N; j++) {
            q.a[j][2 * i] = (float)rows[0][j];
            q.a[j][2 * i + 1] = (float)rows[1][j];
        }
        b[2 * i] = (float)u;
        b[2 * i + 1] = (float)v;
    }
    factor(&q);
    if (!solve(&q, b))
        return false;
    for (int i = 0; i < N; i++)
        a[i] = b[i];
    return true;
}
