// What a region is called: the names the IR and explain use.
#pragma once

#include <string>
#include <vector>

#include "profiling/region.h"

namespace tessiq::profiling {

struct Label {
  std::string name;                 // the IR value it computes or moves; of a call, what the caller named it
  std::string operation;            // "loop", "reduction", "matmul", an operator's name, or the direction of a copy
  std::vector<std::string> covers;  // IR values a kernel computes, in order
};

std::string_view kind_name(Kind kind);
Label label(const CallRecords& records, const Region& region);
// In one line, for a time line.
std::string range_text(const CallRecords& records, const Region& region);

}  // namespace tessiq::profiling
