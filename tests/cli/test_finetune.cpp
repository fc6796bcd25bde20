// Going on from an imported model on another corpus, as docs/finetuning.md shows it.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "cli/run_shoal.h"
#include "temp_folder.h"
#include "tiny_corpus.h"

using namespace shoal::test;

namespace {

std::string bytes_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void must(const std::string& command, const std::string& folder) {
  const Result done = run_shell(command, folder);
  CAPTURE(command);
  CAPTURE(done.err);
  REQUIRE(done.exit_code == 0);
}

constexpr const char* published_text = R"(
run: {name: published, dir: published, steps: 3, threads: 1}
model: {hidden_size: 16, num_layers: 2, num_attention_heads: 2, vocab_size: 384}
data: {tokenizer: byte, seq_length: 16, train: [{path: train}]}
batch: {global: 4, micro: 4}
log: {peak_gflops: 10, progress: none}
)";

constexpr const char* spec_text = R"(
run: {name: tuned, dir: tuned, steps: 12, threads: 1, fork: base}
data: {seq_length: 16, train: [{path: train}]}
batch: {global: 8, micro: 8}
loss: {goldfish: {strategy: hash-table, k: 4, h: 3}}
optimizer: {lr: 5e-3}
checkpoint: {every: 8, schedule: pythia}
log: {peak_gflops: 10, progress: none}
)";

}  // namespace

TEST_CASE("an imported model is trained on with the goldfish loss, and every step is exported") {
  const TempFolder temp;
  write_tiny_corpus(temp / "train", 1, 20);
  std::ofstream(temp / "published.yaml") << published_text;
  std::ofstream(temp / "tune.yaml") << spec_text;
  must("shoal train published.yaml", temp.path());
  must("shoal hf export published published-hf", temp.path());
  must("shoal hf import published-hf base", temp.path());
  const std::string train = "shoal train base/model.yaml tune.yaml schedule.decay_steps=12 ";
  must(train + "run.steps=8", temp.path());
  must(train, temp.path());  // resumed: the fork counts at the start only
  must("shoal hf export tuned revisions --revisions", temp.path());
  const auto weights = [&](const std::string& folder) {
    return bytes_of(temp / (folder + "/model.safetensors"));
  };
  // Step 0 is the published model, bit for bit; later ones are not.
  const std::string published = weights("published-hf");
  REQUIRE(!published.empty());
  CHECK(weights("revisions/step0") == published);
  for (const char* step : {"step1", "step2", "step4", "step8", "step12"}) {
    CAPTURE(step);
    CHECK(weights(std::string("revisions/") + step).size() == published.size());
    CHECK(weights(std::string("revisions/") + step) != published);
  }
  CHECK(run_shell("shoal hf export absent out --revisions", temp.path()).exit_code == 2);
}
