// What a custom operation is: the header that a definition includes, in tessiq and in packages of others.
//
// Decides what an operation states about itself. Leaves checking it to checks.cpp, which runs when the package is
// imported: nothing here can fail while a library loads, where an exception would end the process.
//
// Part of the installed headers: it uses nothing that is compiled into tessiq.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <torch/version.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pytorch/custom/boxed_function.h"

namespace tessiq {
namespace custom __attribute__((visibility("hidden"))) {

  // A scalar argument of a kernel, as the C type it was given in: a kernel reads raw bytes, so that a double handed to
  // a float parameter would be read as the wrong number. It has to be the parameter's own type.
  struct KernelNumber {
    enum class Kind : unsigned char { kInteger, kReal };

    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> && sizeof(T) <= 8>>
    KernelNumber(T value)  // NOLINT: a number is one
        : kind(std::is_floating_point_v<T> ? Kind::kReal : Kind::kInteger), size(sizeof(T)) {
      std::memcpy(bytes.data(), &value, sizeof(T));
    }

    Kind kind;
    unsigned char size;
    alignas(8) std::array<std::byte, 8> bytes{};
  };

  // What a launch function answers: how the kernel runs for this call, or why the reference should run instead.
  struct Launch {
    std::array<unsigned, 3> grid{1, 1, 1};
    std::array<unsigned, 3> block{1, 1, 1};
    unsigned shared_bytes = 0;          // dynamic
    std::vector<KernelNumber> numbers;  // in the order the kernel declares them, after the pointers
    std::string instance;               // runs the function <name>_<instance> of the file; empty: <name>
    std::string declined;               // empty: the kernel runs
    static Launch decline(std::string why) {
      Launch launch;
      launch.declined = std::move(why);
      return launch;
    }
  };

  // An argument that keeps an element type of its own, such as indices: "target", at::kLong.
  struct ArgumentType {
    std::string argument;
    at::ScalarType type;
  };

  // Exactly one of `expression`, `launch` and `precompiled` says how it is computed.
  struct Definition {
    // In PyTorch's syntax, named as the folder: "rms_norm(Tensor x, Tensor weight, float epsilon=1e-5) -> Tensor".
    // Optional tensors, default values, several results and an operand written in place (`Tensor(a!)`) are understood.
    std::string schema;
    // With ATen, a function of the schema's own signature. Runs wherever nothing faster can, sizes the results on meta
    // tensors, and is what tests compare with.
    BoxedFunction<Tensors> reference;

    // C++ over $0, $1, ... and $name, as in the operation table (csrc/optable/intrinsics.md): tensors by position, then
    // numbers by name. The compiler fuses it into the loops it generates.
    std::string expression;
    // For a kernel in <name>.cu: a function of the call's arguments followed by the results, all of them packed tensors
    // on the device whose contents it may not read. The kernel gets a pointer an argument that is a tensor (null for
    // None), one a result that is not an argument, and `numbers`.
    BoxedFunction<Launch> launch;
    // Host code built by nvcc computes it.
    bool precompiled = false;

    // Of the tensors a kernel or an expression computes with; the first tensor's decides a call. For other types the
    // reference runs.
    std::vector<at::ScalarType> element_types;
    std::vector<ArgumentType> argument_types;

    // Optional: a function of one gradient a result, then the call's arguments, then its results. Returns one gradient
    // a tensor argument, undefined where there is none.
    BoxedFunction<Tensors> backward;

    // Optional: the PyTorch operator that this stands in for, "aten::_softmax". Its schema has the same argument names
    // and types.
    std::string replaces;
    // Whether compiled graphs keep that operator whole for it. Not where the loops that are generated for the pieces it
    // breaks into, which take in what stands around them, are faster: then it stands in for eager calls only.
    bool replaces_in_graphs = true;
  };

  struct RecordedDefinition {
    const char* name;
    Definition (*define)();
  };

  // The files beside a definition, embedded by the build. Null: there is no such file.
  struct RecordedFiles {
    const char* name;
    const char* kernel;
    const char* pattern;
  };

  struct Records {
    std::vector<RecordedDefinition> definitions;
    std::vector<RecordedFiles> files;
  };

  // Those of the library this is compiled into.
  inline Records& records() {
    static Records instance;
    return instance;
  }

  inline bool record(RecordedDefinition definition) {
    records().definitions.push_back(definition);
    return true;
  }
  inline bool record(RecordedFiles files) {
    records().files.push_back(files);
    return true;
  }

}  // namespace custom
}  // namespace tessiq

// What a library of operations and the tessiq that loads it have to agree on. The number grows with every change of
// what is in this header and in boxed_function.h.
#define TESSIQ_OPERATIONS_INTERFACE "1 for PyTorch " TORCH_VERSION

// Opens the function that returns an operation's Definition:
//
//   TESSIQ_CUSTOM_OP(rms_norm) { return {.schema = "...", .reference = &reference, ...}; }
#define TESSIQ_CUSTOM_OP(name)                                  \
  static ::tessiq::custom::Definition tessiq_define_##name();   \
  [[maybe_unused]] static const bool tessiq_recorded_##name =   \
      ::tessiq::custom::record({#name, &tessiq_define_##name}); \
  static ::tessiq::custom::Definition tessiq_define_##name()
