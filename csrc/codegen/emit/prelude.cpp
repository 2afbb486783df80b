#include "codegen/emit/prelude.h"

#include <algorithm>
#include <array>
#include <set>

#include "codegen/emit/expression.h"
#include "codegen/emit/prelude_rows_text.h"
#include "codegen/emit/prelude_text.h"

namespace tessiq::emit {
namespace {

// NVRTC knows some of the standard integer names and not others, so none is relied on.
constexpr std::string_view kTypes =
    "typedef signed char i8;\n"
    "typedef short i16;\n"
    "typedef int i32;\n"
    "typedef long long i64;\n"
    "typedef unsigned char u8;\n"
    "typedef unsigned short u16;\n"
    "typedef unsigned int u32;\n"
    "typedef unsigned long long u64;\n";

// A library call for both precisions: exp(float) is expf, so that a float stays one.
std::string library_function(std::string_view name, int arity, TextTarget target) {
  const std::string prefix = target == TextTarget::kCuda ? "::" : "__builtin_";
  const std::string called(name);
  auto overload = [&](const std::string& type, const std::string& suffix) {
    const std::string parameters = arity == 1 ? type + " x" : type + " x, " + type + " y";
    const std::string arguments = arity == 1 ? "x" : "x, y";
    return "TESSIQ_INLINE " + type + " " + called + "(" + parameters + ") { return " + prefix + called + suffix + "(" +
           arguments + "); }\n";
  };
  return overload("float", "f") + overload("double", "");
}

struct Definition {
  std::string_view name;
  std::string text;
};

std::vector<Definition> definitions_for(TextTarget target) {
  std::vector<Definition> definitions;
  for (const TargetFragment& fragment : kTargetFragments) {
    definitions.push_back({fragment.name, std::string(target == TextTarget::kCuda ? fragment.cuda : fragment.host)});
  }
  for (const std::string_view name : kUnaryLibraryFunctions) {
    definitions.push_back({name, library_function(name, 1, target)});
  }
  for (const std::string_view name : kBinaryLibraryFunctions) {
    definitions.push_back({name, library_function(name, 2, target)});
  }
  for (const CommonFragment& fragment : kCommonFragments) {
    definitions.push_back({fragment.name, std::string(fragment.text)});
  }
  for (const RowFragment& fragment : kRowFragments) {
    if (target == TextTarget::kCuda || !fragment.only_cuda) {
      definitions.push_back({fragment.name, std::string(fragment.text)});
    }
  }
  return definitions;
}

const std::vector<Definition>& definitions(TextTarget target) {
  static const std::array<std::vector<Definition>, 2> tables = {definitions_for(TextTarget::kCuda),
                                                                definitions_for(TextTarget::kHost)};
  return tables[target == TextTarget::kCuda ? 0 : 1];
}

}  // namespace

std::string prelude_for(std::string_view body, TextTarget target) {
  const std::vector<Definition>& table = definitions(target);
  std::set<std::string_view> wanted;
  for (const std::string_view word : identifiers_in(body)) {
    wanted.insert(word);
  }
  // A definition is built from earlier ones only, so one pass from the end finds all that are needed.
  std::vector<const Definition*> needed;
  for (auto definition = table.rbegin(); definition != table.rend(); ++definition) {
    if (!wanted.contains(definition->name)) {
      continue;
    }
    needed.push_back(&*definition);
    for (const std::string_view word : identifiers_in(definition->text)) {
      wanted.insert(word);
    }
  }
  // A specialisation has the storage class of its template and may not repeat it.
  std::string text(target == TextTarget::kCuda ? "#define TESSIQ_INLINE __device__ __forceinline__\n"
                                                 "#define TESSIQ_SPECIAL __device__ __forceinline__\n"
                                               : "#define TESSIQ_INLINE static inline\n"
                                                 "#define TESSIQ_SPECIAL inline\n");
  text += kTypes;
  text += "namespace tessiq {\n";
  for (auto definition = needed.rbegin(); definition != needed.rend(); ++definition) {
    text += (*definition)->text;
  }
  return text + "}  // namespace tessiq\n";
}

std::vector<std::string_view> intrinsic_names() {
  std::vector<std::string_view> names(kUnaryLibraryFunctions.begin(), kUnaryLibraryFunctions.end());
  names.insert(names.end(), kBinaryLibraryFunctions.begin(), kBinaryLibraryFunctions.end());
  for (const CommonFragment& fragment : kCommonFragments) {
    names.push_back(fragment.name);
  }
  names.push_back("rsqrt");
  return names;
}

}  // namespace tessiq::emit
