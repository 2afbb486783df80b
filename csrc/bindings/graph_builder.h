// How Python describes a graph to the compiler: one call a parameter, node and symbol, checked as it arrives.
//
// Decides the Python spelling of types, attributes and size expressions. Leaves reading PyTorch's graph to
// python/tessiq/compile/importer.py.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tessiq::bindings {

// An extent: an int, a symbol's name, or None where unknown.
ir::Extent extent_from(const pybind11::handle& object);
// An attribute: None, bool, int, float, str, ("symbol", name), or a list of ints, symbols and floats.
ir::Attribute attribute_from(const pybind11::handle& object);
// A size expression: an int, a symbol's name, or (operation, operand, ...).
ir::SizeExpr size_expr_from(const pybind11::handle& object);

// (element type, shape, strides or None)
ir::TensorType type_from(const pybind11::handle& object);

void bind_graph_builder(pybind11::module_& module);

}  // namespace tessiq::bindings
