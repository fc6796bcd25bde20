#include "hf/export.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/units.h"
#include "checkpoint/safetensors_writer.h"
#include "hf/config.h"
#include "hf/parity.h"
#include "hf/tokenizer_files.h"
#include "model/hf_names.h"
#include "tensor/half.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;

struct TypeRow {
  const char* name;
  const char* safetensors;
  const char* torch;
  int64_t bytes;
  double parity;  // the largest relative difference of the logits that rounding the weights explains
};
constexpr TypeRow types[] = {{"f32", "F32", "float32", 4, 1e-5},
                             {"bf16", "BF16", "bfloat16", 2, 0.1},
                             {"f16", "F16", "float16", 2, 0.02}};

const TypeRow& type_of(const std::string& name) {
  const auto row = std::find_if(std::begin(types), std::end(types), [&](auto& t) { return name == t.name; });
  if (row == std::end(types))
    throw UserError(Problem{.what = "unknown type", .value = name, .allowed = "f32, bf16 or f16"});
  return *row;
}

// The model as its tensors are; the spec may leave the vocabulary to the tokenizer.
ModelSection model_of(const CheckpointReader& checkpoint, const RunSpec& spec) {
  ModelSection model = spec.model;
  const auto* table = checkpoint.find("model/embedding.weight");
  if (table == nullptr || table->shape.rank() != 2)
    runtime_failure("{}: there is no model/embedding.weight", checkpoint.path());
  model.vocab_size = table->shape[0];
  return model;
}

// A folder under a temporary name until it is complete.
class PendingFolder {
 public:
  explicit PendingFolder(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
    if (fs::exists(path_) && (!fs::is_directory(path_) || !fs::is_empty(path_))) {
      throw UserError(Problem{.what = "there is something at the place to write to already",
                              .where = path_,
                              .allowed = "a new or an empty folder",
                              .hint = "remove it, or name another folder"});
    }
    std::error_code error;
    fs::remove_all(temporary(), error);
    fs::create_directories(temporary(), error);
    if (error) runtime_failure("cannot create {}: {}", temporary(), error.message());
  }
  ~PendingFolder() {
    std::error_code ignored;
    if (!published_) fs::remove_all(temporary(), ignored);
  }
  std::string temporary() const { return path_ + std::string(pending_suffix); }
  void publish() {
    std::error_code error;
    fs::remove(path_, error);  // an empty folder
    fs::rename(temporary(), path_, error);
    if (error) runtime_failure("cannot rename to {}: {}", path_, error.message());
    published_ = true;
  }

 private:
  std::string path_;
  bool published_ = false;
};

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) runtime_failure("cannot write {}", path.string());
}

// The values in the file's type, in place of the floats' own memory where it is narrower.
const void* converted(std::vector<float>& values, const TypeRow& type) {
  if (type.bytes == 4) return values.data();
  auto* narrow = reinterpret_cast<uint16_t*>(values.data());
  const bool brain = std::string_view(type.name) == "bf16";
  for (size_t i = 0; i < values.size(); ++i) {
    const float value = values[i];
    const uint16_t bits = brain ? bf16(value).bits : float_to_half(value);
    std::memcpy(narrow + i, &bits, sizeof bits);
  }
  return narrow;
}

SafetensorsEntry entry_of(const HfTensor& tensor, const TypeRow& type) {
  SafetensorsEntry entry{tensor.hf_name, type.safetensors, {}, 0, tensor.hf_shape.numel() * type.bytes};
  for (int d = 0; d < tensor.hf_shape.rank(); ++d) entry.shape.push_back(tensor.hf_shape[d]);
  return entry;
}

// Tensors in order, as many to a shard as fit.
std::vector<std::vector<HfTensor>> shards_of(const ModelConfig& config, const TypeRow& type, int64_t limit) {
  std::vector<std::vector<HfTensor>> shards(1);
  int64_t used = 0;
  for (const HfTensor& tensor : hf_tensors(config)) {
    const int64_t bytes = tensor.hf_shape.numel() * type.bytes;
    if (used > 0 && used + bytes > limit) {
      shards.emplace_back();
      used = 0;
    }
    shards.back().push_back(tensor);
    used += bytes;
  }
  return shards;
}

int64_t write_weights(CheckpointReader& checkpoint, const ModelConfig& config, const fs::path& folder,
                      const TypeRow& type, int64_t shard_bytes) {
  const auto shards = shards_of(config, type, shard_bytes);
  nlohmann::json index;
  int64_t total = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = shards.size() == 1
                                 ? hf_weights_name
                                 : fmt::format("model-{:05d}-of-{:05d}.safetensors", i + 1, shards.size());
    std::vector<SafetensorsEntry> entries;
    for (const HfTensor& tensor : shards[i]) {
      entries.push_back(entry_of(tensor, type));
      index["weight_map"][tensor.hf_name] = name;
      total += entries.back().bytes;
    }
    SafetensorsWriter writer(folder / name, entries, {{"format", "pt"}});
    for (size_t t = 0; t < entries.size(); ++t) {
      const HfTensor& tensor = shards[i][t];
      const std::string source = "model/" + tensor.parameter;
      const auto* stored = checkpoint.find(source);
      if (stored == nullptr) runtime_failure("{}: there is no tensor {}", checkpoint.path(), source);
      std::vector<float> values(static_cast<size_t>(tensor.slab.shape.numel()));
      checkpoint.read(
          {source, stored->shape, tensor.slab, View(values.data(), DType::f32, tensor.slab.shape)});
      writer.append(converted(values, type), entries[t].bytes);
    }
    writer.finish();
  }
  index["metadata"]["total_size"] = total;
  if (shards.size() > 1) write_text(folder / hf_index_name, index.dump(2) + "\n");
  return total;
}

void check_parity(CheckpointReader& checkpoint, const std::string& folder, const ModelConfig& config,
                  const TypeRow& type, Log& log) {
  const Parity parity = compare_logits(checkpoint, HfFolder(folder), config);
  log.info(
      "parity of the logits on {} tokens: relative difference {:.2g}, largest {:.2g}, {} of {} choices the "
      "same",
      parity.positions, parity.relative, parity.largest, parity.same_choice, parity.positions);
  if (std::isfinite(parity.relative) && parity.relative <= type.parity) return;
  throw RuntimeFailure(Problem{
      .what = "the logits of the exported model are not those of the checkpoint; nothing was written",
      .where = checkpoint.path(),
      .value = fmt::format("relative difference {:.3g}", parity.relative),
      .allowed = fmt::format("{:g} in {}", type.parity, type.name),
      .hint =
          "weights that are not finite, or a wide range of them, do that; --no-parity leaves the check out"});
}

}  // namespace

void export_hf(CheckpointReader& checkpoint, const RunSpec& spec, const std::string& out,
               const ExportOptions& options, Log& log) {
  const TypeRow& type = type_of(options.dtype);
  const ModelSection section = model_of(checkpoint, spec);
  const ModelConfig config = resolve_model(section, 0);
  hf_tensors(config);  // throws before anything is written if there is no such class
  write_hf_config(section, spec.data.seq_length, type.torch, {});

  PendingFolder folder(out);
  HfTokenIds ids;
  if (spec.data.tokenizer.empty()) {
    log.warn("data.tokenizer is not set: the folder has no tokenizer");
  } else {
    ids = write_tokenizer_files(spec.data.tokenizer, folder.temporary(), spec.data.seq_length);
  }
  const fs::path place(folder.temporary());
  write_text(place / hf_config_name, write_hf_config(section, spec.data.seq_length, type.torch, ids));
  write_text(place / "generation_config.json", generation_config(ids));
  const int64_t bytes = write_weights(checkpoint, config, place, type, options.shard_bytes);
  if (options.check_parity) check_parity(checkpoint, folder.temporary(), config, type, log);
  folder.publish();
  log.info("exported {}, step {}, to {}: {} in {}", checkpoint.path(), checkpoint.info().step, out,
           format_bytes(double(bytes)), type.name);
}

}  // namespace shoal
