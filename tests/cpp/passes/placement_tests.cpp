// What clustering and fusion owe on graphs nobody wrote: units and groups that can be scheduled, and none left out.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/decisions.h"
#include "ir/text/text.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// Loops, products, views and operations nothing is known of, over two shapes.
std::string random_graph(std::mt19937& random, int nodes) {
  std::string text = "graph @main(%p0: f32[4, 4], %p1: f32[4, 4], %p2: f32[4]) {\n";
  std::vector<std::string> matrices{"%p0", "%p1"};
  const auto matrix = [&] {
    // Mostly recent values, now and then an old one, as residual connections read.
    const size_t reach = random() % 4 == 0 ? matrices.size() : std::min<size_t>(matrices.size(), 5);
    return matrices[matrices.size() - 1 - random() % reach];
  };
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "%v" + std::to_string(i);
    text += "  " + name + ": f32[4, 4] = ";
    switch (random() % 8) {
      case 0:
        text += "aten.cumsum.default(" + matrix() + ") {1 = 0}\n";
        break;
      case 1:
        text += "mm(" + matrix() + ", " + matrix() + ")\n";
        break;
      case 2:
        text += "view(" + matrix() + ") {1 = [4, 4]}\n";
        break;
      case 3:
        text += "add(" + matrix() + ", %p2)\n";
        break;
      case 4:
        text += "relu(" + matrix() + ")\n";
        break;
      default:
        text += "mul(" + matrix() + ", " + matrix() + ")\n";
        break;
    }
    matrices.push_back(name);
  }
  return text + "  return " + matrices.back() + ", " + matrix() + "\n}\n";
}

// Units of a partition: by key, nodes without one alone. Returns whether the graph of units has no cycle.
bool is_acyclic(const ir::Graph& graph, std::string_view key) {
  std::map<const ir::Node*, std::string> unit_of;
  std::map<std::string, std::set<std::string>> reads;
  for (const auto& node : graph.nodes()) {
    const ir::Attribute* attribute = node->attribute(key);
    unit_of[node.get()] = attribute == nullptr ? std::string(node->name()) : "#" + ir::attribute_to_string(*attribute);
    reads[unit_of[node.get()]];
  }
  for (const auto& node : graph.nodes()) {
    for (const ir::Value* operand : node->operands()) {
      if (!operand->is_parameter() && unit_of[operand->producer()] != unit_of[node.get()]) {
        reads[unit_of[node.get()]].insert(unit_of[operand->producer()]);
      }
    }
  }
  for (bool removed = true; removed && !reads.empty();) {
    removed = false;
    for (auto it = reads.begin(); it != reads.end();) {
      const bool ready = std::none_of(it->second.begin(), it->second.end(),
                                      [&](const std::string& unit) { return reads.count(unit) != 0; });
      removed |= ready;
      it = ready ? reads.erase(it) : std::next(it);
    }
  }
  return reads.empty();
}

std::unique_ptr<ir::Graph> compiled(const std::string& text, TargetOptions target = {}) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  const auto records = run_pipeline(**graph, kCompilePipeline, target);
  EXPECT_TRUE(records.ok()) << records.error().message();
  return *std::move(graph);
}

TEST(Cluster, UnitsOfRandomGraphsHaveNoCycleAndNoMergeIsLeft) {
  std::mt19937 random(17);
  int refused_neighbours = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string text = random_graph(random, 3 + static_cast<int>(random() % 30));
    SCOPED_TRACE(text);
    const auto graph = compiled(text);
    ASSERT_TRUE(is_acyclic(*graph, analysis::kClusterAttribute));
    for (const auto& node : graph->nodes()) {
      for (const ir::Value* operand : node->operands()) {
        const ir::Node* producer = operand->producer();
        if (producer == nullptr || !analysis::cluster_of(*node) || !analysis::cluster_of(*producer) ||
            analysis::cluster_of(*node) == analysis::cluster_of(*producer)) {
          continue;
        }
        // Two clusters side by side that stay apart: as one they would close a cycle.
        ++refused_neighbours;
        auto merged = ir::parse(ir::print(*graph));
        ASSERT_TRUE(merged.ok());
        const auto from = analysis::cluster_of(*producer);
        for (const auto& other : (*merged)->nodes()) {
          if (analysis::cluster_of(*other) == from) {
            other->set_attribute(analysis::kClusterAttribute, *analysis::cluster_of(*node));
          }
        }
        ASSERT_FALSE(is_acyclic(**merged, analysis::kClusterAttribute));
      }
    }
  }
  EXPECT_GT(refused_neighbours, 100);
}

// Random graphs are of small tensors: beside a host node their work is never worth the crossing.
TEST(PlaceClusters, ClaimedNodeIsPlacedOrSaysWhyNot) {
  std::mt19937 random(23);
  for (int round = 0; round < 100; ++round) {
    const std::string text = random_graph(random, 20);
    const auto graph = compiled(text);
    for (const auto& node : graph->nodes()) {
      EXPECT_TRUE(analysis::is_supported(*node) || !analysis::cluster_of(*node));
      const ir::Attribute* why = node->attribute(analysis::kPlacementAttribute);
      const bool is_refused = why != nullptr && !std::get<std::string>(*why).starts_with(analysis::kWorthCrossing);
      EXPECT_EQ(analysis::is_supported(*node) && !analysis::cluster_of(*node), is_refused) << text;
    }
    TargetOptions device;
    device.unclaimed = analysis::UnclaimedPlace::kDevice;
    const auto everywhere = compiled(text, device);
    for (const auto& node : everywhere->nodes()) {
      EXPECT_EQ(analysis::is_supported(*node), analysis::cluster_of(*node).has_value());
    }
  }
}

TEST(FuseLoops, NobodyReadsAGroupOfARandomGraphBeforeItsLastNode) {
  std::mt19937 random(29);
  size_t fused = 0;
  size_t several_results = 0;
  for (int round = 0; round < 300; ++round) {
    const auto graph = compiled(random_graph(random, 3 + static_cast<int>(random() % 30)));
    ASSERT_TRUE(is_acyclic(*graph, analysis::kGroupAttribute));
    std::map<const ir::Node*, size_t> position;
    std::map<int64_t, size_t> last;
    std::map<int64_t, size_t> sizes;
    std::map<int64_t, size_t> results;
    int64_t next = 0;
    for (const auto& node : graph->nodes()) {
      position.emplace(node.get(), position.size());
      if (const auto group = analysis::group_of(*node)) {
        EXPECT_LE(*group, next);  // numbered in list order
        next = std::max(next, *group + 1);
        last[*group] = position.at(node.get());
        ++sizes[*group];
      }
    }
    for (const auto& node : graph->nodes()) {
      const auto group = analysis::group_of(*node);
      if (!group) {
        continue;
      }
      bool leaves = graph->is_result(node->result());
      for (const ir::Use& use : node->result()->uses()) {
        const bool outside = analysis::group_of(*use.node) != group;
        leaves |= outside;
        EXPECT_TRUE(!outside || position.at(use.node) > last[*group]) << node->name();
      }
      results[*group] += leaves ? 1 : 0;
      fused += sizes[*group] > 1 ? 1 : 0;
    }
    for (const auto& [group, count] : results) {
      EXPECT_GT(count, 0u);
      several_results += count > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(fused, 300u);
  EXPECT_GT(several_results, 30u);
}

TEST(FuseElementwise, LoopThatReadsMoreThanALaunchCarriesIsSplit) {
  std::string parameters = "%p0: f32[4]";
  std::string body;
  for (int i = 1; i <= 200; ++i) {
    const std::string left = i == 1 ? "%p0" : "%v" + std::to_string(i - 1);
    parameters += ", %p" + std::to_string(i) + ": f32[4]";
    body += "  %v" + std::to_string(i) + ": f32[4] = add(" + left + ", %p" + std::to_string(i) + ")\n";
  }
  const auto graph = compiled("graph @main(" + parameters + ") {\n" + body + "  return %v200\n}\n");
  std::map<int64_t, std::set<std::string>> reads;
  for (const auto& node : graph->nodes()) {
    const auto group = analysis::group_of(*node);
    ASSERT_TRUE(group.has_value());
    for (const ir::Value* operand : node->operands()) {
      if (operand->is_parameter() || analysis::group_of(*operand->producer()) != group) {
        reads[*group].insert(operand->name());
      }
    }
  }
  EXPECT_EQ(reads.size(), 4u);
  for (const auto& [group, names] : reads) {
    EXPECT_LE(names.size(), 64u);
  }
}

// A chain, and a residual that spans it: the order is kept by looking only between the two ends of a merge.
TEST(Cluster, LongChainsWithResidualsAreOneUnit) {
  std::string body;
  for (int i = 1; i <= 3000; ++i) {
    const std::string previous = "%v" + std::to_string(i - 1);
    const std::string far = "%v" + std::to_string(std::max(0, i - 40));
    body += "  %v" + std::to_string(i) + ": f32[4] = add(" + previous + ", " + (i % 10 == 0 ? far : previous) + ")\n";
  }
  const auto graph = compiled("graph @main(%v0: f32[4]) {\n" + body + "  return %v3000\n}\n");
  for (const auto& node : graph->nodes()) {
    ASSERT_EQ(analysis::cluster_of(*node), 0);
  }
}

}  // namespace
}  // namespace tessiq::passes
