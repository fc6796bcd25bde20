#include "hf/import.h"

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/units.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/store.h"
#include "hf/config.h"
#include "hf/tokenizer_files.h"
#include "hf/weights.h"
#include "spec/load.h"
#include "spec/value.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;

// One of a tensor's dims, from the weights themselves: config.json may not have been told about padding.
int64_t first_dim(const HfFolder& folder, const std::string& tensor) {
  const SafetensorsEntry* entry = folder.find(tensor);
  return entry == nullptr || entry->shape.empty() ? 0 : entry->shape[0];
}

HfConfig config_of(const HfFolder& folder) {
  HfConfig config = read_hf_config(folder.text(hf_config_name), folder.file(hf_config_name));
  const auto take = [&](int64_t& value, const char* key, const std::string& tensor) {
    const int64_t found = first_dim(folder, tensor);
    if (found == 0 || found == value) return;
    if (value != 0 && std::string(key) != "vocab_size") return;  // check_tensors says what does not fit
    config.notes.push_back(fmt::format("{} is {}, from the shape of {}; config.json says {}", key, found,
                                       tensor, value == 0 ? "nothing" : std::to_string(value)));
    value = found;
  };
  take(config.model.vocab_size, "vocab_size", vocabulary_tensor(config.model.family));
  take(config.model.intermediate_size, "intermediate_size", feed_forward_tensor(config.model.family));
  if (config.model.intermediate_size == 0 || config.model.vocab_size == 0) {
    throw UserError(Problem{.what = "neither config.json nor the tensors say how large the model is",
                            .where = folder.file(hf_config_name),
                            .value = config.model.vocab_size == 0 ? "vocab_size" : "intermediate_size"});
  }
  return config;
}

void prepare_folder(const std::string& out) {
  std::error_code error;
  if (fs::exists(out) && (!fs::is_directory(out) || !fs::is_empty(out))) {
    throw UserError(Problem{.what = "there is something at the place to write to already",
                            .where = out,
                            .allowed = "a new or an empty folder",
                            .hint = "remove it, or name another folder"});
  }
  fs::create_directories(fs::path(out) / "ckpt", error);
  if (error) runtime_failure("cannot create {}: {}", out, error.message());
}

// The part of a spec that goes on from the import has to say.
std::string model_yaml(const RunSpec& spec, const std::string& out) {
  std::string text = fmt::format(
      "# The model in {}: train it on with `shoal train {}/model.yaml SPEC run.fork={}`.\n", out, out, out);
  text += "model:\n";
  for (const Key& key : key_table()) {
    if (key.section() == "model" && key.path != "model.preset")
      text += fmt::format("  {}: {}\n", key.name(), value_text(key, spec));
  }
  text += "data:\n";
  for (const char* path : {"data.tokenizer", "data.seq_length"}) {
    const Key& key = *find_key(path);
    text += fmt::format("  {}: {}\n", key.name(), value_text(key, spec));
  }
  return text;
}

}  // namespace

std::string import_hf(const std::string& path, const std::string& out, Log& log) {
  const HfFolder folder(path);
  const HfConfig config = config_of(folder);
  const ModelConfig model = resolve_model(config.model, 0);
  check_tensors(folder, model);
  for (const std::string& note : config.notes) log.line(note);

  prepare_folder(out);
  LoadedSpec loaded;
  RunSpec& spec = loaded.spec;
  spec.model = config.model;
  spec.data.seq_length = config.max_positions;
  spec.run.name = fs::path(out).lexically_normal().filename().string();
  if (spec.run.name.empty())
    spec.run.name = fs::path(out).lexically_normal().parent_path().filename().string();
  if (copy_tokenizer_files(path, out)) {
    spec.data.tokenizer = (fs::path(out) / "tokenizer.json").string();
  } else {
    log.warn("{} has no tokenizer.json: set data.tokenizer to generate text", path);
  }

  std::vector<LazyTensor> tensors;
  const auto parameters = hf_parameters(model);
  for (const auto& [name, parameter] : parameters) {
    tensors.push_back(
        {"model/" + name, DType::f32, parameter.shape,
         [&folder, &parameter](const View& values) { read_parameter(folder, parameter, values); }});
  }
  const std::string checkpoint = CheckpointStore((fs::path(out) / "ckpt").string(), {}).path_of(0);
  write_checkpoint(checkpoint, {0, 0, to_yaml(loaded, false), {}}, tensors);
  std::ofstream(fs::path(out) / "model.yaml") << model_yaml(spec, out);
  log.info("imported {}: {} parameters in {} tensors, vocabulary {}, to {}", path,
           format_count(double(model.parameter_count())), folder.tensors().size(), model.vocab_size,
           checkpoint);
  return checkpoint;
}

}  // namespace shoal
