// A profile being recorded, and its records as Python values.
//
// Decides how a backward pass that autograd runs in a thread of its own finds the profile of the thread that called
// backward(): among the Python objects that PyTorch carries from a thread to those working for it.
#include <ATen/ThreadLocalPythonObjects.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/PyInterpreter.h>

#include <map>

#include "bindings/bindings.h"
#include "bindings/exceptions.h"
#include "bindings/recorder_of_call.h"
#include "profiling/label.h"
#include "pytorch/executor/torch_ranges.h"

namespace py = pybind11;

namespace tessiq::bindings {
namespace {

using at::impl::ThreadLocalPythonObjects;
using profiling::CallRecords;
using profiling::Recorder;
using profiling::Region;

constexpr const char* kCarriedAs = "tessiq.recorder";

std::shared_ptr<Recorder> start(bool device_time, bool nvtx, bool torch_ranges, int launches) {
  profiling::RecorderOptions options;
  options.device_time = device_time;
  options.launches = launches;
  if (nvtx) {
    options.ranges.push_back(value_or_throw(profiling::nvtx_ranges()));
  }
  if (torch_ranges) {
    options.ranges.push_back(pytorch::torch_ranges());
  }
  auto recorder = value_or_throw(Recorder::start(std::move(options)));
  PyObject* object = py::cast(recorder).release().ptr();
  ThreadLocalPythonObjects::set(kCarriedAs, std::make_shared<c10::SafePyObject>(object, getPyInterpreter()));
  return recorder;
}

// One number for each program, in the order their first calls began.
using GraphNumbers = std::map<const program::Program*, int>;

py::dict record_of(const CallRecords& records, const Region& region, const GraphNumbers& graphs, size_t first) {
  const profiling::Callee& callee = records.calls[static_cast<size_t>(region.call)];
  const profiling::Label label = profiling::label(records, region);
  py::dict record;
  record["kind"] = std::string(profiling::kind_name(region.kind));
  record["name"] = label.name;
  record["operation"] = label.operation;
  record["covers"] = label.covers;
  record["graph"] = graphs.at(callee.program.get());
  record["device"] = to_int(callee.index);
  record["thread"] = records.thread;
  record["parent"] = region.parent < 0 ? -1 : region.parent + static_cast<int64_t>(first);
  record["instruction"] = region.instruction;
  record["failed"] = region.failed;
  record["bytes"] = region.bytes;
  record["host_start_ns"] = region.start;
  record["host_ns"] = region.duration;
  record["host_exclusive_ns"] = region.exclusive();
  record["device_ns"] = py::none();
  if (region.device) {
    record["device_ns"] =
        py::make_tuple(region.device->start, region.device->duration, region.device->duration - region.device->inside);
  }
  record["back_to_back"] = py::none();
  if (region.back_to_back) {
    record["back_to_back"] = py::make_tuple(region.back_to_back->launches, region.back_to_back->device_milliseconds,
                                            region.back_to_back->host_milliseconds);
  }
  return record;
}

py::list stop(Recorder& recorder) {
  if (Recorder::of_this_thread().get() == &recorder) {
    ThreadLocalPythonObjects::set(kCarriedAs, nullptr);
  }
  auto calls = [&] {
    const py::gil_scoped_release released;
    return recorder.stop();
  }();
  const std::vector<CallRecords> all = value_or_throw(std::move(calls));
  GraphNumbers graphs;
  py::list list;
  for (const CallRecords& records : all) {
    for (const profiling::Callee& callee : records.calls) {
      graphs.emplace(callee.program.get(), static_cast<int>(graphs.size()));
    }
    const size_t first = list.size();
    for (const Region& region : records.regions) {
      list.append(record_of(records, region, graphs, first));
    }
  }
  return list;
}

}  // namespace

std::shared_ptr<Recorder> look_up_recorder() {
  if (auto own = Recorder::of_this_thread()) {
    return own;
  }
  if (!ThreadLocalPythonObjects::contains(kCarriedAs)) {
    return nullptr;
  }
  const std::shared_ptr<c10::SafePyObject>& carried = ThreadLocalPythonObjects::get(kCarriedAs);
  return carried == nullptr ? nullptr : py::handle(carried->ptr(getPyInterpreter())).cast<std::shared_ptr<Recorder>>();
}

void bind_profiling(py::module_& module) {
  py::class_<Recorder, std::shared_ptr<Recorder>>(module, "Recorder").def("stop", &stop);
  module.def("start_recorder", &start, py::arg("device_time"), py::arg("nvtx"), py::arg("torch_ranges"),
             py::arg("launches"));
  module.def("is_recording", [] { return Recorder::of_this_thread() != nullptr; });
}

}  // namespace tessiq::bindings
