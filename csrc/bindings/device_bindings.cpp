// Devices, their memory and the fallback ledger, as python/tessiq/device uses them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Generator.h>

#include <string>

#include "bindings/bindings.h"
#include "bindings/exceptions.h"
#include "cuda_api/dynamic_library.h"
#include "pytorch/device/generator.h"
#include "pytorch/device/identity.h"
#include "pytorch/eager/fallback_policy.h"
#include "pytorch/eager/lender.h"
#include "pytorch/eager/transfer_counts.h"

namespace py = pybind11;

namespace tessiq::bindings {
namespace {

DeviceIndex index_of(int index) { return static_cast<DeviceIndex>(index); }

Device& device_or_throw(int index) {
  value_or_throw(pytorch::registry().device(index_of(index)));
  return pytorch::device_at(index_of(index));
}

py::dict stat_dict(const PooledStat& stat) {
  py::dict pools;
  const auto add = [&pools](const char* name, const Stat& pool) {
    py::dict values;
    values["current"] = pool.current;
    values["peak"] = pool.peak;
    values["allocated"] = pool.allocated;
    values["freed"] = pool.freed;
    pools[name] = values;
  };
  add("all", stat.all);
  add("large_pool", stat.large_pool);
  add("small_pool", stat.small_pool);
  return pools;
}

py::dict memory_stats(int index) {
  device_or_throw(index);
  const AllocatorStats stats = value_or_throw(pytorch::registry().allocator(index_of(index)))->stats();
  py::dict result;
  result["allocated_bytes"] = stat_dict(stats.allocated_bytes);
  result["reserved_bytes"] = stat_dict(stats.reserved_bytes);
  result["active_bytes"] = stat_dict(stats.active_bytes);
  result["requested_bytes"] = stat_dict(stats.requested_bytes);
  result["allocation"] = stat_dict(stats.allocation);
  result["segment"] = stat_dict(stats.segment);
  result["num_cache_hits"] = stats.cache_hits;
  result["num_cache_misses"] = stats.cache_misses;
  result["num_alloc_retries"] = stats.retries;
  result["num_ooms"] = stats.out_of_memory;
  result["num_sync_all_streams"] = stats.synchronizations;
  return result;
}

void bind_devices(py::module_& module) {
  module.def("device_count", [] { return pytorch::registry().device_count(); });
  module.def("discovery_note", [] { return pytorch::registry().discovery_note(); });
  module.def("in_bad_fork", &pytorch::in_bad_fork);
  module.def("current_device", [] { return to_int(current_device()); });
  module.def(
      "set_device",
      [](int index) {
        pytorch::registry();
        value_or_throw(set_current_device(index_of(index)));
      },
      py::arg("index"));
  module.def(
      "synchronize",
      [](int index) {
        Device& device = device_or_throw(index);
        const py::gil_scoped_release no_gil;
        value_or_throw(device.synchronize());
      },
      py::arg("index"));
  module.def(
      "device_properties",
      [](int index) {
        const DeviceProperties properties = value_or_throw(device_or_throw(index).properties());
        return py::make_tuple(properties.name, properties.total_memory.value, properties.compute_major,
                              properties.compute_minor, properties.multiprocessor_count, properties.l2_cache.value);
      },
      py::arg("index"), "name, total memory in bytes, compute capability (two numbers), multiprocessors, L2 bytes");
  module.def(
      "device_kind",
      [](int index) {
        const DeviceKind kind = device_or_throw(index).kind();
        return kind == DeviceKind::kHost ? "host" : kind == DeviceKind::kCuda ? "cuda" : "null";
      },
      py::arg("index"));
  module.def(
      "can_access_peer",
      [](int index, int peer) { return device_or_throw(index).can_access_peer(device_or_throw(peer)); },
      py::arg("index"), py::arg("peer"));
  module.def(
      "add_library_directory", [](std::string path) { add_library_directory(std::move(path)); }, py::arg("path"));
}

void bind_memory(py::module_& module) {
  module.def("memory_stats", &memory_stats, py::arg("index"));
  module.def(
      "memory_info",
      [](int index) {
        const MemoryInfo info = value_or_throw(device_or_throw(index).memory_info());
        return py::make_tuple(info.free.value, info.total.value);
      },
      py::arg("index"), "free and total memory in bytes");
  module.def(
      "empty_cache",
      [](int index) {
        device_or_throw(index);
        CachingAllocator* allocator = value_or_throw(pytorch::registry().allocator(index_of(index)));
        const py::gil_scoped_release no_gil;
        return allocator->empty_cache().value;
      },
      py::arg("index"));
  module.def(
      "reset_peak_memory_stats",
      [](int index) {
        device_or_throw(index);
        value_or_throw(pytorch::registry().allocator(index_of(index)))->reset_peak_stats();
      },
      py::arg("index"));
  module.def(
      "reset_accumulated_memory_stats",
      [](int index) {
        device_or_throw(index);
        value_or_throw(pytorch::registry().allocator(index_of(index)))->reset_accumulated_stats();
      },
      py::arg("index"));
}

void bind_random(py::module_& module) {
  module.def(
      "default_generator",
      [](int index) {
        device_or_throw(index);
        return py::reinterpret_steal<py::object>(THPGenerator_Wrap(pytorch::default_generator(index_of(index))));
      },
      py::arg("index"));
  module.def("seed_all", &pytorch::seed_all_devices, py::arg("seed"));
}

constexpr const char* kModeNames[] = {"borrow", "cpu", "error"};

void bind_fallback(py::module_& module) {
  module.def("fallback_mode", [] { return kModeNames[static_cast<int>(pytorch::fallback_mode())]; });
  module.def(
      "set_fallback_mode",
      [](const std::string& name) {
        for (int mode = 0; mode < 3; ++mode) {
          if (name == kModeNames[mode]) {
            pytorch::set_fallback_mode(static_cast<pytorch::FallbackMode>(mode));
            return;
          }
        }
        throw ErrorException(invalid_argument("no fallback mode named '" + name + "'"));
      },
      py::arg("name"));
  module.def("fallback_counts", [] {
    py::dict result;
    for (const auto& [name, counts] : pytorch::fallback_counts()) {
      py::dict tiers;
      tiers["borrow"] = counts.borrow;
      tiers["cpu"] = counts.cpu;
      result[py::str(name)] = tiers;
    }
    return result;
  });
  module.def("reset_fallback_counts", &pytorch::reset_fallback_counts);
  module.def(
      "can_borrow",
      [](int index) {
        device_or_throw(index);
        const auto lender = pytorch::lender_for(index_of(index));
        return lender && lender->device.is_cuda();
      },
      py::arg("index"));
  module.def("transfer_counts", [] {
    const pytorch::TransferCounts counts = pytorch::transfer_counts();
    py::dict result;
    result["to_device"] = counts.to_device;
    result["to_host"] = counts.to_host;
    result["between_devices"] = counts.between_devices;
    result["lent_copies"] = counts.lent_copies;
    return result;
  });
  module.def("reset_transfer_counts", &pytorch::reset_transfer_counts);
}

}  // namespace

void bind_device(py::module_& module) {
  bind_devices(module);
  bind_memory(module);
  bind_random(module);
  bind_fallback(module);
}

}  // namespace tessiq::bindings
