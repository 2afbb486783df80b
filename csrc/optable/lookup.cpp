// One index over the generated rows and the rows that arrive at run time.
#include "optable/lookup.h"

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tessiq::optable {

const std::vector<OpInfo>& table_rows();  // generated

namespace {

// The strings that a run-time row's views point at, kept for the life of the process.
class OwnedRow {
 public:
  explicit OwnedRow(const OpInfo& info) : info_(info) {
    info_.name = keep(info.name);
    info_.expression = keep(info.expression);
    keep_all(info_.aten);
    keep_all(info_.ignored_keywords);
    for (ScalarParameter& parameter : info_.parameters) {
      parameter.name = keep(parameter.name);
    }
    for (ExpressionCase& one : info_.cases) {
      one.expression = keep(one.expression);
      for (Condition& condition : one.when) {
        condition.key = keep(condition.key);
        condition.text = keep(condition.text);
      }
    }
  }

  const OpInfo& info() const { return info_; }

 private:
  std::string_view keep(std::string_view text) { return strings_.emplace_back(text); }
  void keep_all(std::vector<std::string_view>& views) {
    for (std::string_view& view : views) {
      view = keep(view);
    }
  }

  std::deque<std::string> strings_;  // a deque: views into earlier strings stay valid
  OpInfo info_;
};

// Custom operations register from any thread while others compile.
class Index {
 public:
  Index() {
    for (const OpInfo& row : table_rows()) {
      add(row);
    }
  }

  const OpInfo* find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  std::vector<const OpInfo*> all() {
    const std::lock_guard lock(mutex_);
    return in_order_;
  }

  Result<const OpInfo*> add_run_time(const OpInfo& info) {
    const std::lock_guard lock(mutex_);
    if (info.name.empty()) {
      return invalid_argument("an operation needs a name");
    }
    std::vector<std::string_view> names = info.aten;
    names.push_back(info.name);
    for (const std::string_view name : names) {
      if (const auto taken = by_name_.find(name); taken != by_name_.end()) {
        return invalid_argument("operation " + std::string(name) + " already has a row, that of " +
                                std::string(taken->second->name));
      }
    }
    run_time_.push_back(std::make_unique<OwnedRow>(info));
    return add(run_time_.back()->info());
  }

 private:
  const OpInfo* add(const OpInfo& row) {
    by_name_.emplace(row.name, &row);
    for (const std::string_view name : row.aten) {
      by_name_.emplace(name, &row);
    }
    in_order_.push_back(&row);
    return &row;
  }

  std::mutex mutex_;
  std::unordered_map<std::string_view, const OpInfo*> by_name_;  // never iterated
  std::vector<const OpInfo*> in_order_;
  std::vector<std::unique_ptr<OwnedRow>> run_time_;
};

Index& index() {
  static Index* const instance = new Index;  // never destroyed: static objects elsewhere may hold rows
  return *instance;
}

}  // namespace

const OpInfo* find_op(std::string_view name) { return index().find(name); }
std::vector<const OpInfo*> all_ops() { return index().all(); }
Result<const OpInfo*> register_op(const OpInfo& info) { return index().add_run_time(info); }

}  // namespace tessiq::optable
