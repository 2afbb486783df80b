// The random state of a device: a seed and an offset, as counter-based generators have them.
//
// Decides state, seeding and how an offset is taken. Leaves the numbers to the kernels: what a caller gets here is a
// place in a sequence that depends on seed and offset only, so every device gives the same numbers for the same seed.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>
#include <optional>

#include "runtime/device.h"

namespace tessiq::pytorch {

struct RandomPosition {
  uint64_t seed;
  uint64_t offset;
};

class DeviceGenerator final : public c10::GeneratorImpl {
 public:
  explicit DeviceGenerator(DeviceIndex device);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return position_.seed; }
  uint64_t seed() override;
  void set_offset(uint64_t offset) override { position_.offset = offset; }
  uint64_t get_offset() const override { return position_.offset; }
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& state) override;
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;

  // Where the caller's draws start; the next caller's start `draws` later. The caller holds mutex_.
  RandomPosition advance(uint64_t draws);

  static c10::DeviceType device_type() { return c10::DeviceType::PrivateUse1; }

 private:
  DeviceGenerator* clone_impl() const override;
  RandomPosition position_;
};

const at::Generator& default_generator(DeviceIndex device);
at::Generator new_generator(DeviceIndex device);
// Seeds every device's default generator. Before the devices have been looked for it only remembers the seed.
void seed_all_devices(uint64_t seed);

// `chosen` if it is given, else the default of `device`; raises for a generator of another device type.
DeviceGenerator& generator_or_default(const std::optional<at::Generator>& chosen, DeviceIndex device);

// A CPU generator for one run of a CPU kernel, seeded from the next position of `generator`.
at::Generator take_cpu_generator(DeviceGenerator& generator);

}  // namespace tessiq::pytorch
