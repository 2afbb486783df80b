// Every expression of the operation table, in every type it computes in, compiled for the host and run over layouts.
#include <set>

#include "analysis/expression.h"
#include "codegen/hostcc/compile_loops.h"
#include "hostcc/loop_case.h"
#include "hostcc/row_graphs.h"

namespace tessiq::loop_case {
namespace {

struct Layout {
  const char* name;
  int64_t row_stride;
  int64_t column_stride;
};
constexpr int64_t kRows = 8;
constexpr int64_t kColumns = 12;
const std::vector<Layout> kLayouts = {{"packed", kColumns, 1},  {"one row", 0, 1},
                                      {"one column", 1, 0},     {"one element", 0, 0},
                                      {"transposed", 1, kRows}, {"every second element", 3 * kColumns, 2}};

// Operand k of the n-th round takes layout n + k, so that every operand meets every layout and layouts meet each other.
Symbols symbols_of_round(const ir::Graph& graph, size_t round) {
  Symbols symbols = {{"rows", kRows}, {"columns", kColumns}};
  for (size_t k = 0; k < graph.parameters().size(); ++k) {
    const Layout& layout = kLayouts[(round + k) % kLayouts.size()];
    symbols[graph.parameters()[k]->name() + "_0"] = layout.row_stride;
    symbols[graph.parameters()[k]->name() + "_1"] = layout.column_stride;
  }
  const bool transposed_result = round % 2 == 1;
  symbols["q_0"] = transposed_result ? 1 : kColumns;
  symbols["q_1"] = transposed_result ? kRows : 1;
  return symbols;
}

double tolerance_of(const ir::Graph& graph) {
  const ir::Node& node = *graph.nodes().front();
  const auto step = analysis::element_step(node, *optable::find_op(node.op()));
  const auto expression = analysis::parse_expression(step->expression);
  EXPECT_TRUE(expression.ok()) << step->expression << ": " << expression.error().message();
  if (!expression || analysis::is_reproducible(*expression)) {
    return 0;
  }
  switch (step->element) {
    case ElementType::kFloat64:
      return 1e-14;
    case ElementType::kFloat32:
      return 1e-6;
    case ElementType::kFloat16:
      return 1e-3;
    default:
      return 8e-3;
  }
}

class ElementwiseRows : public testing::TestWithParam<int> {};

TEST_P(ElementwiseRows, GiveWhatTheEvaluatorGives) {
  for (const RowShape shape : {RowShape::kSymbolicStrides, RowShape::kPacked}) {
    const std::vector<RowGraph> rows = row_graphs(static_cast<ElementType>(GetParam()), shape);
    std::vector<emit::LoopKernel> kernels;
    for (const RowGraph& row : rows) {
      auto kernel = emit::describe_loop(*row.graph, 0);
      ASSERT_TRUE(kernel.ok()) << row.title << ": " << kernel.error().message();
      kernels.push_back(*std::move(kernel));
    }
    auto loaded = hostcc::compile_loops(kernels);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    int64_t compared = 0;
    for (size_t k = 0; k < rows.size(); ++k) {
      const size_t rounds = shape == RowShape::kPacked ? 1 : kLayouts.size();
      for (size_t round = 0; round < rounds; ++round) {
        LoopCase loop(*rows[k].graph, symbols_of_round(*rows[k].graph, round));
        const std::vector<void*> pointers = loop.pointers_for(kernels[k]);
        const std::vector<int64_t> sizes = loop.sizes_for(kernels[k]);
        auto launched = (*loaded)[k]->launch(pointers, sizes, loop.element_count(kernels[k]), nullptr, nullptr);
        ASSERT_TRUE(launched.ok()) << launched.error().message();
        const Comparison comparison = compare(loop, kernels[k], tolerance_of(*rows[k].graph));
        EXPECT_EQ(comparison.first_difference, "") << rows[k].title << ", round " << round;
        compared += comparison.compared;
      }
    }
    RecordProperty(shape == RowShape::kPacked ? "packed" : "symbolic", std::to_string(compared));
    EXPECT_GT(compared, static_cast<int64_t>(rows.size()) * 48);  // most elements have one right answer
    EXPECT_GT(rows.size(), 40U);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ElementwiseRows, testing::Range(0, ir::kElementTypeCount),
                         [](const testing::TestParamInfo<int>& type) {
                           return std::string(ir::element_type_name(static_cast<ElementType>(type.param)));
                         });

TEST(ElementwiseRows, EveryLoopOfTheTableIsCompiledForSomeType) {
  std::set<std::string> seen;
  for (int type = 0; type < ir::kElementTypeCount; ++type) {
    for (const RowGraph& row : row_graphs(static_cast<ElementType>(type), RowShape::kPacked)) {
      seen.insert(row.graph->nodes().front()->op());
    }
  }
  for (const optable::OpInfo* op : optable::all_ops()) {
    if (op->has_expression() && op->kernel) {
      EXPECT_TRUE(seen.contains(std::string(op->aten.empty() ? op->name : op->aten.front()))) << op->name;
    }
  }
}

}  // namespace
}  // namespace tessiq::loop_case
