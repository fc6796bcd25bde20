// One trial of an operation: random operands that exist twice, for the backend in its type and for the
// reference in f64 with the same values, the operation run on both, and the outputs compared.
#pragma once

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ops/ops.h"

namespace shoal::testing {

enum class Side { backend, reference };

// A tensor on both sides. Its rows lie apart by a random distance, and what is between them must stay as it
// was.
struct Operand {
  std::string name;
  View backend, reference;  // undefined for an operand that is left out
  bool compared = false;
  double tolerance = 0;
  double terms = 0;  // the size of what is summed, where it may cancel altogether
  int64_t columns = 0, stride = 0, rows = 0;
  std::vector<double> gap;  // what lay between the rows, in order

  const View& operator()(Side side) const { return side == Side::backend ? backend : reference; }
};

class Trial {
 public:
  Trial(Ops& backend, Ops& reference, DType dtype, uint64_t seed)
      : backend_(backend), reference_(reference), dtype_(dtype), random_(seed) {}

  DType dtype() const { return dtype_; }

  // A dim: 1, small odd numbers, and both sides of the widths of vectors and tiles.
  int64_t size();
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  bool coin() { return between(0, 1) == 1; }

  // Normally distributed values of the given standard deviation. The reference stays valid.
  Operand& input(const std::string& name, DType dtype, const Shape& shape, double deviation = 1.0,
                 double mean = 0.0);
  // Like input, but compared afterwards, to the precision of its type; starts with random values too.
  Operand& output(const std::string& name, DType dtype, const Shape& shape);
  // Whole numbers from low to high, i32.
  Operand& integers(const std::string& name, int64_t count, int64_t low, int64_t high);
  // A gradient that is about to be accumulated.
  Operand& zeros(const std::string& name, DType dtype, const Shape& shape) {
    return input(name, dtype, shape, 0.0);
  }
  Operand& absent() { return operands_.emplace_back(); }
  // Marks an input as one that the operation also writes.
  void also_output(Operand& operand);

  void round_to(Operand& operand, double step);
  static void copy_to_reference(const Operand& operand);

  // Calls f(ops, side) for the backend and for the reference.
  template <typename F>
  void run(F&& f) {
    f(backend_, Side::backend);
    f(reference_, Side::reference);
  }

  Ops& reference() { return reference_; }
  double normal() { return std::normal_distribution<double>()(random_); }

  void fail(std::string message) { failures_.push_back(std::move(message)); }
  // A result that is not in memory.
  void expect_close(const std::string& name, double got, double expected, double tolerance);

  // What differs, after run; empty when all is well.
  std::vector<std::string> failures();

  static double tolerance_of(DType dtype) { return dtype == DType::bf16 ? 0x1p-7 : 2e-5; }

 private:
  Operand& make(const std::string& name, DType dtype, const Shape& shape);
  void compare(const Operand& operand);

  Ops& backend_;
  Ops& reference_;
  DType dtype_;
  std::mt19937_64 random_;
  std::deque<Operand> operands_;
  std::vector<Tensor> memory_;
  std::vector<std::string> failures_;
};

double element(const View& view, int64_t at);
void set_element(const View& view, int64_t at, double value);

}  // namespace shoal::testing
