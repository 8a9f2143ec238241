// SPDX-License-Identifier: Apache-2.0
// The device itself: memory, guard, hooks and random generator of a PrivateUse1 backend on host
// memory.
#include "torch_host/backend/alias_engine.h"
#include "torch_host/backend/hooks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace neuroncheck::backend {
namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;

/// From here on an allocation has pages of its own, which take no memory before they are written.
constexpr size_t kOwnPages = size_t{64} << 10;

struct Pages {
  void* data;
  size_t bytes;
};

void unmap(void* context) {
  const auto* pages = static_cast<Pages*>(context);
  ::munmap(pages->data, pages->bytes);
  delete pages;
}

/// Every allocation is zeros, so that one recording is like the next.
class NeuronAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes >= kOwnPages) {
      void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (data == MAP_FAILED) {
        giveUp("a tensor of " + std::to_string(bytes >> 20) + " MiB does not fit the memory bound");
      }
      return {data, new Pages{data, bytes}, &unmap, neuronDevice()};
    }
    void* data = bytes == 0 ? nullptr : c10::alloc_cpu(bytes);
    if (data != nullptr) {
      std::memset(data, 0, bytes);
    }
    return {data, data, &c10::free_cpu, neuronDevice()};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

/// One device, one stream. The autograd engine asks for index 0, so the base class's index -1 will
/// not do.
class NeuronGuard final : public c10::impl::NoOpDeviceGuardImpl<kType> {
 public:
  c10::Device exchangeDevice(c10::Device /*device*/) const override { return neuronDevice(); }
  c10::Device getDevice() const override { return neuronDevice(); }
  c10::Stream getStream(c10::Device /*device*/) const noexcept override { return stream(); }
  c10::Stream getDefaultStream(c10::Device /*device*/) const override { return stream(); }
  c10::Stream getNewStream(c10::Device /*device*/, int /*priority*/) const override {
    return stream();
  }
  c10::Stream exchangeStream(c10::Stream /*stream*/) const noexcept override { return stream(); }
  void record(void** /*event*/, const c10::Stream& /*stream*/, c10::DeviceIndex /*index*/,
              c10::EventFlag /*flag*/) const override {}
  void block(void* /*event*/, const c10::Stream& /*stream*/) const override {}
  bool queryEvent(void* /*event*/) const override { return true; }
  void synchronizeStream(const c10::Stream& /*stream*/) const override { wait(); }
  void synchronizeDevice(c10::DeviceIndex /*index*/) const override { wait(); }

 private:
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, neuronDevice()); }
  static void wait() {
    if (hooks().synchronize != nullptr) {
      hooks().synchronize();
    }
  }
};

/// Only its device differs from the CPU's generator; draws are made by the CPU's default generator.
class NeuronGenerator final : public at::CPUGeneratorImpl {
 public:
  NeuronGenerator() {
    device_ = neuronDevice();
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
  }
};

class NeuronHooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*index*/) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex /*index*/) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex /*index*/) const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex /*index*/) const override {}
  const at::Generator& getDefaultGenerator(c10::DeviceIndex /*index*/) const override {
    static const at::Generator generator = at::make_generator<NeuronGenerator>();
    return generator;
  }
  at::Generator getNewGenerator(c10::DeviceIndex /*index*/) const override {
    return at::make_generator<NeuronGenerator>();
  }
  at::Device getDeviceFromPtr(void* /*data*/) const override { return neuronDevice(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    c10::DataPtr fresh = c10::GetAllocator(kType)->allocate(bytes);
    const size_t kept = std::min(bytes, storage.nbytes());
    if (kept != 0) {
      std::memcpy(fresh.mutable_get(), storage.data(), kept);
    }
    storage.set_data_ptr_noswap(std::move(fresh));
    storage.set_nbytes(bytes);
  }
};

/// Runs when the library is loaded. torch keeps the pointers for the life of the process.
const bool kRegistered = [] {
  static NeuronAllocator allocator;
  c10::SetAllocator(kType, &allocator);
  at::RegisterPrivateUse1HooksInterface(new NeuronHooks);
  c10::register_privateuse1_backend("neuron");
  return true;
}();

C10_REGISTER_GUARD_IMPL(PrivateUse1, NeuronGuard)

}  // namespace
}  // namespace neuroncheck::backend
