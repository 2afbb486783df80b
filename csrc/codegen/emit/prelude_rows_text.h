// The texts that reductions call: how two elements are combined, and combining across the threads of a row. Private to
// prelude.cpp.
#pragma once

#include <array>
#include <string_view>

namespace tessiq::emit {

struct RowFragment {
  std::string_view name;
  std::string_view text;
  bool only_cuda = false;
};

// A combination X is a type X_of, joined(X_of(), a, b), and first<T>(X_of()), which joined to any element gives that
// element.
inline constexpr auto kRowFragments = std::to_array<RowFragment>({
    {"lowest",
     "template <typename T> TESSIQ_INLINE T lowest() {\n"
     "  return T(-1) > T(0) ? T(0) : T(u64(1) << (8 * sizeof(T) - 1));\n"
     "}\n"
     "template <> TESSIQ_SPECIAL bool lowest<bool>() { return false; }\n"
     "template <> TESSIQ_SPECIAL float lowest<float>() { return -infinity<float>(); }\n"
     "template <> TESSIQ_SPECIAL double lowest<double>() { return -infinity<double>(); }\n"},
    {"highest",
     "template <typename T> TESSIQ_INLINE T highest() {\n"
     "  return T(-1) > T(0) ? T(-1) : T((u64(1) << (8 * sizeof(T) - 1)) - 1);\n"
     "}\n"
     "template <> TESSIQ_SPECIAL bool highest<bool>() { return true; }\n"
     "template <> TESSIQ_SPECIAL float highest<float>() { return infinity<float>(); }\n"
     "template <> TESSIQ_SPECIAL double highest<double>() { return infinity<double>(); }\n"},
    {"sum_of",
     "struct sum_of {};\n"
     "template <typename T> TESSIQ_INLINE T first(sum_of) { return T(0); }\n"
     "template <typename T> TESSIQ_INLINE T joined(sum_of, T a, T b) { return T(a + b); }\n"},
    {"product_of",
     "struct product_of {};\n"
     "template <typename T> TESSIQ_INLINE T first(product_of) { return T(1); }\n"
     "template <typename T> TESSIQ_INLINE T joined(product_of, T a, T b) { return T(a * b); }\n"},
    {"maximum_of",
     "struct maximum_of {};\n"
     "template <typename T> TESSIQ_INLINE T first(maximum_of) { return lowest<T>(); }\n"
     "template <typename T> TESSIQ_INLINE T joined(maximum_of, T a, T b) { return maximum(a, b); }\n"
     // One instruction where there is one: a NaN wins, as it does in maximum().
     "#if __CUDA_ARCH__ >= 800\n"
     "TESSIQ_INLINE float joined(maximum_of, float a, float b) {\n"
     "  float result;\n"
     "  asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(result) : \"f\"(a), \"f\"(b));\n"
     "  return result;\n"
     "}\n"
     "#endif\n"},
    {"minimum_of",
     "struct minimum_of {};\n"
     "template <typename T> TESSIQ_INLINE T first(minimum_of) { return highest<T>(); }\n"
     "template <typename T> TESSIQ_INLINE T joined(minimum_of, T a, T b) { return minimum(a, b); }\n"
     "#if __CUDA_ARCH__ >= 800\n"
     "TESSIQ_INLINE float joined(minimum_of, float a, float b) {\n"
     "  float result;\n"
     "  asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(result) : \"f\"(a), \"f\"(b));\n"
     "  return result;\n"
     "}\n"
     "#endif\n"},
    // x / y with the reciprocal of y at hand, and what rounding it lost put back: the quotient of a division, but for
    // the last bit of results below the normal numbers. Where the reciprocal or the product leaves the range, a
    // division it is.
    {"quotient",
     "TESSIQ_INLINE float quotient(float x, float y, float reciprocal) {\n"
     "  const float q = x * reciprocal;\n"
     "  const float corrected = ::fmaf(::fmaf(-q, y, x), reciprocal, q);\n"
     "  const float size = abs_value(reciprocal);\n"
     "  const bool ordinary = size > 1e-30f && size < 1e30f && abs_value(q) < 3e38f;\n"
     "  return ordinary ? corrected : x / y;\n"
     "}\n",
     true},
    // Where the result is rounded to 16 bits: what is lost is far below its last.
    {"narrow_quotient",
     "TESSIQ_INLINE float narrow_quotient(float x, float y, float reciprocal) {\n"
     "  const float size = abs_value(reciprocal);\n"
     "  return size > 1e-30f && size < 1e30f ? x * reciprocal : x / y;\n"
     "}\n",
     true},
    {"narrow_exp",
     "TESSIQ_INLINE float narrow_exp(float x) {\n"
     "  float result;\n"
     "  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(result) : \"f\"(x * 1.44269504f));\n"
     "  return result;\n"
     "}\n",
     true},
    {"any_of",
     "struct any_of {};\n"
     "template <typename T> TESSIQ_INLINE T first(any_of) { return false; }\n"
     "template <typename T> TESSIQ_INLINE T joined(any_of, T a, T b) { return a || b; }\n"},
    {"all_of",
     "struct all_of {};\n"
     "template <typename T> TESSIQ_INLINE T first(all_of) { return true; }\n"
     "template <typename T> TESSIQ_INLINE T joined(all_of, T a, T b) { return a && b; }\n"},
    // An element and its position; the position is negative where there is none.
    {"placed", "template <typename T> struct placed { T element; i64 position; };\n"},
    {"precedes",
     "template <typename T> TESSIQ_INLINE bool precedes(placed<T> a, placed<T> b, bool is_extreme) {\n"
     "  if (a.position < 0 || b.position < 0) { return b.position < 0; }\n"
     "  if (is_nan(a.element) || is_nan(b.element)) {\n"
     "    return is_nan(a.element) && (!is_nan(b.element) || a.position < b.position);\n"
     "  }\n"
     "  return a.element == b.element ? a.position < b.position : is_extreme;\n"
     "}\n"},
    {"arg_maximum_of",
     "struct arg_maximum_of {};\n"
     "template <typename P> TESSIQ_INLINE P first(arg_maximum_of) { return P{0, -1}; }\n"
     "template <typename T> TESSIQ_INLINE placed<T> joined(arg_maximum_of, placed<T> a, placed<T> b) {\n"
     "  return precedes(a, b, a.element > b.element) ? a : b;\n"
     "}\n"},
    {"arg_minimum_of",
     "struct arg_minimum_of {};\n"
     "template <typename P> TESSIQ_INLINE P first(arg_minimum_of) { return P{0, -1}; }\n"
     "template <typename T> TESSIQ_INLINE placed<T> joined(arg_minimum_of, placed<T> a, placed<T> b) {\n"
     "  return precedes(a, b, a.element < b.element) ? a : b;\n"
     "}\n"},
    // What the thread `distance` lanes away has.
    {"from_lane",
     "template <typename T> TESSIQ_INLINE T from_lane(const T x, const int distance) {\n"
     "  union words { T value; u32 at[(sizeof(T) + 3) / 4]; TESSIQ_INLINE words() {} };\n"
     "  words mine;\n"
     "  words other;\n"
     "  mine.value = x;\n"
     "#pragma unroll\n"
     "  for (int k = 0; k < int((sizeof(T) + 3) / 4); ++k) {\n"
     "    other.at[k] = __shfl_xor_sync(0xffffffffu, mine.at[k], distance);\n"
     "  }\n"
     "  return other.value;\n"
     "}\n",
     true},
    {"lanes_joined",
     "template <typename C, int N, typename T> TESSIQ_INLINE T lanes_joined(T x) {\n"
     "#pragma unroll\n"
     "  for (int distance = N / 2; distance > 0; distance /= 2) { x = joined(C(), x, from_lane(x, distance)); }\n"
     "  return x;\n"
     "}\n",
     true},
    // Every thread of a row gets the same bits: at each level both partners join the same two values. A power of two
    // of warps, so that a warp reading their results over and over still joins each once.
    {"row_joined",
     "template <typename C, int THREADS, typename T> TESSIQ_INLINE T row_joined(T x, T* shared) {\n"
     "  x = lanes_joined<C, 32>(x);\n"
     "  if (THREADS > 32) {\n"
     "    if (threadIdx.x % 32 == 0) { shared[threadIdx.x / 32] = x; }\n"
     "    __syncthreads();\n"
     "    x = lanes_joined<C, THREADS / 32>(shared[threadIdx.x % (THREADS / 32)]);\n"
     "  }\n"
     "  return x;\n"
     "}\n",
     true},
});

}  // namespace tessiq::emit
