// State is sixteen bytes: seed, then offset, each a 64-bit integer in the machine's order.
#include "pytorch/device/generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <mutex>
#include <vector>

#include "pytorch/device/identity.h"

namespace tessiq::pytorch {
namespace {

// The CPU kernels of one call draw from one CPU generator, however many numbers they take; one step is enough.
constexpr uint64_t kDrawsPerCpuCall = 4;

// SplitMix64's finaliser (Steele, Lea, Flood 2014): nearby seeds and offsets give unrelated results.
uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

struct DefaultGenerators {
  std::mutex mutex;
  std::vector<at::Generator> by_index;  // empty until first used
  uint64_t first_seed = c10::default_rng_seed_val;
};

DefaultGenerators& defaults() {
  static auto* all = new DefaultGenerators;
  return *all;
}

}  // namespace

DeviceGenerator::DeviceGenerator(DeviceIndex device)
    : c10::GeneratorImpl(to_torch(device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      position_{c10::default_rng_seed_val, 0} {}

void DeviceGenerator::set_current_seed(uint64_t seed) { position_ = {seed, 0}; }

uint64_t DeviceGenerator::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return position_.seed;
}

void DeviceGenerator::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == sizeof(RandomPosition), "RNG state of a tessiq generator has ", sizeof(RandomPosition),
              " bytes, got ", state.numel());
  std::memcpy(&position_, state.data(), sizeof(position_));
}

c10::intrusive_ptr<c10::TensorImpl> DeviceGenerator::get_state() const {
  at::Tensor state = at::empty({static_cast<int64_t>(sizeof(position_))}, at::TensorOptions().dtype(at::kByte));
  std::memcpy(state.mutable_data_ptr(), &position_, sizeof(position_));
  return state.getIntrusivePtr();
}

void DeviceGenerator::graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& state) {
  auto* other = dynamic_cast<DeviceGenerator*>(state.get());
  TORCH_CHECK(other != nullptr, "expected the state of a tessiq generator");
  position_ = other->position_;
}

c10::intrusive_ptr<c10::GeneratorImpl> DeviceGenerator::graphsafe_get_state() const {
  return c10::intrusive_ptr<c10::GeneratorImpl>::unsafe_steal_from_new(clone_impl());
}

RandomPosition DeviceGenerator::advance(uint64_t draws) {
  const RandomPosition taken = position_;
  position_.offset += draws;
  return taken;
}

DeviceGenerator* DeviceGenerator::clone_impl() const {
  auto* copy = new DeviceGenerator(static_cast<DeviceIndex>(device().index()));
  copy->position_ = position_;
  return copy;
}

const at::Generator& default_generator(DeviceIndex device) {
  device_at(device);
  std::lock_guard lock(defaults().mutex);
  std::vector<at::Generator>& generators = defaults().by_index;
  if (generators.empty()) {
    for (int index = 0; index < registry().device_count(); ++index) {
      generators.push_back(new_generator(static_cast<DeviceIndex>(index)));
      generators.back().set_current_seed(defaults().first_seed);
    }
  }
  // Never resized again, so the reference stays good.
  return generators[static_cast<size_t>(to_int(device))];
}

void seed_all_devices(uint64_t seed) {
  std::lock_guard lock(defaults().mutex);
  defaults().first_seed = seed;
  for (at::Generator& generator : defaults().by_index) {
    std::lock_guard generator_lock(generator.mutex());
    generator.set_current_seed(seed);
  }
}

at::Generator new_generator(DeviceIndex device) { return at::make_generator<DeviceGenerator>(device); }

DeviceGenerator& generator_or_default(const std::optional<at::Generator>& chosen, DeviceIndex device) {
  return *at::get_generator_or_default<DeviceGenerator>(chosen, default_generator(device));
}

at::Generator take_cpu_generator(DeviceGenerator& generator) {
  RandomPosition position;
  {
    std::lock_guard lock(generator.mutex_);
    position = generator.advance(kDrawsPerCpuCall);
  }
  return at::detail::createCPUGenerator(mix(mix(position.seed) + position.offset));
}

}  // namespace tessiq::pytorch
