// Whether a tensor of ours and one on the host may take each other's place behind the same Python object.
//
// `module.to(device)` asks. On no, it makes a new parameter for each name: two names of one parameter would come apart,
// and an optimiser made before would go on with the old ones.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace tessiq::pytorch {
namespace {

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && (tensor.is_cpu() || tensor.is_privateuseone());
}

bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  return (is_plain(self) && is_plain(from)) || self.key_set() == from.key_set();
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_has_compatible_shallow_copy_type", &has_compatible_shallow_copy_type);
}

}  // namespace
}  // namespace tessiq::pytorch
