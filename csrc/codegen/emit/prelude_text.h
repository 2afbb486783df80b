// The texts of the prelude, in an order in which each uses only earlier ones. Private to prelude.cpp.
#pragma once

#include <array>
#include <string_view>

namespace tessiq::emit {

struct CommonFragment {
  std::string_view name;
  std::string_view text;
};
struct TargetFragment {
  std::string_view name;
  std::string_view cuda;
  std::string_view host;
};

// What the two targets spell differently, or only one has.
inline constexpr auto kTargetFragments = std::to_array<TargetFragment>({
    // N elements side by side, moved by one instruction where they are 16 bytes or fewer.
    {"pack", "template <typename T, int N> struct alignas(sizeof(T) * N) pack { T at[N]; };\n", ""},
    {"load",
     "template <int N, typename T> TESSIQ_INLINE pack<T, N> load(const T* from) {\n"
     "  return *reinterpret_cast<const pack<T, N>*>(from);\n"
     "}\n",
     ""},
    {"store",
     "template <typename T, int N> TESSIQ_INLINE void store(T* to, const pack<T, N>& values) {\n"
     "  *reinterpret_cast<pack<T, N>*>(to) = values;\n"
     "}\n",
     ""},
    {"broadcast",
     "template <int N, typename T> TESSIQ_INLINE pack<T, N> broadcast(const T* from) {\n"
     "  pack<T, N> values;\n"
     "#pragma unroll\n"
     "  for (int k = 0; k < N; ++k) { values.at[k] = *from; }\n"
     "  return values;\n"
     "}\n",
     ""},
    {"gather",
     "template <int N, typename I, typename T> TESSIQ_INLINE pack<T, N> gather(const T* from, const I stride) {\n"
     "  pack<T, N> values;\n"
     "#pragma unroll\n"
     "  for (int k = 0; k < N; ++k) { values.at[k] = from[I(k) * stride]; }\n"
     "  return values;\n"
     "}\n",
     ""},
    {"scatter",
     "template <typename I, typename T, int N> TESSIQ_INLINE void scatter(T* to, const I stride, const pack<T, N>& "
     "values) {\n"
     "#pragma unroll\n"
     "  for (int k = 0; k < N; ++k) { to[I(k) * stride] = values.at[k]; }\n"
     "}\n",
     ""},
    // i / d by the multiplier of d, where the launcher has one for indices of 32 bits.
    {"quotient",
     "TESSIQ_INLINE u32 quotient(u32 i, u32, i64 m) { return (__umulhi(i, u32(m)) + i) >> u32(m >> 32); }\n"
     "TESSIQ_INLINE u64 quotient(u64 i, u64 d, i64) { return i / d; }\n",
     ""},
    // What a step left, wraparound and all: hidden from a compiler that takes signed overflow as impossible. The host's
    // compiler is told with -fwrapv.
    {"wrapped",
     "TESSIQ_INLINE i32 wrapped(i32 x) { asm(\"\" : \"+r\"(x)); return x; }\n"
     "TESSIQ_INLINE i64 wrapped(i64 x) { asm(\"\" : \"+l\"(x)); return x; }\n",
     "TESSIQ_INLINE i32 wrapped(i32 x) { return x; }\n"
     "TESSIQ_INLINE i64 wrapped(i64 x) { return x; }\n"},
    // The position an operand holds, which has to be one of the axis. What PyTorch's kernels do where it is not.
    {"within",
     "extern \"C\" __device__ __attribute__((noreturn)) void __assertfail(const char* asked, const char* file,\n"
     "    unsigned line, const char* function, size_t character_bytes);\n"
     "TESSIQ_INLINE i64 within(i64 position, i64 extent) {\n"
     "  if (u64(position) >= u64(extent)) {\n"
     "    __assertfail(\"index is out of range\", \"tessiq, a generated loop\", 0, \"lookup\", 1);\n"
     "  }\n"
     "  return position;\n"
     "}\n",
     ""},
    {"is_within", "",
     "TESSIQ_INLINE bool is_within(i64 position, i64 extent) { return u64(position) < u64(extent); }\n"},
    {"report", "",
     "TESSIQ_INLINE void report(i64* fault, i64 position, i64 extent) {\n"
     "  fault[0] = 1;\n"
     "  fault[1] = position;\n"
     "  fault[2] = extent;\n"
     "}\n"},
    {"bits_of",
     "TESSIQ_INLINE u32 bits_of(float x) { return __float_as_uint(x); }\n"
     "TESSIQ_INLINE u64 bits_of(double x) { return u64(__double_as_longlong(x)); }\n",
     "TESSIQ_INLINE u32 bits_of(float x) { return __builtin_bit_cast(u32, x); }\n"
     "TESSIQ_INLINE u64 bits_of(double x) { return __builtin_bit_cast(u64, x); }\n"},
    {"float_of", "TESSIQ_INLINE float float_of(u32 bits) { return __uint_as_float(bits); }\n",
     "TESSIQ_INLINE float float_of(u32 bits) { return __builtin_bit_cast(float, bits); }\n"},
    {"double_of", "TESSIQ_INLINE double double_of(u64 bits) { return __longlong_as_double(i64(bits)); }\n",
     "TESSIQ_INLINE double double_of(u64 bits) { return __builtin_bit_cast(double, bits); }\n"},
    {"from_bf16", "TESSIQ_INLINE float from_bf16(u16 x) { return float_of(u32(x) << 16); }\n",
     "TESSIQ_INLINE float from_bf16(u16 x) { return float_of(u32(x) << 16); }\n"},
    // The instruction came with compute capability 8.0. Before it: add half of the last place kept, less one where that
    // place is even, and cut; a NaN must not round up to infinity.
    {"to_bf16",
     "TESSIQ_INLINE u16 to_bf16(float x) {\n"
     "#if __CUDA_ARCH__ >= 800\n"
     "  u16 result;\n"
     "  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(result) : \"f\"(x));\n"
     "  return result;\n"
     "#else\n"
     "  const u32 bits = bits_of(x);\n"
     "  return x != x ? u16(0x7fc0) : u16((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);\n"
     "#endif\n"
     "}\n",
     "TESSIQ_INLINE u16 to_bf16(float x) {\n"
     "  const u32 bits = bits_of(x);\n"
     "  return x != x ? u16(0x7fc0) : u16((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);\n"
     "}\n"},
    {"from_f16",
     "TESSIQ_INLINE float from_f16(u16 x) {\n"
     "  float result;\n"
     "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(result) : \"h\"(x));\n"
     "  return result;\n"
     "}\n",
     // Subnormal halves count in steps of 2^-24; the others need their exponent moved from bias 15 to bias 127.
     "TESSIQ_INLINE float from_f16(u16 x) {\n"
     "  const u32 exponent = (x >> 10) & 31u;\n"
     "  const u32 mantissa = x & 1023u;\n"
     "  const u32 sign = u32(x & 0x8000u) << 16;\n"
     "  const float small = float(i32(mantissa)) * 5.9604644775390625e-08f;\n"
     "  const u32 wide = ((exponent == 31u ? 255u : exponent + 112u) << 23) | (mantissa << 13);\n"
     "  return float_of((exponent == 0u ? bits_of(small) : wide) | sign);\n"
     "}\n"},
    {"to_f16",
     "TESSIQ_INLINE u16 to_f16(float x) {\n"
     "  u16 result;\n"
     "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(result) : \"f\"(x));\n"
     "  return result;\n"
     "}\n",
     // Below 2^-14 the result is subnormal: adding 0.5 leaves its steps of 2^-24 in the last bits, rounded by the
     // addition. From 2^16 on it is infinity (or NaN); what rounds up to 2^16 carries into infinity by itself.
     "TESSIQ_INLINE u16 to_f16(float x) {\n"
     "  const u32 bits = bits_of(x);\n"
     "  const u32 magnitude = bits & 0x7fffffffu;\n"
     "  const u32 small = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;\n"
     "  const u32 usual = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;\n"
     "  const u32 large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;\n"
     "  const u32 value = magnitude >= 0x47800000u ? large : magnitude < 0x38800000u ? small : usual;\n"
     "  return u16(value | ((bits >> 16) & 0x8000u));\n"
     "}\n"},
    {"rsqrt",
     "TESSIQ_INLINE float rsqrt(float x) { return ::rsqrtf(x); }\n"
     "TESSIQ_INLINE double rsqrt(double x) { return ::rsqrt(x); }\n",
     "TESSIQ_INLINE float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }\n"
     "TESSIQ_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }\n"},
});

inline constexpr auto kUnaryLibraryFunctions = std::to_array<std::string_view>(
    {"exp", "exp2", "expm1",  "log",   "log2", "log10", "log1p", "sqrt",  "sin",   "cos",
     "tan", "asin", "acos",   "atan",  "sinh", "cosh",  "tanh",  "asinh", "acosh", "atanh",
     "erf", "erfc", "lgamma", "floor", "ceil", "trunc", "rint",  "fabs"});
inline constexpr auto kBinaryLibraryFunctions =
    std::to_array<std::string_view>({"atan2", "hypot", "fmod", "pow", "copysign", "nextafter"});

// Overloads for float and double beside a template for bool and integers. Arguments of one call have one type.
inline constexpr auto kCommonFragments = std::to_array<CommonFragment>({
    {"from_end",
     "TESSIQ_INLINE i64 from_end(i64 position, i64 extent) {\n"
     "  return position < 0 ? position + extent : position;\n"
     "}\n"},
    {"infinity",
     "template <typename T> TESSIQ_INLINE T infinity();\n"
     "template <> TESSIQ_SPECIAL float infinity<float>() { return float_of(0x7f800000u); }\n"
     "template <> TESSIQ_SPECIAL double infinity<double>() { return double_of(0x7ff0000000000000ull); }\n"},
    {"not_a_number",
     "template <typename T> TESSIQ_INLINE T not_a_number();\n"
     "template <> TESSIQ_SPECIAL float not_a_number<float>() { return float_of(0x7fc00000u); }\n"
     "template <> TESSIQ_SPECIAL double not_a_number<double>() { return double_of(0x7ff8000000000000ull); }\n"},
    {"abs_value",
     "template <typename T> TESSIQ_INLINE T abs_value(T x) { return x < T(0) ? T(-x) : x; }\n"
     "TESSIQ_INLINE float abs_value(float x) { return fabs(x); }\n"
     "TESSIQ_INLINE double abs_value(double x) { return fabs(x); }\n"},
    {"is_nan",
     "template <typename T> TESSIQ_INLINE bool is_nan(T) { return false; }\n"
     "TESSIQ_INLINE bool is_nan(float x) { return x != x; }\n"
     "TESSIQ_INLINE bool is_nan(double x) { return x != x; }\n"},
    {"is_inf",
     "template <typename T> TESSIQ_INLINE bool is_inf(T) { return false; }\n"
     "TESSIQ_INLINE bool is_inf(float x) { return fabs(x) == infinity<float>(); }\n"
     "TESSIQ_INLINE bool is_inf(double x) { return fabs(x) == infinity<double>(); }\n"},
    {"is_finite",
     "template <typename T> TESSIQ_INLINE bool is_finite(T) { return true; }\n"
     "TESSIQ_INLINE bool is_finite(float x) { return fabs(x) < infinity<float>(); }\n"
     "TESSIQ_INLINE bool is_finite(double x) { return fabs(x) < infinity<double>(); }\n"},
    {"sign_bit",
     "template <typename T> TESSIQ_INLINE bool sign_bit(T x) { return x < T(0); }\n"
     "TESSIQ_INLINE bool sign_bit(float x) { return (bits_of(x) >> 31) != 0; }\n"
     "TESSIQ_INLINE bool sign_bit(double x) { return (bits_of(x) >> 63) != 0; }\n"},
    {"bit_not",
     "template <typename T> TESSIQ_INLINE T bit_not(T x) { return T(~x); }\n"
     "TESSIQ_INLINE bool bit_not(bool x) { return !x; }\n"},
    // A NaN on the left is asked for; one on the right falls out, as every comparison with it is false.
    {"maximum", "template <typename T> TESSIQ_INLINE T maximum(T x, T y) { return x != x || x > y ? x : y; }\n"},
    {"minimum", "template <typename T> TESSIQ_INLINE T minimum(T x, T y) { return x != x || x < y ? x : y; }\n"},
    {"fmax", "template <typename T> TESSIQ_INLINE T fmax(T x, T y) { return y != y || x > y ? x : y; }\n"},
    {"fmin", "template <typename T> TESSIQ_INLINE T fmin(T x, T y) { return y != y || x < y ? x : y; }\n"},
    {"trunc_divide",
     "template <typename T> TESSIQ_INLINE T trunc_divide(T x, T y) {\n"
     "  if (y == T(0)) { return T(0); }\n"
     "  return T(-1) < T(0) && y == T(-1) ? T(T(0) - x) : T(x / y);\n"
     "}\n"
     "TESSIQ_INLINE float trunc_divide(float x, float y) { return trunc(x / y); }\n"
     "TESSIQ_INLINE double trunc_divide(double x, double y) { return trunc(x / y); }\n"},
    {"trunc_remainder",
     "template <typename T> TESSIQ_INLINE T trunc_remainder(T x, T y) {\n"
     "  return y == T(0) || (T(-1) < T(0) && y == T(-1)) ? T(0) : T(x % y);\n"
     "}\n"
     "TESSIQ_INLINE float trunc_remainder(float x, float y) { return fmod(x, y); }\n"
     "TESSIQ_INLINE double trunc_remainder(double x, double y) { return fmod(x, y); }\n"},
    {"float_floor_divide",
     "template <typename T> TESSIQ_INLINE T float_floor_divide(T x, T y) {\n"
     "  if (y == T(0)) { return x / y; }\n"
     "  const T remainder = fmod(x, y);\n"
     "  T quotient = (x - remainder) / y;\n"
     "  if (remainder != T(0) && (y < T(0)) != (remainder < T(0))) { quotient -= T(1); }\n"
     "  if (quotient == T(0)) { return copysign(T(0), x / y); }\n"
     "  const T whole = floor(quotient);\n"
     "  return quotient - whole > T(0.5) ? whole + T(1) : whole;\n"
     "}\n"},
    {"floor_divide",
     "template <typename T> TESSIQ_INLINE T floor_divide(T x, T y) {\n"
     "  const T quotient = trunc_divide(x, y);\n"
     "  const bool inexact = trunc_remainder(x, y) != T(0);\n"
     "  return inexact && (x < T(0)) != (y < T(0)) ? T(quotient - T(1)) : quotient;\n"
     "}\n"
     "TESSIQ_INLINE float floor_divide(float x, float y) { return float_floor_divide(x, y); }\n"
     "TESSIQ_INLINE double floor_divide(double x, double y) { return float_floor_divide(x, y); }\n"},
    // C's remainder has the sign of x, Python's that of y.
    {"floor_remainder",
     "template <typename T> TESSIQ_INLINE T floor_remainder(T x, T y) {\n"
     "  const T remainder = trunc_remainder(x, y);\n"
     "  return remainder != T(0) && (y < T(0)) != (remainder < T(0)) ? T(remainder + y) : remainder;\n"
     "}\n"},
    {"power",
     "template <typename T> TESSIQ_INLINE T power(T x, T y) {\n"
     "  if (y < T(0)) { return x == T(1) || (x == T(-1) && (y & T(1)) == T(0)) ? T(1) : x == T(-1) ? T(-1) : T(0); }\n"
     "  u64 result = 1;\n"
     "  u64 base = u64(x);\n"
     "  for (u64 left = u64(y); left != 0; left >>= 1) {\n"
     "    if ((left & 1) != 0) { result *= base; }\n"
     "    base *= base;\n"
     "  }\n"
     "  return T(result);\n"
     "}\n"
     "TESSIQ_INLINE float power(float x, float y) { return pow(x, y); }\n"
     "TESSIQ_INLINE double power(double x, double y) { return pow(x, y); }\n"},
    {"shift_left",
     "template <typename T> TESSIQ_INLINE T shift_left(T x, T y) {\n"
     "  return y < T(0) || u64(y) >= 8 * sizeof(T) ? T(0) : T(u64(x) << y);\n"
     "}\n"},
    {"shift_right",
     "template <typename T> TESSIQ_INLINE T shift_right(T x, T y) {\n"
     "  return y < T(0) || u64(y) >= 8 * sizeof(T) ? (x < T(0) ? T(-1) : T(0)) : T(x >> y);\n"
     "}\n"},
});

}  // namespace tessiq::emit
