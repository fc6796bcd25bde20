// A small checkpoint of every type, for the tests.
#pragma once

#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/philox.h"
#include "checkpoint/checkpoint.h"

namespace shoal::test {

struct Sample {
  CheckpointInfo info{7, 224, "version: 1\nrun: {name: t}\n", {{"random", "{\"seed\": 1}"}, {"empty", ""}}};
  std::deque<std::vector<std::byte>> memory;
  std::vector<StateTensor> tensors;

  // With random bits, so that NaNs and denormals are among the values.
  void add(const std::string& name, DType dtype, const Shape& shape) {
    memory.emplace_back(static_cast<size_t>(shape.numel() * size_of(dtype)));
    const Philox random(1, name);
    for (size_t i = 0; i < memory.back().size(); ++i) memory.back()[i] = std::byte(random.bits(i) & 255u);
    tensors.push_back({name, shape, whole(shape), View(memory.back().data(), dtype, shape)});
  }

  Sample() {
    add("model/embed.weight", DType::f32, {40, 16});
    add("model/layers.0.attention.qkv.weight", DType::bf16, {16, 48});
    add("model/layers.0.norm.bias", DType::f32, {16});
    add("optimizer/m/embed.weight", DType::f32, {40, 16});
    add("optimizer/step", DType::i64, {});
    add("optimizer/extra/a", DType::f64, {2, 1, 3, 1, 2});
    add("optimizer/extra/b", DType::i32, {0, 3});
    add("optimizer/extra/c", DType::u8, {5});
    add("optimizer/extra/d", DType::u16, {3});
  }
};

// Whether every tensor of the file has exactly the sample's bytes.
inline bool same_content(CheckpointReader& reader, const Sample& sample) {
  if (reader.entries().size() != sample.tensors.size()) return false;
  for (const StateTensor& tensor : sample.tensors) {
    std::vector<std::byte> bytes(static_cast<size_t>(tensor.data.bytes()));
    StateTensor into = tensor;
    into.data.data = bytes.data();
    reader.read(into);
    if (!bytes.empty() && std::memcmp(bytes.data(), tensor.data.data, bytes.size()) != 0) return false;
  }
  return reader.info().step == sample.info.step &&
         reader.info().consumed_samples == sample.info.consumed_samples &&
         reader.info().spec_yaml == sample.info.spec_yaml && reader.info().strings == sample.info.strings;
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace shoal::test
