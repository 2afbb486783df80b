// What a definition has to be. Every refusal is here, and says what to change.
#pragma once

#include <memory>

#include "pytorch/custom/operation.h"

namespace tessiq::custom {

// `files` may be null. kInvalidArgument, naming the operation and the problem.
Result<std::unique_ptr<Operation>> check(const RecordedDefinition& recorded, const RecordedFiles* files);

}  // namespace tessiq::custom
