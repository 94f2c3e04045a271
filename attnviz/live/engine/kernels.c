// The arithmetic of a forward pass in 32-bit floats, for WebAssembly with 128-bit SIMD. No library and no allocation:
// arena.js says where everything lies in the one memory. Tensors are row by row; their room ends at a multiple of 64
// bytes, so that what works on four numbers at a time may run over the last one.
//
// kernels.wasm is this file, made by `python -m scripts.build_kernels`, which a test repeats byte by byte.
#include <wasm_simd128.h>

typedef v128_t four;
#define EXPORT __attribute__((visibility("default")))
#define LOAD wasm_v128_load
#define STORE wasm_v128_store
#define SPLAT wasm_f32x4_splat
#define MUL wasm_f32x4_mul
#define ADD wasm_f32x4_add
#define SUB wasm_f32x4_sub
#define DIV wasm_f32x4_div
#define MIN wasm_f32x4_min
#define MAX wasm_f32x4_max

extern unsigned char __heap_base;

// The first byte that is free.
EXPORT int heap(void) { return (int)&__heap_base; }

static inline four multiply_add(four a, four b, four c) { return ADD(MUL(a, b), c); }

static inline float sum_of(four x) {
  return wasm_f32x4_extract_lane(x, 0) + wasm_f32x4_extract_lane(x, 1) + wasm_f32x4_extract_lane(x, 2) +
         wasm_f32x4_extract_lane(x, 3);
}

// --- matrix products --------------------------------------------------------------------------------------------------

#define PANEL 8

// A matrix [depth][columns], with any strides, in panels of eight columns: zeros behind the last one.
EXPORT void pack(float *to, const float *from, int depth, int columns, int row_stride, int column_stride) {
  for (int column = 0; column < columns; column += PANEL)
    for (int row = 0; row < depth; row++)
      for (int lane = 0; lane < PANEL; lane++)
        *to++ = column + lane < columns ? from[row * row_stride + (column + lane) * column_stride] : 0;
}

// ROWS rows and eight columns of a product: the sums stay in registers, of which four rows leave room for the factors (six
// were a fifth slower in V8, and so was one step at a time).
#define TILE(ROWS)                                                                                                  \
  static void tile##ROWS(float *out, int out_stride, const float *a, int a_stride, const float *panel,              \
                         const float *bias, int depth, int columns) {                                               \
    four left[ROWS], right[ROWS];                                                                                   \
    four first = bias ? LOAD(bias) : SPLAT(0), second = bias ? LOAD(bias + 4) : SPLAT(0);                           \
    for (int row = 0; row < ROWS; row++) left[row] = first, right[row] = second;                                    \
    _Pragma("unroll 4") for (int i = 0; i < depth; i++, panel += PANEL) {                                           \
      four x = LOAD(panel), y = LOAD(panel + 4);                                                                    \
      _Pragma("unroll") for (int row = 0; row < ROWS; row++) {                                                      \
        four factor = wasm_v128_load32_splat(a + row * a_stride + i);                                               \
        left[row] = multiply_add(factor, x, left[row]);                                                             \
        right[row] = multiply_add(factor, y, right[row]);                                                           \
      }                                                                                                             \
    }                                                                                                               \
    for (int row = 0; row < ROWS; row++) {                                                                          \
      float *to = out + row * out_stride;                                                                           \
      if (columns >= PANEL) {                                                                                       \
        STORE(to, left[row]);                                                                                       \
        STORE(to + 4, right[row]);                                                                                  \
      } else {                                                                                                      \
        float last[PANEL];                                                                                          \
        STORE(last, left[row]);                                                                                     \
        STORE(last + 4, right[row]);                                                                                \
        for (int lane = 0; lane < columns; lane++) to[lane] = last[lane];                                           \
      }                                                                                                             \
    }                                                                                                               \
  }
TILE(4)
TILE(2)
TILE(1)

// out[row][column] = a[row][depth] · panels + bias; the bias is padded to a multiple of eight, or 0 for none.
EXPORT void gemm(float *out, int out_stride, const float *a, int a_stride, const float *panels, const float *bias,
                 int rows, int depth, int columns) {
  for (int column = 0; column < columns; column += PANEL, panels += PANEL * depth) {
    const float *own = bias ? bias + column : 0;
    int row = 0, left = columns - column;
#define RUN(ROWS)                     \
  for (; row + ROWS <= rows; row += ROWS) \
  tile##ROWS(out + row * out_stride + column, out_stride, a + row * a_stride, a_stride, panels, own, depth, left)
    RUN(4);
    RUN(2);
    RUN(1);
#undef RUN
  }
}

// --- softmax ----------------------------------------------------------------------------------------------------------

// e to the power of x, after Cephes: 2ⁿ · p(x − n·log 2), within 2 units in the last place.
static four exp_of(four x) {
  x = MAX(MIN(x, SPLAT(88.3f)), SPLAT(-87.3f));
  four n = wasm_f32x4_nearest(MUL(x, SPLAT(1.44269504f)));
  four rest = SUB(SUB(x, MUL(n, SPLAT(0.693359375f))), MUL(n, SPLAT(-2.12194440e-4f)));
  four p = SPLAT(1.9875691500e-4f);
  p = multiply_add(p, rest, SPLAT(1.3981999507e-3f));
  p = multiply_add(p, rest, SPLAT(8.3334519073e-3f));
  p = multiply_add(p, rest, SPLAT(4.1665795894e-2f));
  p = multiply_add(p, rest, SPLAT(1.6666665459e-1f));
  p = multiply_add(p, rest, SPLAT(5.0000001201e-1f));
  p = ADD(multiply_add(MUL(p, rest), rest, rest), SPLAT(1));
  four power = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_splat(127)), 23);
  return MUL(p, power);
}

// Rows of scores become weights in place. `seen` is how many columns the first row sees, one more each next row; 0: all.
EXPORT void softmax(float *x, int rows, int columns, float scale, int seen) {
  for (int row = 0; row < rows; row++, x += columns) {
    int n = seen && row + seen < columns ? row + seen : columns;
    float most = x[0] * scale;
    for (int column = 0; column < n; column++) {
      x[column] *= scale;
      if (x[column] > most) most = x[column];
    }
    four sums = SPLAT(0), largest = SPLAT(most);
    int column = 0;
    for (; column + 4 <= n; column += 4) {
      four e = exp_of(SUB(LOAD(x + column), largest));
      STORE(x + column, e);
      sums = ADD(sums, e);
    }
    float total = sum_of(sums);
    for (; column < n; column++) {
      x[column] = wasm_f32x4_extract_lane(exp_of(SPLAT(x[column] - most)), 0);
      total += x[column];
    }
    float factor = 1 / total;
    for (column = 0; column < n; column++) x[column] *= factor;
    for (; column < columns; column++) x[column] = 0;
  }
}

// --- norms, activations, sums; widths are multiples of four -----------------------------------------------------------

EXPORT void layer_norm(float *out, const float *x, const float *scale, const float *shift, int rows, int n, float eps) {
  for (int row = 0; row < rows; row++, x += n, out += n) {
    four sums = SPLAT(0), squares = SPLAT(0);
    for (int i = 0; i < n; i += 4) sums = ADD(sums, LOAD(x + i));
    four mean = SPLAT(sum_of(sums) / n);
    for (int i = 0; i < n; i += 4) {
      four d = SUB(LOAD(x + i), mean);
      squares = multiply_add(d, d, squares);
    }
    four factor = SPLAT(1 / __builtin_sqrtf(sum_of(squares) / n + eps));
    for (int i = 0; i < n; i += 4)
      STORE(out + i, multiply_add(MUL(SUB(LOAD(x + i), mean), factor), LOAD(scale + i), LOAD(shift + i)));
  }
}

EXPORT void rms_norm(float *out, const float *x, const float *scale, int rows, int n, float eps) {
  for (int row = 0; row < rows; row++, x += n, out += n) {
    four squares = SPLAT(0);
    for (int i = 0; i < n; i += 4) squares = multiply_add(LOAD(x + i), LOAD(x + i), squares);
    four factor = SPLAT(1 / __builtin_sqrtf(sum_of(squares) / n + eps));
    for (int i = 0; i < n; i += 4) STORE(out + i, MUL(MUL(LOAD(x + i), factor), LOAD(scale + i)));
  }
}

static four tanh_of(four x) {
  four e = exp_of(MUL(x, SPLAT(2)));
  return SUB(SPLAT(1), DIV(SPLAT(2), ADD(e, SPLAT(1))));
}

// The error function as Eigen has it: x·p(x²) ÷ q(x²) within ±4.
static four erf_of(four x) {
  x = MAX(MIN(x, SPLAT(4)), SPLAT(-4));
  four y = MUL(x, x);
  four p = SPLAT(-2.72614225801306e-10f);
  p = multiply_add(p, y, SPLAT(2.77068142495902e-08f));
  p = multiply_add(p, y, SPLAT(-2.10102402082508e-06f));
  p = multiply_add(p, y, SPLAT(-5.69250639462346e-05f));
  p = multiply_add(p, y, SPLAT(-7.34990630326855e-04f));
  p = multiply_add(p, y, SPLAT(-2.95459980854025e-03f));
  p = multiply_add(p, y, SPLAT(-1.60960333262415e-02f));
  four q = SPLAT(-1.45660718464996e-05f);
  q = multiply_add(q, y, SPLAT(-2.13374055278905e-04f));
  q = multiply_add(q, y, SPLAT(-1.68282697438203e-03f));
  q = multiply_add(q, y, SPLAT(-7.37332916720468e-03f));
  q = multiply_add(q, y, SPLAT(-1.42647390514189e-02f));
  return DIV(MUL(x, p), q);
}

EXPORT void gelu(float *x, int n) {
  for (int i = 0; i < n; i += 4) {
    four a = LOAD(x + i);
    STORE(x + i, MUL(MUL(a, SPLAT(.5f)), ADD(SPLAT(1), erf_of(MUL(a, SPLAT(.70710678f))))));
  }
}

EXPORT void gelu_tanh(float *x, int n) {
  for (int i = 0; i < n; i += 4) {
    four a = LOAD(x + i);
    four inner = MUL(SPLAT(.79788456f), multiply_add(MUL(MUL(a, a), a), SPLAT(.044715f), a));
    STORE(x + i, MUL(MUL(a, SPLAT(.5f)), ADD(SPLAT(1), tanh_of(inner))));
  }
}

EXPORT void relu(float *x, int n) {
  for (int i = 0; i < n; i += 4) STORE(x + i, MAX(LOAD(x + i), SPLAT(0)));
}

EXPORT void silu(float *x, int n) {
  for (int i = 0; i < n; i += 4) {
    four a = LOAD(x + i);
    STORE(x + i, DIV(a, ADD(SPLAT(1), exp_of(wasm_f32x4_neg(a)))));
  }
}

EXPORT void hyperbolic_tangent(float *x, int n) {
  for (int i = 0; i < n; i += 4) STORE(x + i, tanh_of(LOAD(x + i)));
}

EXPORT void add(float *x, const float *y, int n) {
  for (int i = 0; i < n; i += 4) STORE(x + i, ADD(LOAD(x + i), LOAD(y + i)));
}

EXPORT void multiply(float *x, const float *y, int n) {
  for (int i = 0; i < n; i += 4) STORE(x + i, MUL(LOAD(x + i), LOAD(y + i)));
}

// Rotary positions of `heads` heads of width d in each row, halves apart; tables are [row][d / 2].
EXPORT void rotate(float *x, const float *cosines, const float *sines, int rows, int heads, int d) {
  int half = d / 2;
  for (int row = 0; row < rows; row++)
    for (int head = 0; head < heads; head++, x += d)
      for (int i = 0; i < half; i++) {
        float a = x[i], b = x[i + half], c = cosines[row * half + i], s = sines[row * half + i];
        x[i] = a * c - b * s;
        x[i + half] = b * c + a * s;
      }
}

// --- stored numbers as floats -----------------------------------------------------------------------------------------

EXPORT void from_f16(float *to, const unsigned short *from, int n) {
  for (int i = 0; i < n; i++) {
    unsigned bits = from[i], sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023;
    union {
      unsigned bits;
      float value;
    } as;
    if (exponent) as.bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
    else {
      as.value = mantissa * 5.9604644775390625e-8f;
      as.bits |= sign;
    }
    to[i] = as.value;
  }
}

EXPORT void from_bf16(unsigned *to, const unsigned short *from, int n) {
  for (int i = 0; i < n; i++) to[i] = (unsigned)from[i] << 16;
}

// (high + low ÷ 256) · the scale of the row; `low` is 0 while it is not there.
EXPORT void from_planes(float *to, const signed char *high, const signed char *low, const float *scale, int rows, int n) {
  for (int row = 0; row < rows; row++)
    for (int i = 0; i < n; i++, high++) {
      float value = *high;
      if (low) value += *low++ * 0.00390625f;
      *to++ = value * scale[row];
    }
}
