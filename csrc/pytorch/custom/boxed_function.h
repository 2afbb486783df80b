// C++ functions of any signature behind one type: the signature as PyTorch's schema, and a call with boxed values.
//
// Decides which C++ types a definition may use: those PyTorch infers a schema from, held by value. A list is taken as
// std::vector. Leaves comparing the signature with the declared schema to checks.cpp.
//
// Part of the installed headers: it uses nothing that is compiled into tessiq.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/op_registration/infer_schema.h>

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Hidden, so that every library of operations has code of its own, whichever version of this header it was built with.
namespace tessiq {
namespace custom __attribute__((visibility("hidden"))) {

  using Values = std::vector<c10::IValue>;
  using Tensors = std::vector<at::Tensor>;

  inline Tensors tensors_from(at::Tensor tensor) { return {std::move(tensor)}; }
  inline Tensors tensors_from(Tensors tensors) { return tensors; }
  template <typename... Each>
  Tensors tensors_from(std::tuple<Each...> results) {
    return std::apply([](auto&... each) { return Tensors{std::move(each)...}; }, results);
  }

  // `Result` is Tensors, which any function returning tensors can be, or another type, which is returned as it is.
  template <typename Result>
  class BoxedFunction {
   public:
    BoxedFunction() = default;

    template <typename Returned, typename... Arguments>
    BoxedFunction(Returned (*function)(Arguments...))  // NOLINT: a function is a boxed function
        : function_(reinterpret_cast<void (*)()>(function)),
          schema_(&schema_of<Returned, Arguments...>),
          call_(&call_with<Returned, Arguments...>) {}

    explicit operator bool() const { return function_ != nullptr; }
    // Without names. Results are in it where they are tensors.
    c10::FunctionSchema schema() const { return schema_(); }
    Result operator()(const Values& values) const { return call_(function_, values); }

   private:
    template <typename Returned, typename... Arguments>
    static c10::FunctionSchema schema_of() {
      if constexpr (std::is_same_v<Result, Tensors> && !std::is_same_v<Returned, Tensors>) {
        return c10::inferFunctionSchemaFlattenedReturns<Returned(Arguments...)>();
      } else {
        return c10::inferFunctionSchemaFlattenedReturns<void(Arguments...)>();
      }
    }

    template <typename Returned, typename... Arguments>
    static Result call_with(void (*function)(), const Values& values) {
      return call_each<Returned, Arguments...>(function, values, std::index_sequence_for<Arguments...>());
    }

    template <typename Returned, typename... Arguments, size_t... Positions>
    static Result call_each(void (*function)(), const Values& values, std::index_sequence<Positions...> /*positions*/) {
      auto* typed = reinterpret_cast<Returned (*)(Arguments...)>(function);
      if constexpr (std::is_same_v<Result, Returned>) {
        return typed(values.at(Positions).to<std::decay_t<Arguments>>()...);
      } else {
        return tensors_from(typed(values.at(Positions).to<std::decay_t<Arguments>>()...));
      }
    }

    void (*function_)() = nullptr;
    c10::FunctionSchema (*schema_)() = nullptr;
    Result (*call_)(void (*)(), const Values&) = nullptr;
  };

}  // namespace custom
}  // namespace tessiq
