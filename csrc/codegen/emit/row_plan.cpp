#include "codegen/emit/row_plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <variant>

namespace tessiq::emit {
namespace {

using optable::Combine;

// Works backwards from what a walk is for.
class WalkPlan {
 public:
  WalkPlan(const LoopKernel& kernel, const std::set<const LoopStep*>& kept) : kernel_(kernel), kept_(kept) {}

  RowWalk plan(int walk) {
    RowWalk result;
    for (const LoopStep& step : kernel_.steps) {
      if (step.combine != Combine::kNone && step.walk == walk + 1) {
        result.combines.push_back(&step);
        need(std::get<LoopRead>(step.arguments.front()).value);
      }
      if (step.combine == Combine::kNone && step.per_row && step.walk == walk + 1) {
        result.row_steps.push_back(&step);
      }
    }
    for (size_t k = 0; k < kernel_.outputs.size(); ++k) {
      const LoopStep* step = find_step(kernel_, kernel_.outputs[k].value);
      if (step != nullptr && !step->per_row && step->walk == walk) {
        result.outputs.push_back(k);
        need(step->value);
      }
    }
    for (const LoopStep& step : kernel_.steps) {
      if (needed_.contains(&step)) {
        (kept_.contains(&step) ? result.reads : result.steps).push_back(&step);
      }
    }
    result.inputs.assign(inputs_.begin(), inputs_.end());
    return result;
  }

 private:
  void need(const std::string& value) {
    const LoopStep* step = find_step(kernel_, value);
    if (step == nullptr) {
      for (size_t k = 0; k < kernel_.inputs.size(); ++k) {
        if (kernel_.inputs[k].value == value && !kernel_.inputs[k].per_row) {
          inputs_.insert(k);
        }
      }
      return;
    }
    if (step->per_row || !needed_.insert(step).second || kept_.contains(step)) {
      return;
    }
    for (const LoopArgument& argument : step->arguments) {
      if (const auto* read = std::get_if<LoopRead>(&argument)) {
        need(read->value);
      }
    }
  }

  const LoopKernel& kernel_;
  const std::set<const LoopStep*>& kept_;
  std::set<const LoopStep*> needed_;
  std::set<size_t> inputs_;
};

}  // namespace

const LoopStep* find_step(const LoopKernel& kernel, const std::string& value) {
  const auto found =
      std::find_if(kernel.steps.begin(), kernel.steps.end(), [&](const LoopStep& step) { return step.value == value; });
  return found == kernel.steps.end() ? nullptr : &*found;
}

RowPlan RowPlan::of(const LoopKernel& kernel, Elements elements) {
  RowPlan plan;
  int walks = 1;
  for (const LoopStep& step : kernel.steps) {
    if (step.per_row && step.combine == Combine::kNone && step.walk == 0) {
      plan.row_steps.push_back(&step);
    }
    walks = std::max(walks, step.combine != Combine::kNone ? step.walk : step.per_row ? 1 : step.walk + 1);
  }
  std::set<const LoopStep*> computed;
  for (int walk = 0; walk < walks; ++walk) {
    RowWalk next = WalkPlan(kernel, computed).plan(walk);
    for (const LoopStep* read : next.reads) {
      for (RowWalk& earlier : plan.walks) {
        const bool computes = std::find(earlier.steps.begin(), earlier.steps.end(), read) != earlier.steps.end();
        if (computes && std::find(earlier.keeps.begin(), earlier.keeps.end(), read) == earlier.keeps.end()) {
          earlier.keeps.push_back(read);
        }
      }
    }
    if (elements == Elements::kKept) {
      computed.insert(next.steps.begin(), next.steps.end());
    }
    plan.walks.push_back(std::move(next));
  }
  return plan;
}

int RowPlan::walks_reading(size_t input) const {
  return static_cast<int>(std::count_if(walks.begin(), walks.end(), [&](const RowWalk& walk) {
    return std::find(walk.inputs.begin(), walk.inputs.end(), input) != walk.inputs.end();
  }));
}

}  // namespace tessiq::emit
