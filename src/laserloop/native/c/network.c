/* The network: folded once per tick, then predicted and differentiated for every plan.

   sigma(z) = (z + sqrt(z^2 + SMOOTH)) / 2. Inner loops run over rows of fixed, padded length and add multiples of rows,
   so that they vectorise without reordering a sum. */

#define SMOOTH ((real)LASERLOOP_SMOOTHING)
#define BLUR 0.05 /* of z: the first step is long, and takes the mean slope of units this near to their kink */

static real narrow(double x) /* far beyond any temperature, and still a number for `real` */
{
    return (real)(x > 1e30 ? 1e30 : (x < -1e30 ? -1e30 : x));
}

/* out += sum weight_k matrix_k over the first `count` of `rows`, always eight at a time: the last ones are filled up
   with the first of them and no weight, which is cheaper than a loop of another length */
INLINE void add_rows(int size, int count, const int *rows, const real *weight, const real *matrix, real *restrict out)
{
    for (int k = 0; k < count; k += 8) {
        const real *m[8];
        real w[8];
        for (int r = 0; r < 8; ++r) {
            const int i = rows[k + r < count ? k + r : k];
            m[r] = matrix + (size_t)i * (size_t)size;
            w[r] = k + r < count ? weight[i] : (real)0;
        }
        const real *m0 = m[0], *m1 = m[1], *m2 = m[2], *m3 = m[3], *m4 = m[4], *m5 = m[5], *m6 = m[6], *m7 = m[7];
        const real w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4], w5 = w[5], w6 = w[6], w7 = w[7];
        for (int j = 0; j < size; ++j)
            out[j] = out[j] + w0 * m0[j] + w1 * m1[j] + w2 * m2[j] + w3 * m3[j] + w4 * m4[j] + w5 * m5[j] +
                     w6 * m6[j] + w7 * m7[j];
    }
}

static void add_wide(int count, const int *rows, const real *weight, const real *matrix, real *restrict out)
{
    add_rows(W, count, rows, weight, matrix, out);
}

static void rectify(real *restrict u)
{
    for (int j = 0; j < W; ++j)
        u[j] = (real)0.5 * (u[j] + ROOT(u[j] * u[j] + SMOOTH));
}

static void activate(real *restrict u, real *restrict slope)
{
    for (int j = 0; j < W; ++j) {
        const real root = ROOT(u[j] * u[j] + SMOOTH);
        u[j] = (real)0.5 * (u[j] + root);
        slope[j] = u[j] / root;
    }
}

static int pick(const real *u, real least, int *restrict rows)
{
    int count = 0;
    for (int k = 0; k < W; ++k) {
        rows[count] = k;
        count += u[k] > least;
    }
    return count;
}

/* sums of C_i u over the width, in LANES parts that are added up in a fixed order */
static void contract(const real *restrict C, const real *restrict u, double *restrict out, int stride)
{
    real part[N][LANES];
    memset(part, 0, sizeof part);
    for (int j = 0; j < W; j += LANES)
        for (int i = 0; i < N; ++i)
            for (int l = 0; l < LANES; ++l)
                part[i][l] += C[i * W + j + l] * u[j + l];
    for (int i = 0; i < N; ++i) {
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int l = 0; l < half; ++l)
                part[i][l] += part[i][l + half];
        out[i * stride] = (double)part[i][0];
    }
}

/* The network of one tick: a and [C | c]. */
static void fold(const network *net, const double *kinematics, const double *heat, forecast *f)
{
    int *rows = f->rows, count;
    for (int i = 0; i < 4 * N; ++i) {
        f->features[i] = narrow((kinematics[i] - net->way_mean[i]) * net->way_scale[i]);
        rows[i] = i;
    }
    memcpy(f->a, net->a, sizeof f->a);
    add_wide(4 * N, rows, f->features, net->K[0], f->a);
    for (int i = 0; i < F; ++i) {
        f->features[i] = narrow((heat[net->seen[i]] - net->heat_mean[i]) * net->heat_scale[i]);
        rows[i] = i;
    }
    memcpy(f->u1, net->t0, sizeof f->u1);
    add_wide(F, rows, f->features, net->T0[0], f->u1);
    rectify(f->u1);
    count = pick(f->u1, ASLEEP, rows);
    memcpy(f->u2, net->t1, sizeof f->u2);
    add_wide(count, rows, f->u1, net->T1[0], f->u2);
    rectify(f->u2);
    count = pick(f->u2, ASLEEP, rows);
    memset(f->mix, 0, sizeof f->mix);
    add_rows(RANK, count, rows, f->u2, net->T2[0], f->mix);
    for (int i = 0; i < RANK; ++i)
        rows[i] = i;
    memcpy(f->Cc, net->m, sizeof f->Cc);
    add_rows(S, RANK, rows, f->mix, net->M[0], f->Cc);
}

/* The first layer of a plan. */
static void enter(const network *net, forecast *f, const double *plan)
{
    memcpy(f->z1, f->a, sizeof f->z1);
    for (int i = 0; i < N; ++i) {
        const real p = (real)plan[i];
        for (int j = 0; j < W; ++j)
            f->z1[j] += p * net->A[i][j];
    }
    memcpy(f->u1, f->z1, sizeof f->u1);
    activate(f->u1, f->s1);
}

/* T from the argument of the second layer. */
static void leave(forecast *f, double *T)
{
    memcpy(f->u2, f->z2, sizeof f->u2);
    activate(f->u2, f->s2);
    contract(f->Cc, f->u2, T, 1);
    for (int i = 0; i < N; ++i)
        T[i] += (double)f->Cc[N * W + i];
}

/* T of a plan. */
static void predict(const network *net, forecast *f, const double *plan, double *T)
{
    enter(net, f, plan);
    memcpy(f->z2, net->b, sizeof f->z2);
    add_wide(pick(f->u1, ASLEEP, f->rows), f->rows, f->u1, net->W1[0], f->z2);
    leave(f, T);
}

/* T of a plan with the moves x, from the base of the last Jacobian: the first layer is linear but for the few
   units that cross their kink on the way. */
static void predict_near(const network *net, forecast *f, const double *plan, int n, const double *x, double *T)
{
    int count = 0;
    enter(net, f, plan);
    for (int j = 0; j < W; ++j)
        f->change[j] = f->u1[j] - f->base_u1[j] - f->base_s1[j] * (f->z1[j] - f->base_z1[j]);
    for (int k = 0; k < W; ++k) {
        f->rows[count] = k;
        count += !(f->change[k] <= BENT && f->change[k] >= -BENT);
    }
    memcpy(f->z2, f->base_z2, sizeof f->z2);
    for (int c = 0; c < n; ++c) {
        const real step = (real)(x[c] - f->base_x[c]);
        for (int j = 0; j < W; ++j)
            f->z2[j] += step * f->D[c][j];
    }
    add_wide(count, f->rows, f->change, net->W1[0], f->z2);
    leave(f, T);
}

/* The mean slope of each unit near its kink. */
static void blur(const real *restrict z, real *restrict slope)
{
    for (int j = 0; j < W; ++j) {
        const real mean = (real)0.5 + z[j] * (real)(0.5 / BLUR);
        slope[j] = mean > (real)0 && mean < (real)1 ? mean : slope[j];
    }
}

/* J = C diag(s2) D,  D = W1' diag(s1) A' S, at the plan of the last prediction, which becomes the base. Only
   units whose slope has changed since the last base are worked on; `fresh` forgets that one, and takes the mean
   slope over BLUR either side, which is better for the long first step. */
static void differentiate(const network *net, forecast *f, int n, const double *x, int fresh, double (*J)[N])
{
    int count = 0;
    if (fresh) {
        memset(f->D, 0, sizeof f->D);
        memset(f->base_s1, 0, sizeof f->base_s1);
        blur(f->z1, f->s1);
        blur(f->z2, f->s2);
    }
    for (int j = 0; j < W; ++j) {
        const real slope = f->s1[j] < FLAT ? (real)0 : (f->s1[j] > (real)1 - FLAT ? (real)1 : f->s1[j]);
        const real change = slope - f->base_s1[j];
        f->change[j] = change > FLAT || change < -FLAT ? change : (real)0;
        f->base_s1[j] += f->change[j];
    }
    for (int k = 0; k < W; ++k) {
        f->rows[count] = k;
        count += f->change[k] != (real)0;
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < W; ++j)
            f->share[i][j] = f->change[j] * f->AS[i][j];
    for (int k = 0; k < count; k += 8) /* eight rows stay in the nearest cache for all moves */
        for (int i = 0; i < n; ++i)
            add_wide(count - k < 8 ? count - k : 8, f->rows + k, f->share[i], net->W1[0], f->D[i]);
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < W; ++j)
            f->G[i][j] = f->Cc[i * W + j] * f->s2[j];
    for (int i = 0; i < n; ++i)
        contract(f->G[0], f->D[i], &J[0][i], N);
    memcpy(f->base_z1, f->z1, sizeof f->z1);
    memcpy(f->base_u1, f->u1, sizeof f->u1);
    memcpy(f->base_z2, f->z2, sizeof f->z2);
    memcpy(f->base_x, x, (size_t)n * sizeof *x);
}
