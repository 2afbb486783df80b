// Half types are carried as their bits, since their header costs more to compile than a kernel.
#include "codegen/emit/written_source.h"

#include <algorithm>

#include "codegen/emit/prelude.h"
#include "codegen/emit/written_rows.h"

namespace tessiq::emit {
namespace {

struct ElementText {
  std::string_view scalar;
  std::string_view accumulate;
  std::string_view widen;   // of x
  std::string_view narrow;  // of x
};

ElementText text_of(ir::ElementType element) {
  switch (element) {
    case ir::ElementType::kBool:
      return {"bool", "bool", "x", "x"};
    case ir::ElementType::kUInt8:
      return {"unsigned char", "unsigned char", "x", "x"};
    case ir::ElementType::kInt8:
      return {"signed char", "signed char", "x", "x"};
    case ir::ElementType::kInt16:
      return {"short", "short", "x", "x"};
    case ir::ElementType::kInt32:
      return {"int", "int", "x", "x"};
    case ir::ElementType::kInt64:
      return {"long long", "long long", "x", "x"};
    case ir::ElementType::kFloat16:
      return {"u16", "float", "tessiq::from_f16(x)", "tessiq::to_f16(x)"};
    case ir::ElementType::kBFloat16:
      return {"u16", "float", "tessiq::from_bf16(x)", "tessiq::to_bf16(x)"};
    case ir::ElementType::kFloat32:
      return {"float", "float", "x", "x"};
    case ir::ElementType::kFloat64:
      break;
  }
  return {"double", "double", "x", "x"};
}

bool walks_rows(std::string_view text, ir::ElementType element) {
  return ir::is_floating(element) && std::any_of(kWrittenRowNames.begin(), kWrittenRowNames.end(),
                                                 [&](auto name) { return text.find(name) != std::string_view::npos; });
}

}  // namespace

std::string written_source(std::string_view name, std::string_view text, ir::ElementType element) {
  const ElementText of = text_of(element);
  std::string definitions;
  definitions += "using scalar_t = " + std::string(of.scalar) + ";\n";
  definitions += "using accumulate_t = " + std::string(of.accumulate) + ";\n";
  definitions += "TESSIQ_INLINE accumulate_t widen(scalar_t x) { return " + std::string(of.widen) + "; }\n";
  definitions += "TESSIQ_INLINE scalar_t narrow(accumulate_t x) { return " + std::string(of.narrow) + "; }\n";
  const std::string prelude = prelude_for(definitions, TextTarget::kCuda);
  if (walks_rows(text, element)) {
    definitions += kWrittenRows;
  }
  // What the text itself names is its own affair: it may well define a function of the same name.
  return prelude + definitions + "#line 1 \"" + std::string(name) + ".cu\"\n" + std::string(text);
}

}  // namespace tessiq::emit
