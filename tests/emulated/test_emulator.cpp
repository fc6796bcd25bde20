// The emulator of the GPU's execution model: kernels that keep the rules compute what they should, and a
// kernel that breaks one is told from its twin that does not.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "device/gpu/emulated/memory.h"
#include "emulated/kernels.h"

namespace shoal::testing {
namespace {

using emulated::Fault;
using emulated::Memory;

template <typename T>
class Array {
 public:
  explicit Array(size_t n) : n_(n), data_(static_cast<T*>(Memory::instance().allocate(n * sizeof(T)))) {}
  explicit Array(const std::vector<T>& values, size_t begin = 0) : Array(values.size()) {
    Memory::instance().host_writes(data_ + begin, (n_ - begin) * sizeof(T));
    std::copy(values.begin() + std::ptrdiff_t(begin), values.end(), data_ + begin);
  }
  ~Array() { Memory::instance().release(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator T*() { return data_; }
  std::vector<T> values() const {
    Memory::instance().host_reads(data_, n_ * sizeof(T));
    return {data_, data_ + n_};
  }

 private:
  size_t n_;
  T* data_;
};

std::vector<float> counting(size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 1.0f);
  return v;
}

// What the kernel is told to have done; "" if nothing.
template <typename Call>
std::string fault_of(Call call) {
  try {
    call();
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "";
}

bool begins(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace

TEST_CASE("blocks sum by shuffles and shared memory") {
  const int n = 300, blocks = 3;
  Array<float> in(counting(n * blocks)), out(blocks);
  block_sums(in, out, n, blocks);
  CHECK(out.values() == std::vector<float>{45150, 135150, 225150});
}

TEST_CASE("tiles in dynamic shared memory transpose a matrix with ragged edges") {
  const int m = 37, n = 21;
  Array<float> in(counting(m * n)), out(m * n);
  transpose(in, out, m, n);
  const auto values = out.values();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) CHECK(values[size_t(j * m + i)] == float(i * n + j + 1));
  }
}

TEST_CASE("atomic additions of several blocks are counted and are no race") {
  std::vector<int> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = int(i * i % 7);
  std::vector<int> expected(7);
  for (int v : values) ++expected[size_t(v)];
  Array<int> in(values), counts(std::vector<int>(7));
  histogram(in, counts, 1000);
  CHECK(counts.values() == expected);
}

TEST_CASE("a warp votes") {
  auto values = counting(32);
  Array<int> votes(2);
  vote(Array<float>(values), votes);
  CHECK(votes.values() == std::vector<int>{1, 1});
  values[31] = -1;
  vote(Array<float>(values), votes);
  CHECK(votes.values() == std::vector<int>{0, 1});
  vote(Array<float>(std::vector<float>(32, -1.0f)), votes);
  CHECK(votes.values() == std::vector<int>{0, 0});
}

TEST_CASE("races are caught") {
  Array<float> out(128);
  CHECK(fault_of([&] { neighbour(out, false); }) == "");
  CHECK(begins(fault_of([&] { neighbour(out, true); }),
               "race of a write and an access by thread 1 of block 0"));
  CHECK(fault_of([&] { neighbour_of_warp(out, false); }) == "");
  CHECK(begins(fault_of([&] { neighbour_of_warp(out, true); }), "race of a write and an access"));
  CHECK(fault_of([&] { overwritten(out, false); }) == "");
  CHECK(begins(fault_of([&] { overwritten(out, true); }), "race of a read and a write"));
  CHECK(fault_of([&] { across_blocks(out, false); }) == "");
  CHECK(begins(fault_of([&] { across_blocks(out, true); }),
               "race of a write and an access by thread 0 of block 1 and thread 0 of block 0"));
}

TEST_CASE("accesses outside of an allocation are caught") {
  Array<float> out(40);
  CHECK(fault_of([&] { write_behind(out, 40, false); }) == "");
  CHECK(fault_of([&] { write_behind(out, 40, true); }) ==
        "out-of-bounds write by thread 40 of block 0: byte 160 of a block of 160");
  CHECK(fault_of([&] { shared_behind(out, false); }) == "");
  CHECK(begins(fault_of([&] { shared_behind(out, true); }), "out-of-bounds read by thread 31"));
  float* stale = nullptr;
  {
    Array<float> gone(40);
    stale = gone;
  }
  CHECK(begins(fault_of([&] { write_behind(stale, 40, false); }), "out-of-bounds write by thread 0"));
  CHECK(begins(fault_of([&] { Memory::instance().host_writes(out, 161); }), "out-of-bounds copy"));
  CHECK_THROWS_AS(Memory::instance().release(stale), Fault);
}

TEST_CASE("reads of what nobody wrote are caught, in a kernel and in a copy to the host") {
  Array<float> in(counting(32), 1), out(32), fresh(8);
  CHECK(fault_of([&] { unwritten(in, out, false); }) == "");
  CHECK(begins(fault_of([&] { unwritten(in, out, true); }), "read of uninitialised memory by thread 0"));
  CHECK(begins(fault_of([&] { fresh.values(); }), "copy of uninitialised memory"));
}

TEST_CASE("barriers that not every thread reaches are caught") {
  Array<float> out(128);
  CHECK(fault_of([&] { divergent(out, false); }) == "");
  CHECK(begins(fault_of([&] { divergent(out, true); }), "divergent barrier: of block 0, 64 threads wait"));
  CHECK(fault_of([&] { two_barriers(out, false); }) == "");
  const std::string fault = fault_of([&] { two_barriers(out, true); });
  CHECK(begins(fault, "divergent barrier"));
  CHECK(fault.find("0 have ended") != std::string::npos);
  CHECK(fault_of([&] { neighbour(out, false); }) == "");  // the next kernel is none the wiser
}

TEST_CASE("a block of no whole warps is refused") {
  CHECK(begins(fault_of([] {
                 gpu::launch(
                     +[](int) {}, dim3(1), dim3(33), 0, {}, 0);
               }),
               "a block of 33 threads"));
}

}  // namespace shoal::testing
