// A library that another version of tessiq's headers built: it says so, and nothing more is asked of it.
extern "C" __attribute__((visibility("default"))) const char* tessiq_operations_interface() {
  return "0 for PyTorch 1.0.0";
}
extern "C" __attribute__((visibility("default"))) const void* tessiq_operations() { return nullptr; }
