// Loops whose layouts are known when the text is written: what is merged, put in as a number, or reordered.
#include "analysis/size_algebra.h"
#include "codegen/hostcc/compile_loops.h"
#include "hostcc/loop_case.h"
#include "ir/text/text.h"

namespace tessiq::loop_case {
namespace {

std::unique_ptr<ir::Graph> parsed(const std::string& text) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  return graph ? *std::move(graph) : std::make_unique<ir::Graph>();
}

// Runs group 0 and compares; returns its description.
emit::LoopKernel check(const std::string& text, const Symbols& symbols = {}, double tolerance = 0) {
  const auto graph = parsed(text);
  auto kernel = emit::describe_loop(*graph, 0);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message();
  if (!kernel) {
    return {};
  }
  auto loaded = hostcc::compile_loops({&*kernel, 1});
  EXPECT_TRUE(loaded.ok()) << loaded.error().message();
  if (!loaded) {
    return *kernel;
  }
  LoopCase loop(*graph, symbols);
  const std::vector<void*> pointers = loop.pointers_for(*kernel);
  auto launched =
      loaded->front()->launch(pointers, loop.sizes_for(*kernel), loop.element_count(*kernel), nullptr, nullptr);
  EXPECT_TRUE(launched.ok()) << launched.error().message();
  const Comparison comparison = compare(loop, *kernel, tolerance);
  EXPECT_EQ(comparison.first_difference, "");
  return *kernel;
}

std::string extents_of(const emit::LoopKernel& kernel) {
  std::string text;
  for (const ir::SizeExpr& extent : kernel.extents) {
    text += (text.empty() ? "" : ", ") + extent.to_string();
  }
  return text;
}

TEST(Layouts, PackedOperandsOfOneShapeAreOneAxis) {
  const auto kernel = check(R"(graph @main(%a: f32[4, 5, 6], %b: f32[4, 5, 6]) {
  %m: f32[4, 5, 6] = mul(%a, %b) {tessiq.group = 0}
  %r: f32[4, 5, 6] = relu(%m) {tessiq.group = 0}
  return %r
})");
  EXPECT_EQ(extents_of(kernel), "120");
}

TEST(Layouts, ARowAndAColumnAreReadInPlace) {
  const auto kernel = check(R"(graph @main(%a: f32[4, 5, 6], %row: f32[6], %column: f32[5, 1], %one: f32[]) {
  %m: f32[4, 5, 6] = mul(%a, %row) {tessiq.group = 0}
  %s: f32[4, 5, 6] = sub(%m, %column) {tessiq.group = 0}
  %t: f32[4, 5, 6] = add(%s, %one) {tessiq.group = 0}
  return %t
})");
  EXPECT_EQ(extents_of(kernel), "4, 5, 6");
}

TEST(Layouts, ATransposedAndASlicedOperandAreReadInPlace) {
  check(R"(graph @main(%a: f32[7, 9]{1, 7}, %b: f32[7, 9]{40, 2}) {
  %m: f32[7, 9] = mul(%a, %b) {tessiq.group = 0}
  return %m
})");
}

TEST(Layouts, AResultThatIsTransposedIsWalkedInItsOwnOrder) {
  const auto kernel = check(R"(graph @main(%a: f32[7, 9]{1, 7}, %b: f32[7, 9]{1, 7}) {
  %m: f32[7, 9]{1, 7} = mul(%a, %b) {tessiq.group = 0}
  return %m
})");
  EXPECT_EQ(extents_of(kernel), "63");
}

TEST(Layouts, AScalarLoopHasNoAxes) {
  const auto kernel = check(R"(graph @main(%a: f32[], %b: f32[]) {
  %m: f32[] = mul(%a, %b) {tessiq.group = 0}
  return %m
})");
  EXPECT_EQ(extents_of(kernel), "");
}

TEST(Layouts, SymbolsComeWithTheCall) {
  for (const int64_t rows : {1, 3, 8}) {
    check(R"(graph @main(%a: f32[s0, 6], %b: f32[6], %c: f32[s0, 1]) {
  %m: f32[s0, 6] = mul(%a, %b) {tessiq.group = 0}
  %r: f32[s0, 6] = add(%m, %c) {tessiq.group = 0}
  return %r
})",
          {{"s0", rows}});
  }
}

TEST(Layouts, NothingIsComputedForAnExtentOfZero) {
  check(R"(graph @main(%a: f32[s0, 6]) {
  %m: f32[s0, 6] = relu(%a) {tessiq.group = 0}
  return %m
})",
        {{"s0", 0}});
}

TEST(Layouts, AConstantKeepsItsPlace) {
  const auto kernel = check(R"(graph @main(%a: f32[8]) {
  %m: f32[8] = sub(%a) {0 = 1, tessiq.group = 0}
  return %m
})");
  ASSERT_EQ(kernel.steps.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<emit::LoopConstant>(kernel.steps[0].arguments[0]));
}

TEST(Layouts, AnIntermediateReadOutsideIsWrittenToo) {
  const auto kernel = check(R"(graph @main(%a: f32[8], %b: f32[8]) {
  %m: f32[8] = mul(%a, %b) {tessiq.group = 0}
  %r: f32[8] = relu(%m) {tessiq.group = 0}
  return %m, %r
})");
  EXPECT_EQ(kernel.outputs.size(), 2U);
}

TEST(Layouts, HalfIntermediatesStayInSinglePrecision) {
  check(R"(graph @main(%a: f16[64], %b: bf16[64]) {
  %m: f32[64] = mul(%a, %b) {tessiq.group = 0}
  %r: f32[64] = relu(%m) {tessiq.group = 0}
  return %r
})");
}

TEST(Layouts, IntegersWrapBetweenSteps) {
  for (const std::string type : {"i32", "i64", "i16"}) {
    check("graph @main(%a: " + type + "[300]) {\n  %s: " + type + "[300] = add(%a) {1 = 1, tessiq.group = 0}\n" +
          "  %m: bool[300] = gt(%s, %a) {tessiq.group = 0}\n  return %m\n}\n");
  }
}

TEST(Layouts, LargeLoopsAreSharedAmongThreads) {
  const auto graph = parsed(R"(graph @main(%a: f32[1000, 1001], %b: f32[1001]) {
  %m: f32[1000, 1001] = add(%a, %b) {tessiq.group = 0}
  return %m
})");
  auto kernel = emit::describe_loop(*graph, 0);
  ASSERT_TRUE(kernel.ok());
  auto loaded = hostcc::compile_loops({&*kernel, 1});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  std::vector<float> a(1000 * 1001);
  std::vector<float> b(1001);
  std::vector<float> m(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 977);
    b[i % 1001] = static_cast<float>(i % 1001);
  }
  void* const pointers[] = {a.data(), b.data(), m.data()};
  ASSERT_TRUE(loaded->front()->launch(pointers, {}, 1000 * 1001, nullptr, nullptr).ok());
  for (size_t i = 0; i < m.size(); ++i) {
    ASSERT_EQ(m[i], a[i] + b[i % 1001]) << i;
  }
}

class RefusedLaunches : public testing::Test {
 protected:
  void SetUp() override {
    graph_ = parsed(R"(graph @main(%a: f32[s0, 6]) {
  %m: f32[s0, 6] = relu(%a) {tessiq.group = 0}
  return %m
})");
    kernels_ = {*emit::describe_loop(*graph_, 0)};
    auto loaded = hostcc::compile_loops(kernels_);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    loop_ = loaded->front();
  }
  ErrorCode code(std::span<void* const> pointers, std::vector<int64_t> sizes, int64_t count) {
    auto result = loop_->launch(pointers, sizes, count, nullptr, nullptr);
    return result ? ErrorCode::kInternal : result.error().code();
  }
  std::unique_ptr<ir::Graph> graph_;
  std::vector<emit::LoopKernel> kernels_;
  std::shared_ptr<codegen::LoadedKernel> loop_;
  std::vector<float> memory_ = std::vector<float>(64);
};

TEST_F(RefusedLaunches, AWrongNumberOfPointersOrSizes) {
  void* const one[] = {memory_.data()};
  void* const two[] = {memory_.data(), memory_.data()};
  EXPECT_EQ(code(one, {12}, 12), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(two, {}, 12), ErrorCode::kInvalidArgument);
}

TEST_F(RefusedLaunches, AnElementCountThatTheExtentsDoNotHave) {
  void* const two[] = {memory_.data(), memory_.data()};
  EXPECT_EQ(code(two, {12}, 13), ErrorCode::kInvalidArgument);
}

TEST_F(RefusedLaunches, ANullPointerOrANegativeSize) {
  void* const null[] = {memory_.data(), nullptr};
  void* const two[] = {memory_.data(), memory_.data()};
  EXPECT_EQ(code(null, {12}, 12), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(two, {-6}, -6), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tessiq::loop_case
