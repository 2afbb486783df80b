// The passes that exist, by name.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "passes/manager/pass.h"
#include "support/nearest_name.h"

namespace tessiq::passes {
namespace {

struct Registered {
  PassFactory factory;
  std::string description;
};

// A function's static: initialisers of other files register before this file's own globals would exist.
struct Registry {
  std::mutex mutex;
  std::map<std::string, Registered, std::less<>> passes;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

bool register_pass(const PassFactory& factory) {
  const std::unique_ptr<Pass> pass = factory();
  const std::lock_guard lock(registry().mutex);
  const bool is_new =
      registry().passes.try_emplace(std::string(pass->name()), factory, std::string(pass->description())).second;
  if (!is_new) {
    std::fprintf(stderr, "tessiq: two passes are named \"%s\"\n", std::string(pass->name()).c_str());
    std::abort();
  }
  return is_new;
}

bool has_pass(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  return registry().passes.contains(name);
}

std::vector<PassInfo> registered_passes() {
  const std::lock_guard lock(registry().mutex);
  std::vector<PassInfo> passes;
  for (const auto& [name, registered] : registry().passes) {
    passes.push_back({name, registered.description});
  }
  return passes;
}

Result<std::unique_ptr<Pass>> create_pass(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().passes.find(name);
  if (found != registry().passes.end()) {
    return found->second.factory();
  }
  std::vector<std::string> names;
  std::string list;
  for (const auto& [registered_name, registered] : registry().passes) {
    names.push_back(registered_name);
    list += (list.empty() ? "" : ", ") + registered_name;
  }
  std::string message = "there is no pass \"" + std::string(name) + "\"";
  if (const std::string* nearest = nearest_name(name, names)) {
    message += ", did you mean \"" + *nearest + "\"?";
  }
  return not_found(message + "; passes: " + (list.empty() ? "none are linked" : list));
}

}  // namespace tessiq::passes
