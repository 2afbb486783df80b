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
     "template <typename T> TESSIQ_INLINE T joined(maximum_of, T a, T b) { return maximum(a, b); }\n"},
    {"minimum_of",
     "struct minimum_of {};\n"
     "template <typename T> TESSIQ_INLINE T first(minimum_of) { return highest<T>(); }\n"
     "template <typename T> TESSIQ_INLINE T joined(minimum_of, T a, T b) { return minimum(a, b); }\n"},
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
