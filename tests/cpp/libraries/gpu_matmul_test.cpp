// cuBLASLt on a GPU against a sum in double precision: every layout, addend, batch and size of zero.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "codegen/libraries/matmul.h"
#include "cuda_api/loaded_libraries.h"
#include "runtime/cuda/discovery.h"

namespace tessiq::libraries {
namespace {

constexpr DeviceIndex kIndex{1};
constexpr Stream kDefault{kIndex, 0};

struct Operand {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<float> values;
  int64_t offset = 0;

  float at(int64_t batch, int64_t row, int64_t column) const {
    const size_t last = sizes.size() - 1;
    const int64_t start = sizes.size() == 3 && sizes[0] > 1 ? batch * strides[0] : 0;
    return values[static_cast<size_t>(offset + start + row * strides[last - 1] + column * strides[last])];
  }
};

Operand operand(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset = 0) {
  Operand result{std::move(sizes), std::move(strides), {}, offset};
  int64_t last = offset;
  for (size_t axis = 0; axis < result.sizes.size(); ++axis) {
    last += std::max<int64_t>(result.sizes[axis] - 1, 0) * result.strides[axis];
  }
  for (int64_t k = 0; k <= last; ++k) {
    result.values.push_back(static_cast<float>((k * 7 + static_cast<int64_t>(result.sizes.size())) % 23 - 11) / 8.0F);
  }
  return result;
}

class GpuMatmul : public testing::Test {
 protected:
  void SetUp() override {
    testing_support::register_wheel_libraries();
    found_ = discover_cuda_devices(kIndex);
    if (found_.devices.empty()) {
      GTEST_SKIP() << found_.note;
    }
    auto size = recommended_matmul_workspace(device());
    ASSERT_TRUE(size.ok()) << size.error().message();
    workspace_ = {allocate(size->value), *size};
  }
  void TearDown() override {
    for (const auto& [pointer, size] : memory_) {
      device().deallocate(pointer, size);
    }
  }
  Device& device() { return *found_.devices.front(); }

  void* allocate(size_t bytes) {
    auto pointer = device().allocate(Bytes{bytes});
    EXPECT_TRUE(pointer.ok()) << pointer.error().message();
    memory_.emplace_back(*pointer, Bytes{bytes});
    return *pointer;
  }
  float* upload(const std::vector<float>& values) {
    auto* pointer = static_cast<float*>(allocate(std::max<size_t>(values.size(), 1) * sizeof(float)));
    EXPECT_TRUE(
        device()
            .copy_to_device(pointer, values.data(), Bytes{values.size() * sizeof(float)}, kDefault, Blocking::kYes)
            .ok());
    return pointer;
  }

  // Multiplies on the GPU and compares; `addend` as the problem's addend says.
  void check(const Operand& a, const Operand& b, const std::function<void(MatmulProblem&)>& change = {},
             const std::vector<float>& addend = {}) {
    auto problem = matmul_problem(*analysis::matrix_layout(a.sizes, a.strides),
                                  *analysis::matrix_layout(b.sizes, b.strides), ir::ElementType::kFloat32);
    ASSERT_TRUE(problem.ok()) << problem.error().message();
    if (change) {
      change(*problem);
    }
    const int64_t last =
        (problem->batch - 1) * problem->output_batch_stride + (problem->m - 1) * problem->output_leading + problem->n;
    std::vector<float> output(static_cast<size_t>(std::max<int64_t>(last, 0)), 777.0F);
    MatmulPointers pointers;
    pointers.a = upload(a.values) + a.offset;
    pointers.b = upload(b.values) + b.offset;
    pointers.addend = addend.empty() ? nullptr : upload(addend);
    pointers.output = upload(output);
    auto done = matmul(device(), *problem, pointers, workspace_, nullptr);
    ASSERT_TRUE(done.ok()) << done.error().message();
    ASSERT_TRUE(device()
                    .copy_to_host(output.data(), pointers.output, Bytes{output.size() * sizeof(float)}, kDefault,
                                  Blocking::kYes)
                    .ok());
    for (int64_t batch = 0; batch < problem->batch; ++batch) {
      for (int64_t i = 0; i < problem->m; ++i) {
        for (int64_t j = 0; j < problem->n; ++j) {
          double sum = 0;
          double size = 1;
          for (int64_t k = 0; k < problem->k; ++k) {
            const double product = double{a.at(batch, i, k)} * double{b.at(batch, k, j)};
            sum += product;
            size += std::fabs(product);
          }
          sum *= problem->alpha;
          if (problem->addend == Addend::kRow && problem->beta != 0) {
            sum += addend[static_cast<size_t>(j)];
          } else if (problem->addend == Addend::kMatrix && problem->beta != 0) {
            sum += problem->beta *
                   addend[static_cast<size_t>(batch * problem->addend_batch_stride + i * problem->addend_leading + j)];
          }
          const float found =
              output[static_cast<size_t>(batch * problem->output_batch_stride + i * problem->output_leading + j)];
          ASSERT_NEAR(found, sum, 1e-6 * size) << batch << " " << i << " " << j;
        }
      }
    }
  }

  CudaDiscovery found_;
  Workspace workspace_;
  std::vector<std::pair<void*, Bytes>> memory_;
};

TEST_F(GpuMatmul, EveryPairOfLayouts) {
  for (const auto& a : {operand({37, 29}, {29, 1}), operand({37, 29}, {1, 37}), operand({37, 29}, {64, 1})}) {
    for (const auto& b : {operand({29, 41}, {41, 1}), operand({29, 41}, {1, 29}), operand({29, 41}, {1, 96})}) {
      check(a, b);
    }
  }
}

TEST_F(GpuMatmul, OneRowOneColumnAndOneElement) {
  check(operand({1, 64}, {64, 1}), operand({64, 33}, {33, 1}));
  check(operand({33, 64}, {64, 1}), operand({64, 1}, {1, 1}));
  check(operand({1, 1}, {1, 1}), operand({1, 1}, {1, 1}));
}

TEST_F(GpuMatmul, ViewsThatBeginAnywhere) {
  for (const int64_t offset : {1, 2, 3, 4}) {
    check(operand({32, 64}, {64, 1}, offset), operand({64, 32}, {32, 1}, 2 * offset));
  }
}

TEST_F(GpuMatmul, ARowOrAMatrixIsAdded) {
  std::vector<float> row(32);
  std::vector<float> matrix(16 * 40);
  for (size_t k = 0; k < matrix.size(); ++k) {
    matrix[k] = static_cast<float>(k % 19);
    row[k % 32] = static_cast<float>(k % 32) - 7;
  }
  check(operand({16, 64}, {64, 1}), operand({64, 32}, {1, 64}), [](MatmulProblem& p) { p.addend = Addend::kRow; }, row);
  const auto scaled = [](MatmulProblem& p) {
    p.addend = Addend::kMatrix;
    p.addend_leading = 40;
    p.alpha = 0.5;
    p.beta = -2;
  };
  check(operand({16, 64}, {64, 1}), operand({64, 32}, {1, 64}), scaled, matrix);
}

TEST_F(GpuMatmul, ABetaOfZeroLeavesNaNsUnread) {
  const std::vector<float> nans(16 * 32, std::numeric_limits<float>::quiet_NaN());
  const auto unread = [](MatmulProblem& p) {
    p.addend = Addend::kMatrix;
    p.addend_leading = 32;
    p.beta = 0;
  };
  check(operand({16, 64}, {64, 1}), operand({64, 32}, {1, 64}), unread, nans);
}

TEST_F(GpuMatmul, Batches) {
  check(operand({3, 16, 24}, {384, 24, 1}), operand({3, 24, 8}, {192, 8, 1}));
  check(operand({3, 16, 24}, {384, 24, 1}), operand({24, 8}, {8, 1}));
  check(operand({16, 24}, {24, 1}), operand({3, 24, 8}, {192, 1, 24}));
  check(operand({3, 16, 24}, {0, 24, 1}), operand({3, 24, 8}, {192, 8, 1}));
  // Heads of attention: the batch axis lies between rows.
  check(operand({3, 16, 24}, {24, 72, 1}), operand({3, 24, 16}, {24, 1, 72}));
}

TEST_F(GpuMatmul, ExtentsOfZero) {
  check(operand({0, 8}, {8, 1}), operand({8, 4}, {4, 1}));
  check(operand({4, 8}, {8, 1}), operand({8, 0}, {1, 1}));
  check(operand({4, 0}, {1, 1}), operand({0, 8}, {8, 1}));
  std::vector<float> row = {1, 2, 3, 4, 5, 6, 7, 8};
  check(operand({4, 0}, {1, 1}), operand({0, 8}, {8, 1}), [](MatmulProblem& p) { p.addend = Addend::kRow; }, row);
}

TEST_F(GpuMatmul, NoWorkspaceIsEnoughForSomeAlgorithm) {
  workspace_ = {};
  check(operand({64, 128}, {128, 1}), operand({128, 64}, {1, 128}));
}

// 1 + 2^-12 needs more digits than TF32 has.
TEST_F(GpuMatmul, FloatsKeepTheirDigitsUnlessAllowed) {
  Operand a = operand({64, 64}, {64, 1});
  Operand b = operand({64, 64}, {64, 1});
  std::fill(a.values.begin(), a.values.end(), 1.0F + std::ldexp(1.0F, -12));
  std::fill(b.values.begin(), b.values.end(), 1.0F);
  check(a, b);
}

TEST_F(GpuMatmul, SaysWhatItChose) {
  const Operand a = operand({8, 16}, {16, 1});
  const Operand b = operand({16, 8}, {8, 1});
  auto problem = matmul_problem(*analysis::matrix_layout(a.sizes, a.strides),
                                *analysis::matrix_layout(b.sizes, b.strides), ir::ElementType::kFloat32);
  problem->alpha = 3;  // a problem of this test alone
  EXPECT_FALSE(describe_matmul_choice(device(), *problem).ok());
  check(a, b, [](MatmulProblem& p) { p.alpha = 3; });
  auto choice = describe_matmul_choice(device(), *problem);
  ASSERT_TRUE(choice.ok()) << choice.error().message();
  EXPECT_NE(choice->find("algorithm"), std::string::npos);
}

TEST_F(GpuMatmul, IntegersAreUnsupported) {
  auto problem = matmul_problem(*analysis::matrix_layout(std::vector<int64_t>{4, 4}, std::vector<int64_t>{4, 1}),
                                *analysis::matrix_layout(std::vector<int64_t>{4, 4}, std::vector<int64_t>{4, 1}),
                                ir::ElementType::kInt64);
  void* memory = allocate(4096);
  auto done = matmul(device(), *problem, {memory, memory, nullptr, memory}, workspace_, nullptr);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace tessiq::libraries

#endif  // TESSIQ_HAS_CUDA
