// A custom operation as tessiq knows it: what its definition states, checked, and what its calls have come to.
//
// Decides which operations exist: those compiled into tessiq, and those of libraries loaded later.
#pragma once

#include <ATen/core/function_schema.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/nvrtc/written_kernel.h"
#include "ir/element_type.h"
#include "optable/lookup.h"
#include "passes/rewrite/custom_passes.h"
#include "pytorch/custom/definition.h"
#include "support/result.h"

namespace tessiq::custom {

enum class Kind { kExpression, kKernel, kPrecompiled };
std::string_view kind_name(Kind kind);

struct Operation {
  Operation(std::string of, Definition stated, c10::FunctionSchema parsed)
      : name(std::move(of)), definition(std::move(stated)), schema(std::move(parsed)) {}

  std::string name;
  Definition definition;
  c10::FunctionSchema schema;  // "tessiq::rms_norm"
  Kind kind = Kind::kKernel;
  std::optional<std::string> kernel;  // text of the .cu file
  std::optional<std::string> pattern;
  optable::OpInfo row;  // its views point into `texts`
  std::vector<std::unique_ptr<std::string>> texts;

  bool writes = false;  // an argument, in place
  size_t new_results = 0;
  std::vector<int> result_arguments;  // the argument that a result is, -1 for a new tensor

  // The kernels by device and element type, loaded for the first call there.
  std::mutex mutex;
  std::map<std::pair<int, ir::ElementType>, std::shared_ptr<nvrtc::LoadedWrittenKernel>> loaded;

  // Calls on tessiq devices since the process began: by its own kernel, and by its reference.
  std::atomic<int64_t> kernel_calls{0};
  std::atomic<int64_t> fallbacks{0};

  std::string graph_name() const { return "tessiq." + name + ".default"; }
  passes::CustomCall call() const;
  // As a graph calls it, "aten._softmax.default".
  std::string replaced_in_graphs() const;
  bool replaces_in_graphs() const { return !definition.replaces.empty() && definition.replaces_in_graphs; }
  bool declares(ir::ElementType element) const { return row.accepts(element); }
};

// Checks every definition and registers them with PyTorch, the compiler's table and the pass manager. Where one is
// refused, none is registered; the error names the operation and the problem.
Result<void> add_operations(const Records& records);

// What add_operations would say of each, by name; nothing is registered. For tests, and for authors of packages.
std::vector<std::pair<std::string, std::string>> refusals_of(const Records& records);

// By name. Operations are never removed.
std::vector<Operation*> operations();
// As a graph or the dispatcher calls it: "tessiq.rms_norm.default". Null where there is none.
Operation* find_operation(std::string_view graph_name);

// Loads a library made by tessiq_operation_library and returns its records; kNotFound, or kUnsupported where it was
// built for another version of the interface or of PyTorch.
Result<const Records*> load_library(const std::string& path);

}  // namespace tessiq::custom
