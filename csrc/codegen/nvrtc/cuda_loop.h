// A generated loop loaded on one GPU.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

#include "codegen/loaded_kernel.h"
#include "codegen/nvrtc/variant_choice.h"
#include "cuda_api/driver_api.h"
#include "runtime/cuda/cuda_device.h"

namespace tessiq::nvrtc {

// Loops of several graphs that have the same text share one of these a device. Its module is never unloaded: that would
// race the driver's own teardown at exit.
struct CudaCode {
  std::string source;
  std::vector<CUfunction> entries;  // one a variant
};

// Grid and entry of one call, before anything is queued. What a graph node is built from.
struct LaunchShape {
  CUfunction entry = nullptr;
  unsigned blocks = 0;
  unsigned parts = 1;  // of a reduction: blocks that share a row; where there are several, the final entry follows
  unsigned threads = 0;
  unsigned shared_bytes = 0;
  size_t variant = 0;
};

// Bytes of shared memory that a launch may ask for.
int64_t shared_limit(const DeviceProperties& properties);

class LoadedCudaLoop : public codegen::LoadedKernel {
 public:
  LoadedCudaLoop(CudaDevice& device, const CudaDriverApi& driver, const emit::LoopKernel& kernel,
                 std::vector<emit::KernelVariant> variants, std::shared_ptr<const CudaCode> code,
                 const DeviceProperties& properties);

  Result<void> launch(std::span<void* const> pointers, std::span<const int64_t> sizes, int64_t element_count,
                      void* workspace, void* native_stream) override;
  int64_t workspace_bytes(std::span<void* const> pointers, std::span<const int64_t> sizes) const override;
  const std::string& source() const override { return code_->source; }
  Result<std::vector<codegen::EntryFacts>> facts() const override;

  LaunchShape shape(std::span<void* const> pointers, std::span<const int64_t> sizes, int64_t element_count) const;

 private:
  Result<void> queue(const LaunchShape& shape, std::span<void*> parameters, void* native_stream) const;
  unsigned parts(const emit::KernelVariant& variant, int64_t blocks, std::span<const int64_t> sizes) const;

  CudaDevice& device_;
  const CudaDriverApi& driver_;
  std::string name_;
  int reductions_;  // 0 for a loop
  int processors_;
  VariantChoice choice_;
  bool may_split_;  // a row among several blocks, for which a launch needs a workspace
  std::shared_ptr<const CudaCode> code_;
};

}  // namespace tessiq::nvrtc
