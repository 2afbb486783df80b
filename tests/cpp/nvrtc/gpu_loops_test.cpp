// Generated loops on a GPU: every variant of a kernel, views at odd offsets, streams, and the whole table.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include "analysis/expression.h"
#include "codegen/nvrtc/compile_loops.h"
#include "hostcc/loop_case.h"
#include "hostcc/row_graphs.h"
#include "ir/text/text.h"
#include "runtime/cuda/discovery.h"

namespace tessiq::loop_case {
namespace {

constexpr DeviceIndex kIndex{1};
constexpr Stream kDefault{kIndex, 0};

class GpuLoops : public testing::Test {
 protected:
  void SetUp() override {
    found_ = discover_cuda_devices(kIndex);
    if (found_.devices.empty()) {
      GTEST_SKIP() << found_.note;
    }
  }
  void TearDown() override { release(); }
  Device& device() { return *found_.devices.front(); }

  void release() {
    for (const auto& [pointer, size] : memory_) {
      device().deallocate(pointer, size);
    }
    memory_.clear();
  }

  // A copy of the bytes on the device, `shift` bytes behind an aligned address.
  std::byte* upload(const std::vector<std::byte>& bytes, size_t shift) {
    const Bytes size{bytes.size() + shift};
    auto pointer = device().allocate(size);
    EXPECT_TRUE(pointer.ok()) << pointer.error().message();
    memory_.emplace_back(*pointer, size);
    std::byte* start = static_cast<std::byte*>(*pointer) + shift;
    EXPECT_TRUE(device().copy_to_device(start, bytes.data(), Bytes{bytes.size()}, kDefault, Blocking::kYes).ok());
    return start;
  }

  // Runs the kernel over the case's tensors and reads its results back. `shift_elements` moves every tensor off its
  // alignment.
  void run(LoopCase& loop, const emit::LoopKernel& kernel, codegen::LoadedKernel& loaded, int shift_elements) {
    loop.pointers_for(kernel);
    std::vector<void*> pointers;
    for (const std::vector<emit::LoopTensor>* tensors : {&kernel.inputs, &kernel.outputs}) {
      for (const emit::LoopTensor& tensor : *tensors) {
        const auto shift = static_cast<size_t>(shift_elements * ir::element_size(tensor.element));
        pointers.push_back(upload(loop.tensors.at(tensor.value).bytes, shift));
      }
    }
    auto launched = loaded.launch(pointers, loop.sizes_for(kernel), loop.element_count(kernel), nullptr, nullptr);
    ASSERT_TRUE(launched.ok()) << launched.error().message();
    for (size_t k = 0; k < kernel.outputs.size(); ++k) {
      Tensor& output = loop.tensors.at(kernel.outputs[k].value);
      auto copied = device().copy_to_host(output.bytes.data(), pointers[kernel.inputs.size() + k],
                                          Bytes{output.bytes.size()}, kDefault, Blocking::kYes);
      ASSERT_TRUE(copied.ok()) << copied.error().message();
    }
    release();
  }

  void check(const std::string& text, const Symbols& symbols, double tolerance) {
    auto graph = ir::parse(text);
    ASSERT_TRUE(graph.ok()) << graph.error().message();
    auto kernel = emit::describe_loop(**graph, 0);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message();
    auto loaded = nvrtc::compile_loops(device(), {&*kernel, 1});
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    for (const int shift : {0, 1, 2}) {
      LoopCase loop(**graph, symbols);
      run(loop, *kernel, *loaded->front(), shift);
      EXPECT_EQ(compare(loop, *kernel, tolerance, Rounding::kMayBeFused).first_difference, "")
          << "shifted by " << shift;
    }
  }

  CudaDiscovery found_;
  std::vector<std::pair<void*, Bytes>> memory_;
};

// Lengths around a thread's vector, a block, and a block's vectors.
TEST_F(GpuLoops, AChainOfEveryLength) {
  for (const int64_t length : {1, 3, 4, 5, 255, 256, 1023, 1024, 1025, 2047, 4096, 5003}) {
    check(R"(graph @main(%a: f32[s0], %b: f32[s0], %c: f32[s0]) {
  %m: f32[s0] = mul(%a, %b) {tessiq.group = 0}
  %s: f32[s0] = maximum(%m, %c) {tessiq.group = 0}
  %r: f32[s0] = relu(%s) {tessiq.group = 0}
  return %r
})",
          {{"s0", length}}, 1e-6);
  }
}

TEST_F(GpuLoops, OneInputTakesTwoVectorsAThread) {
  for (const int64_t length : {7, 2048, 2049, 4095, 9000}) {
    check("graph @main(%a: f32[s0]) {\n  %r: f32[s0] = neg(%a) {tessiq.group = 0}\n  return %r\n}\n", {{"s0", length}},
          0);
  }
}

TEST_F(GpuLoops, RowsColumnsAndScalars) {
  for (const int64_t columns : {1, 6, 8, 64, 65}) {
    check(R"(graph @main(%a: f32[s0, s1], %row: f16[s1], %column: f32[s0, 1], %one: f32[]) {
  %m: f32[s0, s1] = mul(%a, %row) {tessiq.group = 0}
  %s: f32[s0, s1] = maximum(%m, %column) {tessiq.group = 0}
  %t: f32[s0, s1] = minimum(%s, %one) {tessiq.group = 0}
  return %t
})",
          {{"s0", 37}, {"s1", columns}}, 1e-6);
  }
}

TEST_F(GpuLoops, StridedAndTransposedOperands) {
  check(R"(graph @main(%a: f32[37, 64]{1, 37}, %b: f32[37, 64]{200, 2}) {
  %m: f32[37, 64] = maximum(%a, %b) {tessiq.group = 0}
  return %m
})",
        {}, 0);
}

TEST_F(GpuLoops, SmallTypesInWideVectors) {
  check(R"(graph @main(%a: bf16[s0, 96], %b: bf16[96], %mask: bool[s0, 96]) {
  %m: bf16[s0, 96] = maximum(%a, %b) {tessiq.group = 0}
  %w: bf16[s0, 96] = where(%mask, %m, %a) {tessiq.group = 0}
  return %w
})",
        {{"s0", 33}}, 0);
}

TEST_F(GpuLoops, IntegersWrapBetweenSteps) {
  for (const std::string type : {"i32", "i64"}) {
    check("graph @main(%a: " + type + "[300]) {\n  %s: " + type + "[300] = add(%a) {1 = 1, tessiq.group = 0}\n" +
              "  %m: bool[300] = gt(%s, %a) {tessiq.group = 0}\n  return %m\n}\n",
          {}, 0);
  }
}

TEST_F(GpuLoops, LaunchesAreCountedAndNoneAreMadeForNoElements) {
  auto graph = ir::parse("graph @main(%a: f32[s0]) {\n  %r: f32[s0] = neg(%a) {tessiq.group = 0}\n  return %r\n}\n");
  auto kernel = emit::describe_loop(**graph, 0);
  auto loaded = nvrtc::compile_loops(device(), {&*kernel, 1});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  const uint64_t before = codegen::kernel_counters().cuda_launches;
  LoopCase empty(**graph, {{"s0", 0}});
  run(empty, *kernel, *loaded->front(), 0);
  EXPECT_EQ(codegen::kernel_counters().cuda_launches, before);
  LoopCase full(**graph, {{"s0", 9}});
  run(full, *kernel, *loaded->front(), 0);
  EXPECT_EQ(codegen::kernel_counters().cuda_launches, before + 1);
}

TEST_F(GpuLoops, FactsSayWhatTheAssemblerMade) {
  auto graph = ir::parse("graph @main(%a: f32[s0]) {\n  %r: f32[s0] = exp(%a) {tessiq.group = 0}\n  return %r\n}\n");
  auto kernel = emit::describe_loop(**graph, 0);
  auto loaded = nvrtc::compile_loops(device(), {&*kernel, 1});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  auto facts = loaded->front()->facts();
  ASSERT_TRUE(facts.ok()) << facts.error().message();
  for (const codegen::EntryFacts& entry : *facts) {
    EXPECT_GT(entry.registers, 0) << entry.entry;
    EXPECT_EQ(entry.spilled_bytes, 0) << entry.entry;
    EXPECT_GT(entry.blocks_per_processor, 0) << entry.entry;
  }
}

// Functions differ in their last digits from the host's, and a product and a sum become one rounding.
class GpuRows : public GpuLoops, public testing::WithParamInterface<int> {};

TEST_P(GpuRows, GiveWhatTheEvaluatorGives) {
  const std::vector<RowGraph> rows = row_graphs(static_cast<ElementType>(GetParam()), RowShape::kPacked);
  std::vector<emit::LoopKernel> kernels;
  for (const RowGraph& row : rows) {
    kernels.push_back(*emit::describe_loop(*row.graph, 0));
  }
  auto loaded = nvrtc::compile_loops(device(), kernels);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  for (size_t k = 0; k < rows.size(); ++k) {
    const ir::Node& node = *rows[k].graph->nodes().front();
    const auto step = analysis::element_step(node, *optable::find_op(node.op()));
    const auto expression = analysis::parse_expression(step->expression);
    const bool one_rounding = analysis::is_reproducible(*expression) && analysis::rounding_operations(*expression) <= 1;
    const double digits = step->element == ElementType::kFloat64    ? 1e-12
                          : step->element == ElementType::kBFloat16 ? 1e-2
                          : step->element == ElementType::kFloat16  ? 2e-3
                                                                    : 2e-5;
    for (const int shift : {0, 1}) {
      LoopCase loop(*rows[k].graph, {});
      run(loop, kernels[k], *(*loaded)[k], shift);
      EXPECT_EQ(compare(loop, kernels[k], one_rounding ? 0 : digits, Rounding::kMayBeFused).first_difference, "")
          << rows[k].title << ", shifted by " << shift;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GpuRows, testing::Range(0, ir::kElementTypeCount),
                         [](const testing::TestParamInfo<int>& type) {
                           return std::string(ir::element_type_name(static_cast<ElementType>(type.param)));
                         });

}  // namespace
}  // namespace tessiq::loop_case

#endif  // TESSIQ_HAS_CUDA
