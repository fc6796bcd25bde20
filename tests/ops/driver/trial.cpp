#include "ops/driver/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shoal::testing {

double element(const View& view, int64_t at) {
  switch (view.dtype) {
    case DType::f32:
      return double(view.as<float>()[at]);
    case DType::bf16:
      return double(float(view.as<bf16>()[at]));
    case DType::f64:
      return view.as<double>()[at];
    case DType::i32:
      return double(view.as<int32_t>()[at]);
    default:
      SHOAL_CHECK(false);
  }
}

void set_element(const View& view, int64_t at, double value) {
  switch (view.dtype) {
    case DType::f32:
      view.as<float>()[at] = float(value);
      return;
    case DType::bf16:
      view.as<bf16>()[at] = bf16(float(value));
      return;
    case DType::f64:
      view.as<double>()[at] = value;
      return;
    case DType::i32:
      view.as<int32_t>()[at] = int32_t(value);
      return;
    default:
      SHOAL_CHECK(false);
  }
}

int64_t Trial::size() {
  static constexpr std::array<int64_t, 16> sizes{1,  2,  3,  5,  8,  15,  16,  17,
                                                 31, 33, 48, 64, 65, 100, 127, 130};
  return sizes[size_t(between(0, int64_t(sizes.size()) - 1))];
}

Operand& Trial::make(const std::string& name, DType dtype, const Shape& shape) {
  Operand& operand = operands_.emplace_back();
  operand.name = name;
  operand.columns = shape[-1];
  operand.rows = shape.numel() / operand.columns;
  operand.stride = operand.columns + (shape.rank() > 1 && coin() ? between(1, 40) : 0);
  const auto place = [&](DType type) {
    const Tensor& storage =
        memory_.emplace_back(backend_.device(), type, Shape{operand.rows * operand.stride});
    // Operands are set by the host in place: the device learns that they are written. It is the host's own,
    // or the emulator's, whose memory the host can reach.
    const std::vector<std::byte> zeros(size_t(storage.view().bytes()));
    backend_.device().to_device(storage.view().data, zeros.data(), storage.view().bytes());
    View view(storage.view().data, type, shape);
    int64_t stride = operand.stride;
    for (int d = shape.rank() - 2; d >= 0; --d) {
      view.strides[size_t(d)] = stride;
      stride *= shape[d];
    }
    return view;
  };
  operand.backend = place(dtype);
  operand.reference = dtype == DType::i32 ? place(dtype) : place(DType::f64);
  return operand;
}

Operand& Trial::input(const std::string& name, DType dtype, const Shape& shape, double deviation,
                      double mean) {
  Operand& operand = make(name, dtype, shape);
  std::normal_distribution<double> normal;  // scaled below: its own deviation may not be zero
  for (int64_t i = 0; i < operand.rows * operand.stride; ++i) {
    set_element(operand.backend, i, mean + deviation * normal(random_));
    set_element(operand.reference, i, element(operand.backend, i));
    if (i % operand.stride >= operand.columns) operand.gap.push_back(element(operand.backend, i));
  }
  return operand;
}

Operand& Trial::output(const std::string& name, DType dtype, const Shape& shape) {
  Operand& operand = input(name, dtype, shape);
  also_output(operand);
  return operand;
}

Operand& Trial::integers(const std::string& name, int64_t count, int64_t low, int64_t high) {
  Operand& operand = make(name, DType::i32, {count});
  for (int64_t i = 0; i < count; ++i) {
    set_element(operand.backend, i, double(between(low, high)));
    set_element(operand.reference, i, element(operand.backend, i));
  }
  return operand;
}

void Trial::also_output(Operand& operand) {
  operand.compared = true;
  operand.tolerance = tolerance_of(operand.backend.dtype);
}

void Trial::round_to(Operand& operand, double step) {
  for (int64_t i = 0; i < operand.rows * operand.stride; ++i) {
    if (i % operand.stride >= operand.columns) continue;
    set_element(operand.backend, i, std::round(element(operand.backend, i) / step) * step);
    set_element(operand.reference, i, element(operand.backend, i));
  }
}

void Trial::copy_to_reference(const Operand& operand) {
  for (int64_t i = 0; i < operand.rows * operand.stride; ++i) {
    set_element(operand.reference, i, element(operand.backend, i));
  }
}

void Trial::expect_close(const std::string& name, double got, double expected, double tolerance) {
  if (std::abs(got - expected) <= tolerance * std::abs(expected)) return;
  failures_.push_back(fmt::format("{} is {}, expected {}", name, got, expected));
}

// An element may be wrong by the tolerance times its own size or the typical size, whichever is larger: sums
// of terms of the typical size are what is computed.
void Trial::compare(const Operand& operand) {
  double squares = 0;
  for (int64_t r = 0; r < operand.rows; ++r) {
    for (int64_t c = 0; c < operand.columns; ++c) {
      const double value = element(operand.reference, r * operand.stride + c);
      squares += value * value;
    }
  }
  const double typical = std::sqrt(squares / double(operand.rows * operand.columns));
  size_t gap = 0;
  for (int64_t i = 0; i < operand.rows * operand.stride; ++i) {
    const double got = element(operand.backend, i), expected = element(operand.reference, i);
    const bool between = i % operand.stride >= operand.columns;
    const double allowed =
        between ? 0.0 : operand.tolerance * std::max({std::abs(expected), typical, operand.terms});
    if (std::abs(got - (between ? operand.gap[gap++] : expected)) <= allowed) continue;  // false for NaN
    failures_.push_back(fmt::format("{} {}[{}, {}] of {}: {}, expected {} within {:.2g}{}", operand.name,
                                    name_of(operand.backend.dtype), i / operand.stride, i % operand.stride,
                                    to_string(operand.backend.shape), got, expected, allowed,
                                    between ? " (between the rows)" : ""));
    return;
  }
}

std::vector<std::string> Trial::failures() {
  for (const Operand& operand : operands_) {
    if (operand.compared) compare(operand);
  }
  return failures_;
}

}  // namespace shoal::testing
