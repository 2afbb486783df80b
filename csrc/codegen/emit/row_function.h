// What every function that reduces has in common: tensors by position, where a row begins, statements line by line.
// Private to emit/.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/prelude.h"
#include "codegen/emit/row_text.h"

namespace tessiq::emit {

class RowFunction {
 protected:
  RowFunction(const LoopKernel& kernel, Elements elements, Sums sums, TextTarget target);

  static std::string number(size_t value) { return std::to_string(value); }
  std::string pointer_name(size_t tensor) const;
  size_t output_tensor(size_t output) const { return kernel_.inputs.size() + output; }
  const LoopTensor& tensor(size_t index) const;
  std::string pack_type(size_t tensor) const;
  std::string accumulator(const LoopStep& step) { return "a_" + text_.name(step.value); }
  std::string rows() const { return product_text(sizes_.kept.extents, index_); }

  // Coordinates of row i, and from them where each tensor's row begins: at0, at1, ...
  std::string row_offsets(const std::string& indent) const;
  // Coordinates of element j, which hide those of the row, and where its elements of `tensors` are: from0, from1, ...
  std::string element_offsets(const std::vector<size_t>& tensors) const;
  // Inputs that have one element a row.
  std::string row_inputs(const std::string& indent);
  std::string row_store(size_t output);
  Result<std::string> step_lines(const std::vector<const LoopStep*>& steps, const std::string& indent);
  Result<std::string> combined_lines(const std::vector<const LoopStep*>& combines, const std::string& suffix,
                                     const std::string& indent);
  // `name` with the value that changes nothing: one, or one for each of the W elements of a vector.
  std::string fresh_accumulator(const LoopStep& step, const std::string& name, const std::string& indent) const;
  std::string fresh_accumulators(const LoopStep& step, const std::string& name, const std::string& indent) const;
  // The U elements of a thread; j, its place in the row, is `place`.
  static std::string for_each_unit(const std::string& place, const std::string& body);

  const LoopKernel& kernel_;
  RowSizes sizes_;
  RowPlan plan_;
  RowStatements text_;

 private:
  TextTarget target_;
  std::string index_;  // type
};

}  // namespace tessiq::emit
