// The four-operation chain g = sigmoid(relu(a * b + c)) as one generated kernel, beside a device copy of the same run.
//
//   tessiq_bench_chain [elements [type]]      67108864 f32
//
// Prints one JSON object: median microseconds of queued launches between two events, and bytes moved over that time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "codegen/loaded_kernel.h"
#include "ir/text/text.h"
#include "runtime/cuda/discovery.h"

namespace tessiq {
namespace {

constexpr DeviceIndex kIndex{1};
constexpr Stream kStream{kIndex, 0};
constexpr int kRounds = 30;
constexpr int kLaunchesPerRound = 10;

std::string chain_text(int64_t elements, const std::string& type) {
  const std::string t = type + "[" + std::to_string(elements) + "]";
  return "graph @main(%a: " + t + ", %b: " + t + ", %c: " + t + ") {\n  %m: " + t +
         " = mul(%a, %b) {tessiq.group = 0}\n" + "  %s: " + t + " = add(%m, %c) {tessiq.group = 0}\n  %r: " + t +
         " = relu(%s) {tessiq.group = 0}\n  %g: " + t + " = sigmoid(%r) {tessiq.group = 0}\n  return %g\n}\n";
}

// Median over rounds of the mean of the launches in a round: events cost about as much as a small kernel.
template <typename Launch>
Result<double> microseconds(Device& device, Launch launch) {
  TESSIQ_ASSIGN_OR_RETURN(const Event start, device.create_event(Timing::kYes));
  TESSIQ_ASSIGN_OR_RETURN(const Event end, device.create_event(Timing::kYes));
  std::vector<double> times;
  for (int round = -3; round < kRounds; ++round) {
    TESSIQ_RETURN_IF_ERROR(device.record_event(start, kStream));
    for (int k = 0; k < kLaunchesPerRound; ++k) {
      TESSIQ_RETURN_IF_ERROR(launch());
    }
    TESSIQ_RETURN_IF_ERROR(device.record_event(end, kStream));
    TESSIQ_RETURN_IF_ERROR(device.synchronize_event(end));
    TESSIQ_ASSIGN_OR_RETURN(const double milliseconds, device.elapsed_milliseconds(start, end));
    if (round >= 0) {
      times.push_back(milliseconds * 1000 / kLaunchesPerRound);
    }
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// For float32: the largest error over a sample, against double precision.
Result<double> largest_error(Device& device, const std::vector<float>& values, void* result) {
  std::vector<float> found(values.size());
  const Bytes size{found.size() * sizeof(float)};
  TESSIQ_RETURN_IF_ERROR(device.copy_to_host(found.data(), result, size, kStream, Blocking::kYes));
  double largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double x = double{values[i]} * values[i] + values[i];
    largest = std::max(largest, std::fabs(found[i] - 1 / (1 + std::exp(-std::max(x, 0.0)))));
  }
  return largest;
}

Result<void> run(int64_t elements, const std::string& type) {
  CudaDiscovery found = discover_cuda_devices(kIndex);
  if (found.devices.empty()) {
    return unsupported(found.note);
  }
  Device& device = *found.devices.front();
  TESSIQ_ASSIGN_OR_RETURN(const auto graph, ir::parse(chain_text(elements, type)));
  TESSIQ_ASSIGN_OR_RETURN(const emit::LoopKernel kernel, emit::describe_loop(*graph, 0));
  TESSIQ_ASSIGN_OR_RETURN(const auto kernels, codegen::compile_loops(device, {&kernel, 1}));
  const int element_size = ir::element_size(kernel.inputs.front().element);
  const Bytes size{static_cast<size_t>(elements * element_size)};
  std::vector<float> sample(std::min<size_t>(size.value / sizeof(float), size_t{1} << 20));
  for (size_t i = 0; i < sample.size(); ++i) {
    sample[i] = static_cast<float>(i % 1009) / 251.0F - 2.0F;
  }
  std::vector<void*> pointers;
  for (int k = 0; k < 4; ++k) {
    TESSIQ_ASSIGN_OR_RETURN(void* pointer, device.allocate(size));
    TESSIQ_RETURN_IF_ERROR(device.fill_bytes(pointer, 0, size, kStream));
    TESSIQ_RETURN_IF_ERROR(
        device.copy_to_device(pointer, sample.data(), Bytes{sample.size() * sizeof(float)}, kStream, Blocking::kYes));
    pointers.push_back(pointer);
  }
  TESSIQ_ASSIGN_OR_RETURN(const double chain, microseconds(device, [&] {
                            return kernels[0]->launch(pointers, {}, elements, nullptr, nullptr);
                          }));
  double error = -1;
  if (type == "f32") {
    TESSIQ_ASSIGN_OR_RETURN(error, largest_error(device, sample, pointers[3]));
  }
  TESSIQ_ASSIGN_OR_RETURN(const double copy, microseconds(device, [&] {
                            return device.copy_on_device(pointers[3], pointers[0], size, kStream);
                          }));
  TESSIQ_ASSIGN_OR_RETURN(const auto facts, kernels[0]->facts());
  TESSIQ_ASSIGN_OR_RETURN(const DeviceProperties properties, device.properties());
  const double bytes = static_cast<double>(size.value);
  std::printf(
      "{\"device\": \"%s\", \"elements\": %lld, \"type\": \"%s\", \"chain_us\": %.2f, \"chain_gb_s\": %.0f, "
      "\"copy_us\": %.2f, \"copy_gb_s\": %.0f, \"share_of_copy\": %.3f, \"registers\": %d, \"spilled_bytes\": %d, "
      "\"largest_error\": %.2e}\n",
      properties.name.c_str(), static_cast<long long>(elements), type.c_str(), chain, 4 * bytes / chain / 1e3, copy,
      2 * bytes / copy / 1e3, (4 * bytes / chain) / (2 * bytes / copy), facts[0].registers, facts[0].spilled_bytes,
      error);
  return {};
}

}  // namespace
}  // namespace tessiq

int main(int argument_count, char** arguments) {
  const int64_t elements = argument_count > 1 ? std::atoll(arguments[1]) : int64_t{1} << 26;
  const auto result = tessiq::run(elements, argument_count > 2 ? arguments[2] : "f32");
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    return 1;
  }
  return 0;
}
