// What tessiq asks of hardware: memory, copies, streams and events. A port to other hardware implements this class.
//
// Decides the contract of memory and ordering. Leaves to others: launching kernels (codegen), caching memory
// (caching_allocator.h), and which index stands for which unit (registry.h).
//
// Thread-compatible: the caching allocator serialises its own calls, and everything else may be called from several
// threads at once, so state that a backend creates lazily is protected inside that backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/result.h"

namespace tessiq {

enum class DeviceKind { kHost, kCuda, kNull };

// The number users see: 0 is the reference device, GPUs follow in driver order.
enum class DeviceIndex : int16_t {};
// The number the driver takes. Index 1 is ordinal 0; the types keep the two from being mixed up.
enum class Ordinal : int {};

constexpr int to_int(DeviceIndex index) { return static_cast<int>(index); }
constexpr int to_int(Ordinal ordinal) { return static_cast<int>(ordinal); }

struct Bytes {
  size_t value = 0;
  friend bool operator==(Bytes, Bytes) = default;
};

// Blocking: the host sees the bytes (or may reuse the source) when the call returns.
enum class Blocking : bool { kNo, kYes };
enum class Timing : bool { kNo, kYes };

// A queue of work on one device. `id` 0 is the default stream; other ids come from Device::stream_from_pool.
struct Stream {
  DeviceIndex device{};
  int64_t id = 0;
  friend bool operator==(const Stream&, const Stream&) = default;
};

// A point in a stream's work. Opaque, made by a device and given back to the same one.
struct Event {
  void* handle = nullptr;
};

struct MemoryInfo {
  Bytes free;
  Bytes total;
};

struct DeviceProperties {
  std::string name;
  Bytes total_memory;
  int compute_major = 0;  // 0.0 where the idea does not apply
  int compute_minor = 0;
  int multiprocessor_count = 1;
  Bytes l2_cache;
  Bytes shared_memory;  // that one block may have
};

// Every pointer from Device::allocate is aligned to this. For CUDA the documented promise is 256 bytes; 512 is what
// the driver has been seen to do on every allocation (it packs small blocks at 512-byte steps), and the conformance
// suite checks it.
inline constexpr size_t kDeviceAlignment = 512;

class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceKind kind() const = 0;
  virtual Ordinal ordinal() const = 0;
  virtual Result<DeviceProperties> properties() = 0;

  // A request for zero bytes gives a null pointer. kResourceExhausted when the memory is not there.
  virtual Result<void*> allocate(Bytes size) = 0;
  // Cannot fail, since it runs from destructors; a failure is logged. Work already queued may still use the memory:
  // the device waits for it, as cudaFree does.
  virtual void deallocate(void* pointer, Bytes size) noexcept = 0;

  // Queued on `stream`, in its order.
  virtual Result<void> copy_to_device(void* device, const void* host, Bytes size, Stream stream, Blocking blocking) = 0;
  virtual Result<void> copy_to_host(void* host, const void* device, Bytes size, Stream stream, Blocking blocking) = 0;
  virtual Result<void> copy_on_device(void* target, const void* source, Bytes size, Stream stream) = 0;
  virtual Result<void> fill_bytes(void* target, uint8_t value, Bytes size, Stream stream) = 0;

  // The default stream (id 0) orders itself against nothing but itself on a device without streams. On CUDA it is the
  // legacy default stream. Pool streams are non-blocking: ordered against others only by events.
  virtual Result<Stream> stream_from_pool(int priority) = 0;
  // What a kernel launch or a library takes: a cudaStream_t on CUDA, null elsewhere.
  virtual Result<void*> native_stream(Stream stream) = 0;
  virtual Result<bool> stream_is_done(Stream stream) = 0;
  virtual Result<void> synchronize_stream(Stream stream) = 0;
  // Waits for all work queued on every stream of this device.
  virtual Result<void> synchronize() = 0;

  virtual Result<Event> create_event(Timing timing) = 0;
  virtual void destroy_event(Event event) noexcept = 0;
  virtual Result<void> record_event(Event event, Stream stream) = 0;
  virtual Result<void> wait_event(Stream stream, Event event) = 0;
  virtual Result<bool> event_is_done(Event event) = 0;
  virtual Result<void> synchronize_event(Event event) = 0;
  // kInvalidArgument unless both were created with Timing::kYes, recorded, and passed.
  virtual Result<double> elapsed_milliseconds(Event start, Event end) = 0;

  // kUnsupported from a backend that cannot answer.
  virtual Result<MemoryInfo> memory_info();
  // True where copy_on_device reads and writes `other`'s memory without staging it through the host. The first call for
  // a pair of GPUs opens the path between them.
  virtual bool can_access_peer(const Device& other) const;

  // Page-locked host memory that this device reads by DMA; ordinary memory where pinning buys nothing.
  virtual Result<void*> allocate_pinned(Bytes size);
  virtual void deallocate_pinned(void* pointer, Bytes size) noexcept;
};

// Ordinary memory of the host at kDeviceAlignment, given back with std::free. Zero bytes give a null pointer.
Result<void*> allocate_host_memory(Bytes size);

}  // namespace tessiq
