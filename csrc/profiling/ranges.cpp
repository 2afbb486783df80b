// Ranges through NVTX.
#include "profiling/ranges.h"

#include "cuda_api/nvtx_api.h"

namespace tessiq::profiling {
namespace {

class NvtxRanges final : public Ranges {
 public:
  explicit NvtxRanges(const NvtxApi& api) : api_(api) {}
  void push(const char* text) override { api_.nvtxRangePushA(text); }
  void pop() override { api_.nvtxRangePop(); }

 private:
  const NvtxApi& api_;
};

}  // namespace

Result<std::shared_ptr<Ranges>> nvtx_ranges() {
  TESSIQ_ASSIGN_OR_RETURN(const NvtxApi* api, nvtx_api());
  return std::shared_ptr<Ranges>(std::make_shared<NvtxRanges>(*api));
}

}  // namespace tessiq::profiling
