// The pattern that every table of a CUDA library shares: a list macro, a struct of pointers, and a loader.
//
// Decides how a name in a list becomes a typed member and a symbol. A list is written
//     #define TESSIQ_THING_FUNCTIONS(X) X(thingCreate) X(thingDestroy)
// Internal to csrc/cuda_api.
#pragma once

#include "cuda_api/dynamic_library.h"

// A member has the name of the function and the type of the real prototype, so a wrong argument does not compile.
#define TESSIQ_FUNCTION_MEMBER(name) decltype(&::name) name = nullptr;

// Two steps, so that a name which a header redirects (thingCreate -> thingCreate_v2) is looked up redirected, like the
// prototype that decltype saw.
#define TESSIQ_STRINGIFY_EXPANDED(name) #name
#define TESSIQ_SYMBOL_NAME(name) TESSIQ_STRINGIFY_EXPANDED(name)

// Inside a function that returns a Result: fills `table.name` from `library`.
#define TESSIQ_LOAD_FUNCTION(name) TESSIQ_RETURN_IF_ERROR(load_function(library, TESSIQ_SYMBOL_NAME(name), table.name));

namespace tessiq {

template <typename Function>
Result<void> load_function(const DynamicLibrary& library, const char* name, Function*& target) {
  TESSIQ_ASSIGN_OR_RETURN(void* address, library.symbol(name));
  target = reinterpret_cast<Function*>(address);
  return {};
}

}  // namespace tessiq
