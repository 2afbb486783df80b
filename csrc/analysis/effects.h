// Whether a node may be dropped, merged or computed early. Every pass that removes or moves nodes asks here.
#pragma once

#include "ir/graph.h"

namespace tessiq::analysis {

// Marks a node of an operation without a row as pure; an importer that knows the operation's schema sets it to true.
inline constexpr std::string_view kPureAttribute = "tessiq.pure";

// The same operands give the same result, and nothing else changes. False for random and writing operations, and for an
// operation without a row unless its node is marked: nothing is known of it, and a wrong yes drops a write in silence.
bool is_pure(const ir::Node& node);

// Whether the node may change what another reads: its row says so, or nothing is known of it.
bool may_write(const ir::Node& node);

// Whether a result may share memory with an operand, or the operation may hold on to an operand after it has returned.
// False only where a row or an importer's mark says that results are memory of their own.
bool may_keep_operands(const ir::Node& node);

}  // namespace tessiq::analysis
