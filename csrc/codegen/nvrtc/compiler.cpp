#include "codegen/nvrtc/compiler.h"

#include <algorithm>
#include <optional>

#include "cuda_api/cuda_error.h"
#include "cuda_api/nvrtc_api.h"

namespace tessiq::nvrtc {
namespace {

Result<const NvrtcApi*> api() {
  auto found = nvrtc_api();
  if (!found) {
    return unsupported("no NVRTC to compile kernels with: " + found.error().message());
  }
  return *found;
}

class Program {
 public:
  Program(const NvrtcApi& api, nvrtcProgram program) : api_(api), program_(program) {}
  ~Program() { api_.nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  nvrtcProgram get() const { return program_; }

 private:
  const NvrtcApi& api_;
  nvrtcProgram program_;
};

std::string log_of(const NvrtcApi& api, nvrtcProgram program) {
  size_t size = 0;
  if (api.nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size == 0) {
    return "";
  }
  std::string log(size, '\0');
  api.nvrtcGetProgramLog(program, log.data());
  log.resize(size - 1);  // NVRTC counts the terminating zero
  return log;
}

}  // namespace

Result<std::vector<int>> supported_architectures() {
  TESSIQ_ASSIGN_OR_RETURN(const NvrtcApi* nvrtc, api());
  int count = 0;
  TESSIQ_RETURN_IF_ERROR(check_nvrtc(*nvrtc, nvrtc->nvrtcGetNumSupportedArchs(&count), "counting architectures"));
  std::vector<int> architectures(static_cast<size_t>(count));
  TESSIQ_RETURN_IF_ERROR(
      check_nvrtc(*nvrtc, nvrtc->nvrtcGetSupportedArchs(architectures.data()), "listing architectures"));
  std::sort(architectures.begin(), architectures.end());
  return architectures;
}

Result<std::string> target_architecture(ComputeCapability card) {
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<int> known, supported_architectures());
  const int wanted = card.major * 10 + card.minor;
  std::optional<int> best;
  for (const int architecture : known) {
    best = architecture <= wanted ? std::optional(architecture) : best;
  }
  if (!best) {
    return unsupported("this NVRTC compiles for no GPU as old as compute capability " + std::to_string(card.major) +
                       "." + std::to_string(card.minor));
  }
  // Machine code runs on later cards of its own generation only.
  return (*best / 10 == card.major ? "sm_" : "compute_") + std::to_string(*best);
}

Result<std::string> version() {
  TESSIQ_ASSIGN_OR_RETURN(const NvrtcApi* nvrtc, api());
  int major = 0;
  int minor = 0;
  TESSIQ_RETURN_IF_ERROR(check_nvrtc(*nvrtc, nvrtc->nvrtcVersion(&major, &minor), "asking for NVRTC's version"));
  return std::to_string(major) + "." + std::to_string(minor);
}

Result<std::string> compile(const std::string& source, const std::string& architecture, std::string_view what) {
  TESSIQ_ASSIGN_OR_RETURN(const NvrtcApi* nvrtc, api());
  nvrtcProgram handle = nullptr;
  TESSIQ_RETURN_IF_ERROR(
      check_nvrtc(*nvrtc, nvrtc->nvrtcCreateProgram(&handle, source.c_str(), "loops.cu", 0, nullptr, nullptr),
                  "creating a program"));
  const Program program(*nvrtc, handle);
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++17"};
  int major = 0;
  int minor = 0;
  // Leaves out what generated text never uses, and halves the time of a small program.
  if (nvrtc->nvrtcVersion(&major, &minor) == NVRTC_SUCCESS && major >= 13) {
    options.push_back("--minimal");
  }
  std::vector<const char*> pointers;
  for (const std::string& option : options) {
    pointers.push_back(option.c_str());
  }
  const nvrtcResult status = nvrtc->nvrtcCompileProgram(handle, static_cast<int>(pointers.size()), pointers.data());
  if (status != NVRTC_SUCCESS) {
    return external("NVRTC refused " + std::string(what) + " for " + architecture + ": " +
                    nvrtc->nvrtcGetErrorString(status) + "\n" + log_of(*nvrtc, handle));
  }
  const bool machine_code = architecture.starts_with("sm_");
  size_t size = 0;
  const auto ask_size = machine_code ? nvrtc->nvrtcGetCUBINSize : nvrtc->nvrtcGetPTXSize;
  const auto ask_code = machine_code ? nvrtc->nvrtcGetCUBIN : nvrtc->nvrtcGetPTX;
  TESSIQ_RETURN_IF_ERROR(check_nvrtc(*nvrtc, ask_size(handle, &size), "asking for the size of a program"));
  std::string code(size, '\0');
  TESSIQ_RETURN_IF_ERROR(check_nvrtc(*nvrtc, ask_code(handle, code.data()), "reading a compiled program"));
  return code;
}

}  // namespace tessiq::nvrtc
