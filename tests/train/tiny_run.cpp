#include "train/tiny_run.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/store.h"
#include "spec/load.h"
#include "tiny_corpus.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace shoal::test {

namespace {

constexpr const char* spec_text = R"(
run: {name: tiny, steps: 8, threads: 1}
model: {hidden_size: 16, num_layers: 2, num_attention_heads: 2, vocab_size: 32}
data: {seq_length: 12}
batch: {global: 4, micro: 2}
optimizer: {lr: 1e-2}
schedule: {warmup: 3, min_lr: 1e-3}
checkpoint: {every: 3}
eval: {every: 2}
log: {progress: none, peak_gflops: 10}
)";

}  // namespace

TinyRun::TinyRun() {
  write_tiny_corpus(path("train"), 1, 20);
  write_tiny_corpus(path("valid"), 2, 3);
}

std::vector<std::string> TinyRun::words(const std::vector<std::string>& overrides) const {
  std::vector<std::string> words{"run.dir=" + path("run"), "data.train=[{path: " + path("train") + "}]",
                                 "data.valid=[{path: " + path("valid") + "}]"};
  words.insert(words.end(), overrides.begin(), overrides.end());
  return words;
}

ExitCode TinyRun::train(const std::vector<std::string>& overrides, std::unique_ptr<Hook> hook) const {
  const LoadedSpec loaded = parse_spec(spec_text, "tiny.yaml", words(overrides));
  Runtime runtime(loaded.spec);
  RunFolder folder(run_folder_path(loaded.spec));
  Log log(true);

  Trainer trainer(loaded, runtime, folder, log, "test");

  if (hook != nullptr) trainer.add(std::move(hook));
  return trainer.run();
}

std::vector<std::string> TinyRun::metrics(const std::string& run) const {
  std::vector<std::string> lines;
  std::ifstream file(path(run) + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    auto record = nlohmann::ordered_json::parse(line);
    for (const char* timed : {"step_ms", "data_ms", "eval_ms", "tokens_per_second", "mfu", "memory"})
      record.erase(timed);
    lines.push_back(record.dump());
  }
  return lines;
}

std::map<std::string, std::string> TinyRun::checkpoint(int64_t step, const std::string& run) const {
  const CheckpointReader reader(CheckpointStore(path(run) + "/ckpt", {}).path_of(step));
  std::map<std::string, std::string> content = reader.info().strings;
  content["step"] = std::to_string(reader.info().step);
  content["consumed"] = std::to_string(reader.info().consumed_samples);
  for (const auto& entry : reader.entries()) content[entry.name] = entry.hash;
  return content;
}

void StopAfter::after_step(Trainer& trainer, const StepRecord& record) {
  if (record.step == step_) trainer.stop(ExitCode::stopped);
}

}  // namespace shoal::test
