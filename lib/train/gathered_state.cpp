#include "train/gathered_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace shoal {
namespace {

std::vector<int64_t> numbers(const Shape& shape) {
  std::vector<int64_t> dims;
  for (int d = 0; d < shape.rank(); ++d) dims.push_back(shape[d]);
  return dims;
}

Shape shape_of(const nlohmann::json& dims) {
  Shape shape;
  for (const auto& dim : dims) shape.append(dim.get<int64_t>());
  return shape;
}

std::string describe(const std::vector<StateTensor>& parts) {
  auto list = nlohmann::json::array();
  for (const StateTensor& t : parts)
    list.push_back({t.name, numbers(t.shape), numbers(t.slab.offset), numbers(t.slab.shape)});
  return list.dump();
}

void send_all(const std::vector<StateTensor>& parts, Communicator& world) {
  std::string text = describe(parts);
  auto size = static_cast<int64_t>(text.size());
  world.send(View(&size, DType::i64, {1}), 0, "save").wait();
  world.send(View(text.data(), DType::u8, {size}), 0, "save").wait();
  for (const StateTensor& part : parts) world.send(part.data, 0, "save").wait();
}

}  // namespace

GatheredState::GatheredState(std::vector<StateTensor> parts, Communicator& world) {
  if (world.rank() != 0) {
    send_all(parts, world);
    return;
  }
  tensors_ = std::move(parts);
  for (int rank = 1; rank < world.size(); ++rank) {
    int64_t size = 0;
    world.recv(View(&size, DType::i64, {1}), rank, "save").wait();
    std::string text(size_t(size), ' ');
    world.recv(View(text.data(), DType::u8, {size}), rank, "save").wait();
    std::vector<StateTensor> theirs;
    int64_t count = 0;
    for (const auto& entry : nlohmann::json::parse(text)) {
      theirs.push_back(
          {entry[0].get<std::string>(), shape_of(entry[1]), {shape_of(entry[2]), shape_of(entry[3])}, {}});
      count += theirs.back().slab.shape.numel();
    }
    float* to = received_.emplace_back(size_t(count)).data();
    for (StateTensor& part : theirs) {
      part.data = View(to, DType::f32, part.slab.shape);
      to += part.slab.shape.numel();
      world.recv(part.data, rank, "save").wait();
      tensors_.push_back(std::move(part));
    }
  }
}

}  // namespace shoal
