// Functions that the definitions of this folder share; each of those has one thing wrong with it, its name says which.
#pragma once

#include <ATen/TensorOperators.h>

#include <optional>
#include <stdexcept>
#include <tuple>

#include "pytorch/custom/definition.h"

namespace tessiq::test {

using custom::Launch;

inline at::Tensor reference_of_one(const at::Tensor& x) { return x + x; }
inline std::tuple<at::Tensor, at::Tensor> two_references_of_one(const at::Tensor& x) { return {x + x, x - x}; }
inline at::Tensor reference_of_two(const at::Tensor& x, const at::Tensor& y) { return x + y; }
inline at::Tensor reference_of_list(const std::vector<at::Tensor>& x) { return x.at(0) + 1; }
inline at::Tensor softmax_reference(const at::Tensor& self, int64_t dim, std::optional<at::ScalarType> /*dtype*/) {
  return self.softmax(dim);
}
inline Launch launch_of_one(const at::Tensor&, const at::Tensor& /*result*/) { return {}; }
inline Launch launch_of_two(const at::Tensor&, const at::Tensor&, const at::Tensor& /*result*/) { return {}; }
inline Launch launch_without_result(const at::Tensor&) { return {}; }
inline Launch softmax_launch(const at::Tensor&, int64_t, std::optional<at::ScalarType>, const at::Tensor&) {
  return {};
}
inline at::Tensor whole_softmax_reference(const at::Tensor& self, int64_t dim, bool /*half_to_float*/) {
  return self.softmax(dim);
}
inline Launch whole_softmax_launch(const at::Tensor&, int64_t, bool, const at::Tensor& /*result*/) { return {}; }
inline at::Tensor backward_without_result(const at::Tensor& gradient, const at::Tensor& /*x*/) { return gradient; }

// A kernel operation of one tensor with nothing wrong.
inline custom::Definition sound_kernel(const char* name) {
  custom::Definition definition;
  definition.schema = std::string(name) + "(Tensor x) -> Tensor";
  definition.reference = &reference_of_one;
  definition.launch = &launch_of_one;
  definition.element_types = {at::kFloat};
  return definition;
}

inline custom::Definition sound_expression(const char* name) {
  custom::Definition definition = sound_kernel(name);
  definition.launch = {};
  definition.expression = "$0 + $0";
  return definition;
}

}  // namespace tessiq::test
