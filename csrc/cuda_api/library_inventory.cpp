// The rows of library_inventory.h, and how each library spells its version.
#include "cuda_api/library_inventory.h"

#include "cuda_api/dynamic_library.h"

#if TESSIQ_HAS_CUDA
#include <cuda_runtime_api.h>
#if __has_include(<cudnn_version.h>)
#include <cudnn_version.h>
#endif
#endif

namespace tessiq {

#if TESSIQ_HAS_CUDA
namespace {

std::string dotted(size_t major, size_t minor) { return std::to_string(major) + "." + std::to_string(minor); }

// Called by name alone, so that a library of any version can be asked.
template <typename Function>
Function* find(const DynamicLibrary& library, const char* name) {
  Result<void*> address = library.symbol(name);
  return address ? reinterpret_cast<Function*>(*address) : nullptr;
}

// cuDriverGetVersion and cudaRuntimeGetVersion: 13010 is 13.1.
template <const char* const& kName>
std::string cuda_version(const DynamicLibrary& library) {
  auto* ask = find<int(int*)>(library, kName);
  int version = 0;
  return ask != nullptr && ask(&version) == 0 ? dotted(version / 1000, version % 1000 / 10) : "";
}

std::string nvrtc_version(const DynamicLibrary& library) {
  auto* ask = find<int(int*, int*)>(library, "nvrtcVersion");
  int major = 0;
  int minor = 0;
  return ask != nullptr && ask(&major, &minor) == 0 ? dotted(major, minor) : "";
}

// cublasLtGetVersion and cudnnGetVersion: 130100 and 91200 are 13.1.0 and 9.12.0.
template <const char* const& kName, size_t kMajor>
std::string packed_version(const DynamicLibrary& library) {
  auto* ask = find<size_t()>(library, kName);
  if (ask == nullptr) {
    return "";
  }
  const size_t version = ask();
  return dotted(version / kMajor, version % kMajor / 100) + "." + std::to_string(version % 100);
}

constexpr const char* kDriver = "cuDriverGetVersion";
constexpr const char* kRuntime = "cudaRuntimeGetVersion";
constexpr const char* kCublasLt = "cublasLtGetVersion";
constexpr const char* kCudnn = "cudnnGetVersion";

LibraryFact fact_of(const std::string& name, std::string (*version)(const DynamicLibrary&)) {
  auto library = DynamicLibrary::open({name});
  if (!library) {
    return {name, "", "", library.error().message()};
  }
  return {name, library->path(), version(*library), ""};
}

}  // namespace

std::vector<LibraryFact> cuda_library_facts() {
  const std::string major = std::to_string(CUDART_VERSION / 1000);
  std::vector<LibraryFact> facts;
  facts.push_back(fact_of("libcuda.so.1", cuda_version<kDriver>));
  facts.push_back(fact_of("libcudart.so." + major, cuda_version<kRuntime>));
  facts.push_back(fact_of("libnvrtc.so." + major, nvrtc_version));
  facts.push_back(fact_of("libcublasLt.so." + major, packed_version<kCublasLt, 10000>));
#ifdef CUDNN_MAJOR
  facts.push_back(fact_of("libcudnn.so." + std::to_string(CUDNN_MAJOR), packed_version<kCudnn, 10000>));
#endif
  return facts;
}
#else
std::vector<LibraryFact> cuda_library_facts() { return {}; }
#endif

}  // namespace tessiq
