// Every name finds its row, a name belongs to one row, and rows that arrive at run time join the same look-up.
#include "optable/lookup.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tessiq::optable {
namespace {

TEST(Lookup, ShortAndPyTorchNamesFindOneRow) {
  const OpInfo* row = find_op("add");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(find_op("aten.add.Tensor"), row);
  EXPECT_EQ(find_op("aten.add.Scalar"), row);
  EXPECT_EQ(row->category, Category::kElementwise);
}

TEST(Lookup, UnknownNameFindsNothing) {
  EXPECT_EQ(find_op("aten.add"), nullptr);
  EXPECT_EQ(find_op("aten.add.Tensor "), nullptr);
  EXPECT_EQ(find_op(""), nullptr);
}

TEST(Lookup, EveryRowIsFoundByEachOfItsNamesAndOwnsThem) {
  std::set<std::string_view> names;
  for (const OpInfo* row : all_ops()) {
    EXPECT_EQ(find_op(row->name), row);
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    for (const std::string_view name : row->aten) {
      EXPECT_EQ(find_op(name), row) << name;
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
  EXPECT_GT(all_ops().size(), 150u);
}

// A kernel for an operation that draws numbers or writes would let passes merge and drop it.
TEST(Lookup, NoRowWithEffectsHasAKernel) {
  for (const OpInfo* row : all_ops()) {
    EXPECT_FALSE(row->kernel && row->effects != Effects::kPure) << row->name;
  }
}

TEST(Lookup, RunTimeRowIsFoundAfterItsStringsAreGone) {
  const OpInfo* registered = nullptr;
  {
    std::string name = "lookup_tests_scale";
    std::string aten = "lookup_tests.scale.default";
    std::string expression = "($0 * $factor)";
    std::string parameter = "factor";
    OpInfo info;
    info.name = name;
    info.aten = {aten};
    info.arity = 1;
    info.expression = expression;
    info.parameters = {{parameter, 2.0}};
    const auto result = register_op(info);
    ASSERT_TRUE(result.ok()) << result.error().message();
    registered = *result;
    for (std::string* text : {&name, &aten, &expression, &parameter}) {
      text->assign(text->size(), '?');
    }
  }
  EXPECT_EQ(find_op("lookup_tests.scale.default"), registered);
  EXPECT_EQ(registered->expression, "($0 * $factor)");
  EXPECT_EQ(registered->parameters.front().name, "factor");
  EXPECT_EQ(all_ops().back(), registered);
}

TEST(Lookup, RefusesANameThatIsTakenAndKeepsNothingOfTheRow) {
  OpInfo info;
  info.name = "lookup_tests_new_name";
  info.aten = {"aten.mul.Tensor"};
  const auto result = register_op(info);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(result.error().message().find("aten.mul.Tensor"), std::string::npos);
  EXPECT_EQ(find_op("lookup_tests_new_name"), nullptr);
  EXPECT_FALSE(register_op(OpInfo{}).ok());
}

}  // namespace
}  // namespace tessiq::optable
