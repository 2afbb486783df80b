// What each instruction of a program touches and moves in a call of known sizes: facts for reports.
//
// Decides how bytes are counted. The executor reads none of this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "support/result.h"

namespace tessiq::program {

struct Traffic {
  // As the program's text names it: move, launch, matmul, convolution, custom, view, pack, dispatch, free.
  std::string_view kind;
  std::string name;              // the kernel's, or the operator's; empty for the others
  Place place = Place::kDevice;  // of what it writes; of a move: where it leads
  std::vector<Slot> reads;
  std::vector<Slot> writes;
  // Each tensor once, whatever a cache spares or a second walk repeats: no implementation moves less. Of a table, as
  // many rows as are looked up. 0 for what moves nothing.
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  // Multiplications and additions of a product or convolution; 0 for the others, whose time is their bytes.
  double operations = 0;
};

// One entry an instruction, in order. `sizes` are the values of the size table. kInvalidArgument where bytes do not fit
// in 64 bits.
Result<std::vector<Traffic>> traffic(const Program& program, const std::vector<int64_t>& sizes);

}  // namespace tessiq::program
