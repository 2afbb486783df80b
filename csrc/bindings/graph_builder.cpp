// The builder's methods and the conversions they share.
#include "bindings/graph_builder.h"

#include <pybind11/stl.h>

#include "bindings/exceptions.h"
#include "ir/text/text.h"
#include "ir/verifier.h"

namespace py = pybind11;

namespace tessiq::bindings {
namespace {

bool is_symbol(const py::handle& object) {
  if (!py::isinstance<py::tuple>(object)) {
    return false;
  }
  const auto tuple = py::reinterpret_borrow<py::tuple>(object);
  return tuple.size() == 2 && py::isinstance<py::str>(tuple[0]) && tuple[0].cast<std::string>() == "symbol";
}

ir::Extent symbol_from(const py::handle& object) {
  return ir::Extent::symbol(py::reinterpret_borrow<py::tuple>(object)[1].cast<std::string>());
}

std::string kind_of(const py::handle& object) { return py::str(py::type::handle_of(object)).cast<std::string>(); }

ir::Attribute list_from(const py::handle& object) {
  bool any_real = false;
  for (const py::handle& member : object) {
    any_real = any_real || py::isinstance<py::float_>(member);
  }
  if (any_real) {
    return object.cast<ir::FloatList>();
  }
  ir::SizeList sizes;
  for (const py::handle& member : object) {
    if (is_symbol(member)) {
      sizes.push_back(symbol_from(member));
    } else if (py::isinstance<py::int_>(member)) {
      sizes.emplace_back(member.cast<int64_t>());
    } else {
      throw ErrorException(unsupported("a list argument with a member of " + kind_of(member)));
    }
  }
  return sizes;
}

// Owns a graph while Python fills it.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) : graph_(std::make_shared<ir::Graph>(std::move(name))) {}

  void add_parameter(const std::string& name, const py::object& type) {
    value_or_throw(graph_->add_parameter(name, type_from(type)));
  }

  void add_node(const std::string& op, const std::vector<std::string>& operands, const py::dict& attributes,
                const std::vector<std::pair<std::string, py::object>>& results, const std::string& location) {
    std::vector<ir::Value*> values;
    for (const std::string& operand : operands) {
      values.push_back(find(operand));
    }
    ir::AttributeMap map;
    for (const auto& [key, value] : attributes) {
      map.emplace(key.cast<std::string>(), attribute_from(value));
    }
    std::vector<ir::ResultSpec> specs;
    for (const auto& [name, type] : results) {
      specs.push_back({name, type_from(type)});
    }
    value_or_throw(graph_->add_node(op, std::move(values), std::move(map), std::move(specs)))->set_location(location);
  }

  void define_symbol(const std::string& name, const py::object& expression) {
    value_or_throw(graph_->define_symbol({name, size_expr_from(expression)}));
  }

  void set_results(const std::vector<std::string>& names) {
    std::vector<ir::Value*> values;
    for (const std::string& name : names) {
      values.push_back(find(name));
    }
    graph_->set_results(std::move(values));
  }

  // The finished text; raises where the graph is not well formed.
  std::string print() const {
    value_or_throw(ir::verify(*graph_));
    return ir::print(*graph_);
  }

  std::shared_ptr<ir::Graph> graph() const { return graph_; }

 private:
  ir::Value* find(const std::string& name) const {
    ir::Value* value = graph_->find_value(name);
    if (value == nullptr) {
      throw ErrorException(invalid_argument("the graph has no value %" + name));
    }
    return value;
  }

  std::shared_ptr<ir::Graph> graph_;
};

}  // namespace

ir::Extent extent_from(const py::handle& object) {
  if (object.is_none()) {
    return ir::Extent::unknown();
  }
  if (py::isinstance<py::str>(object)) {
    return ir::Extent::symbol(object.cast<std::string>());
  }
  return object.cast<int64_t>();
}

ir::Attribute attribute_from(const py::handle& object) {
  if (object.is_none()) {
    return ir::None{};
  }
  // bool first: it is an int to Python.
  if (py::isinstance<py::bool_>(object)) {
    return object.cast<bool>();
  }
  if (py::isinstance<py::int_>(object)) {
    return object.cast<int64_t>();
  }
  if (py::isinstance<py::float_>(object)) {
    return object.cast<double>();
  }
  if (py::isinstance<py::str>(object)) {
    return object.cast<std::string>();
  }
  if (is_symbol(object)) {
    return symbol_from(object);
  }
  if (py::isinstance<py::list>(object)) {
    return list_from(object);
  }
  throw ErrorException(unsupported("an argument of " + kind_of(object)));
}

ir::SizeExpr size_expr_from(const py::handle& object) {
  if (py::isinstance<py::int_>(object)) {
    return ir::SizeExpr::of_constant(object.cast<int64_t>());
  }
  if (py::isinstance<py::str>(object)) {
    return ir::SizeExpr::of_symbol(object.cast<std::string>());
  }
  using Kind = ir::SizeExpr::Kind;
  static const std::vector<std::pair<std::string, Kind>> kinds = {{"add", Kind::kAdd},           {"mul", Kind::kMul},
                                                                  {"floordiv", Kind::kFloorDiv}, {"mod", Kind::kMod},
                                                                  {"min", Kind::kMin},           {"max", Kind::kMax}};
  const auto tuple = object.cast<py::tuple>();
  const auto operation = tuple[0].cast<std::string>();
  for (const auto& [name, kind] : kinds) {
    if (name == operation) {
      std::vector<ir::SizeExpr> operands;
      for (size_t i = 1; i < tuple.size(); ++i) {
        operands.push_back(size_expr_from(tuple[i]));
      }
      return ir::SizeExpr::of(kind, std::move(operands));
    }
  }
  throw ErrorException(unsupported("a size computed with '" + operation + "'"));
}

ir::TensorType type_from(const py::handle& object) {
  const auto tuple = object.cast<py::tuple>();
  const auto name = tuple[0].cast<std::string>();
  const auto element = ir::parse_element_type(name);
  if (!element) {
    throw ErrorException(unsupported("element type " + name));
  }
  ir::TensorType type;
  type.element = *element;
  for (const py::handle& extent : tuple[1].cast<py::sequence>()) {
    type.shape.push_back(extent_from(extent));
  }
  if (!tuple[2].is_none()) {
    std::vector<ir::Extent> strides;
    for (const py::handle& stride : tuple[2].cast<py::sequence>()) {
      strides.push_back(extent_from(stride));
    }
    type.strides = std::move(strides);
  }
  return ir::normalized(std::move(type));
}

void bind_graph_builder(py::module_& module) {
  py::class_<ir::Graph, std::shared_ptr<ir::Graph>>(module, "Graph");
  py::class_<GraphBuilder>(module, "GraphBuilder")
      .def(py::init<std::string>(), py::arg("name"))
      .def("add_parameter", &GraphBuilder::add_parameter, py::arg("name"), py::arg("type"))
      .def("add_node", &GraphBuilder::add_node, py::arg("op"), py::arg("operands"), py::arg("attributes"),
           py::arg("results"), py::arg("location"))
      .def("define_symbol", &GraphBuilder::define_symbol, py::arg("name"), py::arg("expression"))
      .def("set_results", &GraphBuilder::set_results, py::arg("names"))
      .def("print", &GraphBuilder::print)
      .def("graph", &GraphBuilder::graph);
}

}  // namespace tessiq::bindings
