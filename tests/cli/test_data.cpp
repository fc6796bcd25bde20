// shoal data show, index and inspect on a small corpus.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "cli/run_shoal.h"
#include "temp_folder.h"

using namespace shoal::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string read_bytes(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_corpus(const TempFolder& folder) {
  std::ofstream text(folder / "text.txt");
  for (int i = 0; i < 60; ++i) text << "Line " << i % 50 << " of a small corpus.\n";
  text.close();
  std::ofstream(folder / "run.yaml") << R"(version: 1
run: {name: small, steps: 6}
model: {hidden_size: 32, num_layers: 1, num_attention_heads: 2}
data: {tokenizer: byte, seq_length: 16, train: [{path: corpus}], order: gpt-neox}
batch: {global: 8, micro: 2}
parallel: {z: 2, data: 2}
)";
  const Result made = run_shell(
      "shoal data tokenize text.txt --documents line --tokenizer byte --output corpus", folder / "");
  REQUIRE(made.exit_code == 0);
}

// The pair of a preshuffled set: each sequence is a row of u16 tokens.
void write_rows(const std::string& prefix, const std::string& rows, int64_t length) {
  std::ofstream(prefix + ".bin", std::ios::binary) << rows;
  std::ofstream index(prefix + ".idx", std::ios::binary);
  const auto put = [&](auto value) { index.write(reinterpret_cast<const char*>(&value), sizeof value); };
  const int64_t count = int64_t(rows.size()) / (2 * length);
  index.write("MMIDIDX\0\0", 9);
  put(int64_t{1});
  put(uint8_t{8});  // u16
  put(count);
  put(count + 1);
  for (int64_t row = 0; row < count; ++row) put(int32_t(length));
  for (int64_t row = 0; row < count; ++row) put(2 * length * row);
  for (int64_t row = 0; row <= count; ++row) put(row);
}

int count_lines(const std::string& text) {
  return int(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("data show: the rows of a step, whole, by rank, as text and for NumPy") {
  const TempFolder folder;
  write_corpus(folder);
  const auto show = [&](const std::string& words) {
    return run_shell("shoal data show run.yaml " + words, folder / "");
  };
  const Result all = show("--step 3");
  REQUIRE(all.exit_code == 0);
  CHECK(count_lines(all.out) == 8);
  CHECK(all.out.starts_with("24: "));
  std::string by_rank;
  for (int rank = 0; rank < 4; ++rank) by_rank += show("--step 3 --rank " + std::to_string(rank)).out;
  CHECK(by_rank == all.out);  // one pass a step: the slices of the ranks in order
  CHECK(contains(show("--step 3 --as text").out, "--- sample 31\n"));
  CHECK(contains(show("--step 3 --as text").out, "small"));
  REQUIRE(show("--step 3 --output rows.npy").exit_code == 0);
  CHECK(read_bytes(folder / "rows.npy").size() == 128 + 8 * 17 * 2);
  const Result late = show("--step 1000000");
  CHECK(late.exit_code == 2);
  CHECK(contains(late.err, "no data for this step"));
  CHECK(show("--rank 4").exit_code == 2);
  CHECK(show("--step 3 data.order=native").out != all.out);

  // Both routes to the order give the same rows: computed, and from index files.
  REQUIRE(run_shell("shoal data index run.yaml --output maps", folder / "").exit_code == 0);
  const Result read =
      show("--step 3 data.train='[{path: corpus, index: maps/corpus_train_0_indexmap_49ns_16sl_1234s}]'");
  CHECK(read.out == all.out);

  // And from the rows themselves in training order, as the Pythia suite publishes them.
  std::string rows;
  for (int step = 0; step < 6; ++step) {
    REQUIRE(show("--output rows.npy --step " + std::to_string(step)).exit_code == 0);
    rows += read_bytes(folder / "rows.npy").substr(128);
  }
  write_rows(folder / "rows", rows, 17);
  const Result preshuffled = show("--step 3 data.order=preshuffled data.train='[{path: rows}]'");
  CHECK(preshuffled.out == all.out);
  CHECK(show("--step 4 data.order=preshuffled data.train='[{path: rows}]'").out != all.out);
}

TEST_CASE("data inspect: documents, duplicates, and what a run reads") {
  const TempFolder folder;
  write_corpus(folder);
  const Result pair = run_shell("shoal data inspect corpus", folder / "");
  CHECK(pair.exit_code == 0);
  CHECK(contains(pair.out, "60 of 60 documents end with the id 256"));
  CHECK(contains(pair.out, "10 documents equal an earlier one"));
  CHECK(contains(pair.out, "neighbours share one token"));
  const Result run = run_shell("shoal data inspect run.yaml", folder / "");
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "48 samples: 6 steps of 8; every source has enough"));
  CHECK(contains(run.out, "in the order of GPT-NeoX"));
  const Result frozen = run_shell("shoal data inspect run.yaml data.epochs=1 run.steps=100", folder / "");
  CHECK(frozen.exit_code == 2);
  CHECK(contains(frozen.err, "the run takes 800 samples"));
}

TEST_CASE("eval memorization: training rows, documents, and predictions from files") {
  const TempFolder folder;
  write_corpus(folder);
  const auto shell = [&](const std::string& command) { return run_shell(command, folder / ""); };
  const std::string keys =
      "data.order=native parallel.z=1 parallel.data=1 run.steps=60 batch.micro=8 optimizer.lr=1e-2 "
      "checkpoint.every=20 "
      "checkpoint.keep_last=0 log.progress=none";
  REQUIRE(shell("shoal train run.yaml run.dir=run " + keys).exit_code == 0);
  const Result scored = shell("shoal eval memorization run --k 8 --l 4 --output final.csv --count 100");
  REQUIRE(scored.exit_code == 0);
  CHECK(contains(scored.out, "sequences 0 to 100 of the training order"));
  CHECK(contains(scored.out, "memorized "));
  CHECK(count_lines(read_bytes(folder / "final.csv")) == 100);
  REQUIRE(shell("shoal eval memorization run/ckpt/step_000020.h5 --k 8 --l 4 --output early.csv").exit_code ==
          0);
  CHECK(count_lines(read_bytes(folder / "early.csv")) == 160);  // the rows seen by then
  const Result table = shell("shoal eval prediction final.csv early.csv final.csv");
  CHECK(table.exit_code == 0);
  CHECK(contains(table.out, "recall"));
  CHECK(count_lines(table.out) == 3);

  const Result documents = shell("shoal eval memorization run --data corpus --last 5 --epochs 6 --json");
  CHECK(contains(documents.out, "\"sequences\":60"));
  CHECK(contains(read_bytes(folder / "run/memorization.jsonl"),
                 "{\"epochs\":6,\"tokens\":5,\"sequences\":60,"));
  CHECK(shell("shoal report run").exit_code == 0);
  CHECK(contains(read_bytes(folder / "run/report.html"), "Pages memorized after epochs"));
  CHECK(shell("shoal eval memorization run --k 17").exit_code == 2);
  CHECK(shell("shoal eval run").exit_code == 2);  // the plain evaluation still reads its words: no valid data
  CHECK(contains(shell("shoal eval --help").out, "prediction"));
}

TEST_CASE("names of files and folders may be those of commands") {
  const TempFolder folder;
  CHECK(contains(run_shell("shoal data inspect show", folder / "").err, "show.idx"));
  CHECK(contains(run_shell("shoal data inspect train", folder / "").err, "train.idx"));
  CHECK(contains(run_shell("shoal eval data", folder / "").err, "data"));
  CHECK(run_shell("shoal eval data", folder / "").exit_code == 2);
  CHECK(contains(run_shell("shoal ckpt ls suite", folder / "").err, "no checkpoint"));
}
