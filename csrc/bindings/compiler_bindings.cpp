// The compiler and the executor as Python sees them.
#include "bindings/bindings.h"

#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>

#include "bindings/exceptions.h"
#include "bindings/graph_builder.h"
#include "bindings/recorder_of_call.h"
#include "codegen/loaded_kernel.h"
#include "ir/text/text.h"
#include "optable/lookup.h"
#include "program/program.h"
#include "pytorch/executor/compiled_graph.h"

namespace py = pybind11;

namespace tessiq::bindings {
namespace {

using pytorch::CallValue;
using pytorch::CompiledGraph;
using pytorch::Recipe;

// Empties the list it is given (the boxed convention), so that arguments can die during the call.
std::vector<CallValue> take_arguments(const py::list& list, const program::Program& program) {
  std::vector<CallValue> arguments;
  arguments.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    PyObject* object = PyList_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i));
    if (THPVariable_Check(object)) {
      arguments.emplace_back(THPVariable_Unpack(object));
    } else if (PyLong_Check(object)) {
      arguments.emplace_back(static_cast<int64_t>(PyLong_AsLongLong(object)));
    } else if (i < program.inputs.size() && program.inputs[i].slot == program::kNoSlot) {
      arguments.emplace_back();
    } else {
      throw ErrorException(invalid_argument("argument " + std::to_string(i) +
                                            " of a compiled graph is neither a tensor nor an integer"));
    }
  }
  list.attr("clear")();
  return arguments;
}

py::list call(CompiledGraph& graph, const py::list& list) {
  const auto recorder = recorder_of_call();
  const profiling::OpenCall profiled(recorder.get(), graph.callee);
  std::vector<CallValue> arguments = take_arguments(list, graph.recipe->program);
  std::vector<CallValue> results;
  {
    const py::gil_scoped_release released;
    results = graph.executor.run(std::move(arguments));
  }
  py::list outputs;
  for (CallValue& result : results) {
    if (auto* tensor = std::get_if<at::Tensor>(&result)) {
      outputs.append(py::reinterpret_steal<py::object>(THPVariable_Wrap(std::move(*tensor))));
    } else if (const auto* integer = std::get_if<int64_t>(&result)) {
      outputs.append(py::int_(*integer));
    } else {
      outputs.append(py::none());
    }
  }
  return outputs;
}

// (name, is_tensor, on_device, symbol)
using InputTuple = std::tuple<std::string, bool, bool, std::string>;

program::CallingConvention convention_from(const std::vector<InputTuple>& inputs, const py::list& results) {
  program::CallingConvention convention;
  for (const auto& [name, is_tensor, on_device, symbol] : inputs) {
    convention.inputs.push_back({name, is_tensor, on_device ? program::Place::kDevice : program::Place::kHost, symbol});
  }
  // A value's name, None, or ("size", extent).
  for (const py::handle& result : results) {
    if (result.is_none()) {
      convention.results.emplace_back(program::ResultNone{});
    } else if (py::isinstance<py::str>(result)) {
      convention.results.emplace_back(program::ResultValue{result.cast<std::string>()});
    } else {
      convention.results.emplace_back(program::ResultSize{extent_from(result.cast<py::tuple>()[1])});
    }
  }
  return convention;
}

std::shared_ptr<Recipe> compile(const std::shared_ptr<ir::Graph>& graph, const std::vector<InputTuple>& inputs,
                                const py::list& results, int device, bool unclaimed_on_device, bool weighs_crossings,
                                bool interpret, std::vector<std::string> rewrites, bool keep_ir,
                                std::vector<bool> kept_inputs) {
  const program::CallingConvention convention = convention_from(inputs, results);
  pytorch::CompileOptions options;
  options.device = static_cast<DeviceIndex>(device);
  options.unclaimed = unclaimed_on_device ? analysis::UnclaimedPlace::kDevice : analysis::UnclaimedPlace::kHost;
  options.weighs_crossings = weighs_crossings;
  options.interpret = interpret;
  options.rewrites = std::move(rewrites);
  options.keep_ir = keep_ir;
  options.kept_inputs = std::move(kept_inputs);
  auto recipe = [&] {
    const py::gil_scoped_release released;
    return pytorch::compile_graph(*graph, convention, options);
  }();
  return value_or_throw(std::move(recipe));
}

py::dict counters(const CompiledGraph& graph) {
  const pytorch::ExecutorCounters& counters = graph.executor.counters();
  py::dict result;
  result["calls"] = counters.calls.load();
  result["launches"] = counters.launches.load();
  result["library_calls"] = counters.library_calls.load();
  result["dispatches_on_device"] = counters.dispatches_on_device.load();
  result["dispatches_on_host"] = counters.dispatches_on_host.load();
  result["copies_to_device"] = counters.copies_to_device.load();
  result["copies_to_host"] = counters.copies_to_host.load();
  result["bytes_to_device"] = counters.bytes_to_device.load();
  result["bytes_to_host"] = counters.bytes_to_host.load();
  result["kept_copies_used"] = graph.executor.kept_inputs().hits();
  return result;
}

py::list fates(const CompiledGraph& graph) {
  py::list list;
  for (const program::NodeFate& fate : graph.recipe->program.fates) {
    py::dict entry;
    entry["node"] = fate.node;
    entry["op"] = fate.op;
    entry["fate"] = std::string(program::fate_name(fate.fate));
    entry["kernel"] = fate.kernel;
    entry["moves_inputs"] = fate.moves_inputs;
    entry["reason"] = fate.reason;
    entry["location"] = fate.location;
    list.append(entry);
  }
  return list;
}

py::list kernels(const CompiledGraph& graph) {
  py::list list;
  const auto& program = graph.recipe->program;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    const emit::LoopKernel& kernel = program.kernels[i];
    py::dict entry;
    std::vector<std::string> reads;
    std::vector<std::string> writes;
    std::vector<std::string> steps;
    for (const auto& input : kernel.inputs) {
      reads.push_back(input.value);
    }
    for (const auto& output : kernel.outputs) {
      writes.push_back(output.value);
    }
    for (const auto& step : kernel.steps) {
      steps.push_back(step.value);
    }
    entry["name"] = kernel.name;
    entry["reads"] = reads;
    entry["writes"] = writes;
    entry["covers"] = steps;
    entry["symbolic"] = !kernel.size_arguments().empty();
    entry["source"] = graph.recipe->kernels[i]->source();
    list.append(entry);
  }
  return list;
}

py::list pass_log(const CompiledGraph& graph) {
  py::list list;
  for (const passes::PassRecord& record : graph.recipe->passes) {
    py::dict entry;
    entry["name"] = record.name;
    entry["changed"] = record.changed;
    entry["milliseconds"] = record.milliseconds;
    entry["ir_after"] = record.ir_after;
    list.append(entry);
  }
  return list;
}

py::dict kernel_counters() {
  const codegen::KernelCounters& counters = codegen::kernel_counters();
  py::dict result;
  result["cuda_launches"] = counters.cuda_launches.load();
  result["host_launches"] = counters.host_launches.load();
  result["library_calls"] = counters.library_calls.load();
  result["compilations"] = counters.compilations.load();
  result["disk_cache_hits"] = counters.disk_cache_hits.load();
  return result;
}

}  // namespace

void bind_compiler(py::module_& module) {
  bind_graph_builder(module);
  py::class_<Recipe, std::shared_ptr<Recipe>>(module, "Recipe");
  py::class_<CompiledGraph, std::shared_ptr<CompiledGraph>>(module, "CompiledGraph", py::dynamic_attr())
      .def(py::init([](const std::shared_ptr<Recipe>& recipe, std::string name) {
             return std::make_shared<CompiledGraph>(recipe, std::move(name));
           }),
           py::arg("recipe"), py::arg("name"))
      .def("__call__", &call, py::arg("arguments"))
      .def_property_readonly("imported_ir", [](const CompiledGraph& graph) { return graph.recipe->imported; })
      .def_property_readonly("final_ir", [](const CompiledGraph& graph) { return graph.recipe->final; })
      .def_property_readonly("program",
                             [](const CompiledGraph& graph) { return program::to_text(graph.recipe->program); })
      .def_property_readonly("pass_milliseconds",
                             [](const CompiledGraph& graph) { return graph.recipe->pass_milliseconds; })
      .def_property_readonly("kernel_milliseconds",
                             [](const CompiledGraph& graph) { return graph.recipe->kernel_milliseconds; })
      .def_property_readonly("device_index", [](const CompiledGraph& graph) { return to_int(graph.recipe->device); })
      .def("passes", &pass_log)
      .def("fates", &fates)
      .def("kernels", &kernels)
      .def("counters", &counters)
      .def("drop_kept_inputs", [](CompiledGraph& graph) { graph.executor.kept_inputs().clear(); });
  module.def("compile_graph", &compile, py::arg("graph"), py::arg("inputs"), py::arg("results"), py::arg("device"),
             py::arg("unclaimed_on_device"), py::arg("weighs_crossings"), py::arg("interpret"), py::arg("rewrites"),
             py::arg("keep_ir"), py::arg("kept_inputs"));
  module.def("kernel_counters", &kernel_counters);
  module.def("has_kernel", [](const std::string& op) {
    const optable::OpInfo* row = optable::find_op(op);
    return row != nullptr && row->kernel;
  });
}

}  // namespace tessiq::bindings
