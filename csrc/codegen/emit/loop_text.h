// The parts of a loop that read the same in CUDA and in host C++: the function of one element, and offsets.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/loop_sizes.h"
#include "codegen/emit/prelude.h"

namespace tessiq::emit {

// Stands for the name of the kernel's entries until the text is complete and can be hashed.
inline constexpr char kNamePlaceholder = '@';

// "TESSIQ_INLINE void element(const float v_a, ..., float& r0, ..., const i64 size1)": the steps, from values of the
// inputs to values of the outputs.
Result<std::string> element_function(const LoopKernel& kernel);
// "element(<values>..., r0, ..., <positions>..., size1);"
std::string element_call(const LoopKernel& kernel, const std::vector<std::string>& input_values,
                         const std::vector<std::string>& output_values, const std::vector<std::string>& positions = {});
// "p0 >= 4 && p0 < size1": whether all windows hold, where position k is called `position`(k); "true" for no windows.
std::string inside_text(const LoopKernel& kernel, const std::vector<LoopWindow>& windows,
                        const std::function<std::string(int)>& position);

// The type of an index in a function's text: a template parameter in CUDA.
std::string_view index_type_of(TextTarget target);
// Statements that define the coordinates i0, i1, ... of flat index i; empty for no axes. CUDA divides by multipliers.
std::string coordinate_lines(const LoopSizes& loop, TextTarget target, std::string_view indent);
// "i0 * I(64) + i1", over the first `axes` coordinates; and "I(-4) + i0 * I(64) + i1" with an offset.
std::string offset_text(const std::vector<SizeSlot>& strides, size_t axes, std::string_view index_type,
                        const SizeSlot& offset = {});

// "const float* __restrict__ in0, float* __restrict__ out0": every tensor as it is stored, then nothing.
std::string pointer_parameters(const LoopKernel& kernel);
// ", const i64 size0, const i64 size1", and the same as arguments.
std::string size_parameters(int count);
std::string size_arguments(int count);
// The function of a host kernel that a caller finds: unpacks its arguments for tessiq::@::run.
std::string host_entry(const LoopKernel& kernel, int size_count);
// ", i64 begin, i64 end": what the function that it calls takes after sizes.
std::string host_range_parameters(const LoopKernel& kernel);
std::string joined(const std::vector<std::string>& parts, std::string_view separator);

// Names entries after the body's own hash and puts the prelude in front.
KernelSource finished(std::string body, std::vector<KernelVariant> variants, TextTarget target);

}  // namespace tessiq::emit
