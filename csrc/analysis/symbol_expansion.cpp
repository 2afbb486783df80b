// Substitution, innermost definitions first; the verifier has excluded cycles.
#include "analysis/symbol_expansion.h"

#include "analysis/size_algebra.h"

namespace tessiq::analysis {
namespace {

using ir::SizeExpr;

SizeExpr substitute(const SizeExpr& expression, const ir::Graph& graph) {
  if (expression.kind == SizeExpr::Kind::kSymbol) {
    const ir::SymbolDefinition* definition = graph.find_symbol(expression.symbol);
    const bool is_defined = definition != nullptr && definition->expression.has_value();
    return is_defined ? expand(*definition->expression, &graph) : expression;
  }
  SizeExpr result = expression;
  for (SizeExpr& operand : result.operands) {
    operand = substitute(operand, graph);
  }
  return result;
}

}  // namespace

SizeExpr expand(const SizeExpr& expression, const ir::Graph* definitions) {
  return normalize(definitions == nullptr ? expression : substitute(expression, *definitions));
}

}  // namespace tessiq::analysis
