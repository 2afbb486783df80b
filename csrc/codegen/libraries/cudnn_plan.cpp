// One operation a graph. Nothing that cuDNN's headers throw leaves this file: they do where they miss a function.
#include "codegen/libraries/cudnn_plan.h"

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include <array>
#include <mutex>
#include <vector>

namespace cudnn_frontend {
// Where its headers look functions up.
void* cudnn_dlhandle = nullptr;
}  // namespace cudnn_frontend

namespace tessiq::libraries {
namespace {

namespace fe = cudnn_frontend;
using Computes = ConvolutionProblem::Computes;
using TensorReference = std::shared_ptr<fe::graph::Tensor_attributes>;

// A plan that wants more is passed over: convolutions of large images have one that copies them many times over.
constexpr int64_t kMostWorkspace = int64_t{1} << 30;

// The order in which pointers are handed over.
enum Uid : int64_t { kLeft = 1, kRight = 2, kResult = 3 };

fe::DataType_t data_type(ir::ElementType element) {
  switch (element) {
    case ir::ElementType::kFloat16:
      return fe::DataType_t::HALF;
    case ir::ElementType::kBFloat16:
      return fe::DataType_t::BFLOAT16;
    case ir::ElementType::kFloat64:
      return fe::DataType_t::DOUBLE;
    default:
      return fe::DataType_t::FLOAT;
  }
}

std::vector<int64_t> first(const auto& numbers, int count) { return {numbers.begin(), numbers.begin() + count}; }

// Numerical liberties a plan may not take.
std::vector<fe::NumericalNote_t> refused_notes(const ConvolutionProblem& problem) {
  std::vector<fe::NumericalNote_t> notes = {fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION};
  if (problem.element == ir::ElementType::kFloat32 && !problem.allow_tf32) {
    notes.push_back(fe::NumericalNote_t::TENSOR_CORE);
    notes.push_back(fe::NumericalNote_t::DOWN_CONVERT_INPUTS);
  }
  if (problem.deterministic) {
    notes.push_back(fe::NumericalNote_t::NONDETERMINISTIC);
  }
  return notes;
}

template <typename Attributes>
Attributes numbers_of(const ConvolutionProblem& problem) {
  const int spatial = problem.axes - 2;
  return Attributes()
      .set_padding(first(problem.padding, spatial))
      .set_stride(first(problem.stride, spatial))
      .set_dilation(first(problem.dilation, spatial));
}

const ConvolutionTensor& result_of(const ConvolutionProblem& problem) {
  switch (problem.computes) {
    case Computes::kImage:
      return problem.image;
    case Computes::kFilter:
      return problem.filter;
    case Computes::kResponse:
      break;
  }
  return problem.response;
}

std::string text_of(const ConvolutionProblem& problem) {
  const auto sizes = [&](const ConvolutionTensor& tensor) {
    std::string text;
    for (int axis = 0; axis < problem.axes; ++axis) {
      text += (axis == 0 ? "" : "x") + std::to_string(tensor.sizes[static_cast<size_t>(axis)]);
    }
    return text;
  };
  return "convolution of " + std::string(ir::element_type_name(problem.element)) + " " + sizes(problem.image) +
         " with " + sizes(problem.filter);
}

TensorReference add_tensor(fe::graph::Graph& graph, const ConvolutionProblem& problem, const ConvolutionTensor& shape,
                           Uid uid) {
  return graph.tensor(fe::graph::Tensor_attributes()
                          .set_dim(first(shape.sizes, problem.axes))
                          .set_stride(first(shape.strides, problem.axes))
                          .set_uid(uid));
}

TensorReference add_operation(fe::graph::Graph& graph, const ConvolutionProblem& problem) {
  const auto left =
      add_tensor(graph, problem, problem.computes == Computes::kImage ? problem.response : problem.image, kLeft);
  const auto right =
      add_tensor(graph, problem, problem.computes == Computes::kFilter ? problem.response : problem.filter, kRight);
  switch (problem.computes) {
    case Computes::kImage:
      return graph.conv_dgrad(left, right, numbers_of<fe::graph::Conv_dgrad_attributes>(problem));
    case Computes::kFilter:
      return graph.conv_wgrad(right, left, numbers_of<fe::graph::Conv_wgrad_attributes>(problem));
    case Computes::kResponse:
      break;
  }
  return graph.conv_fprop(left, right, numbers_of<fe::graph::Conv_fprop_attributes>(problem));
}

}  // namespace

struct ConvolutionPlan::Graph : fe::graph::Graph {};

ConvolutionPlan::ConvolutionPlan() : graph_(std::make_unique<Graph>()) {}
ConvolutionPlan::~ConvolutionPlan() = default;

Result<std::shared_ptr<ConvolutionPlan>> ConvolutionPlan::create(void* library, cudnnHandle_t handle,
                                                                 const ConvolutionProblem& problem) {
  static std::once_flag once;
  std::call_once(once, [&] { fe::cudnn_dlhandle = library; });
  std::shared_ptr<ConvolutionPlan> plan(new ConvolutionPlan());
  try {
    TESSIQ_RETURN_IF_ERROR(plan->build(handle, problem));
  } catch (const std::exception& error) {
    return unsupported(text_of(problem) + ": " + error.what());
  }
  return plan;
}

Result<void> ConvolutionPlan::build(cudnnHandle_t handle, const ConvolutionProblem& problem) {
  const auto type = data_type(problem.element);
  const auto wide = problem.element == ir::ElementType::kFloat64 ? fe::DataType_t::DOUBLE : fe::DataType_t::FLOAT;
  graph_->set_io_data_type(type).set_intermediate_data_type(wide).set_compute_data_type(wide);
  const ConvolutionTensor& shape = result_of(problem);
  add_operation(*graph_, problem)
      ->set_output(true)
      .set_uid(kResult)
      .set_dim(first(shape.sizes, problem.axes))
      .set_stride(first(shape.strides, problem.axes));
  const auto checked = [&](fe::error_t status) -> Result<void> {
    return status.is_good() ? Result<void>()
                            : Result<void>(unsupported(text_of(problem) + ": cuDNN says " + status.get_message()));
  };
  TESSIQ_RETURN_IF_ERROR(checked(graph_->validate()));
  TESSIQ_RETURN_IF_ERROR(checked(graph_->build_operation_graph(handle)));
  TESSIQ_RETURN_IF_ERROR(checked(graph_->create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK})));
  graph_->deselect_numeric_notes(refused_notes(problem)).deselect_workspace_greater_than(kMostWorkspace);
  TESSIQ_RETURN_IF_ERROR(checked(graph_->check_support()));
  TESSIQ_RETURN_IF_ERROR(checked(graph_->build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE)));
  TESSIQ_RETURN_IF_ERROR(checked(graph_->get_workspace_size(workspace_)));
  return checked(graph_->get_plan_name(name_));
}

Result<void> ConvolutionPlan::run(cudnnHandle_t handle, const ConvolutionPointers& pointers, void* workspace) {
  std::array<void*, 3> ordered = {const_cast<void*>(pointers.left), const_cast<void*>(pointers.right), pointers.result};
  try {
    fe::error_t status = graph_->execute(handle, ordered.data(), static_cast<int>(ordered.size()), workspace);
    return status.is_good() ? Result<void>() : Result<void>(external("a convolution: " + status.get_message()));
  } catch (const std::exception& error) {
    return external(std::string("a convolution: ") + error.what());
  }
}

}  // namespace tessiq::libraries
