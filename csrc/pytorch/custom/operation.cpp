// The operations of the process, and the ways in: this library's own records, and those of libraries that are loaded.
#include "pytorch/custom/operation.h"

#include <dlfcn.h>

#include <algorithm>
#include <shared_mutex>
#include <unordered_map>

#include "pytorch/custom/checks.h"
#include "pytorch/custom/reference.h"

namespace tessiq::custom {
namespace {

struct Known {
  std::shared_mutex mutex;
  std::vector<std::unique_ptr<Operation>> operations;
  std::unordered_map<std::string, Operation*> by_graph_name;  // never iterated
};

Known& known() {
  static auto* instance = new Known();  // never destroyed: kernels registered with PyTorch point at operations
  return *instance;
}

const RecordedFiles* files_of(const Records& records, const std::string& name) {
  const auto found = std::find_if(records.files.begin(), records.files.end(),
                                  [&](const RecordedFiles& files) { return files.name == name; });
  return found == records.files.end() ? nullptr : &*found;
}

Result<void> add(std::unique_ptr<Operation> owned) {
  Operation& operation = *owned;
  const std::string context = "custom operation " + operation.name;
  if (auto row = optable::register_op(operation.row); !row) {
    return std::move(row).error().with_context(context);
  }
  if (operation.pattern) {
    if (auto pass = passes::register_rewrite(operation.call(), *operation.pattern); !pass) {
      return std::move(pass).error().with_context(context);
    }
  }
  if (operation.replaces_in_graphs()) {
    if (auto pass = passes::register_replacement(operation.call(), operation.replaced_in_graphs()); !pass) {
      return std::move(pass).error().with_context(context);
    }
  }
  register_with_pytorch(operation);
  const std::lock_guard lock(known().mutex);
  known().by_graph_name.emplace(operation.graph_name(), &operation);
  known().operations.push_back(std::move(owned));
  return {};
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kExpression:
      return "expression";
    case Kind::kKernel:
      return "kernel";
    case Kind::kPrecompiled:
      break;
  }
  return "precompiled";
}

std::string Operation::replaced_in_graphs() const {
  const std::string& replaced = definition.replaces;
  const size_t colons = replaced.find("::");
  const std::string qualified = replaced.substr(0, colons) + "." + replaced.substr(colons + 2);
  return qualified.find('.', colons + 1) == std::string::npos ? qualified + ".default" : qualified;
}

passes::CustomCall Operation::call() const {
  passes::CustomCall call{name, graph_name(), {}};
  for (const c10::Argument& argument : schema.arguments()) {
    call.arguments.push_back({argument.name(), is_tensor_argument(argument)});
  }
  return call;
}

Result<void> add_operations(const Records& records) {
  std::vector<std::unique_ptr<Operation>> checked;
  for (const RecordedDefinition& recorded : records.definitions) {
    const auto same = [&](const auto& other) { return other->name == recorded.name; };
    if (std::any_of(checked.begin(), checked.end(), same)) {
      return invalid_argument("custom operation " + std::string(recorded.name) + ": two definitions have this name");
    }
    TESSIQ_ASSIGN_OR_RETURN(auto operation, check(recorded, files_of(records, recorded.name)));
    checked.push_back(std::move(operation));
  }
  for (auto& operation : checked) {
    TESSIQ_RETURN_IF_ERROR(add(std::move(operation)));
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> refusals_of(const Records& records) {
  std::vector<std::pair<std::string, std::string>> refusals;
  for (const RecordedDefinition& recorded : records.definitions) {
    const auto checked = check(recorded, files_of(records, recorded.name));
    refusals.emplace_back(recorded.name, checked ? "" : checked.error().message());
  }
  return refusals;
}

std::vector<Operation*> operations() {
  const std::shared_lock lock(known().mutex);
  std::vector<Operation*> all;
  for (const auto& operation : known().operations) {
    all.push_back(operation.get());
  }
  std::sort(all.begin(), all.end(), [](const Operation* a, const Operation* b) { return a->name < b->name; });
  return all;
}

Operation* find_operation(std::string_view graph_name) {
  const std::shared_lock lock(known().mutex);
  const auto found = known().by_graph_name.find(std::string(graph_name));
  return found == known().by_graph_name.end() ? nullptr : found->second;
}

Result<const Records*> load_library(const std::string& path) {
  // Never closed: the operations' functions are in it.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return not_found("the library of custom operations " + path + " cannot be loaded: " + dlerror());
  }
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(library, "tessiq_operations_interface"));
  const auto recorded = reinterpret_cast<const Records* (*)()>(dlsym(library, "tessiq_operations"));
  if (version == nullptr || recorded == nullptr) {
    return unsupported(path + " is no library of custom operations: build it with tessiq_operation_library");
  }
  if (const std::string_view found = version(); found != TESSIQ_OPERATIONS_INTERFACE) {
    return unsupported(path + " was built for version " + std::string(found) +
                       " of the interface of operations, and this tessiq has version " TESSIQ_OPERATIONS_INTERFACE
                       ": build it again");
  }
  return recorded();
}

}  // namespace tessiq::custom
