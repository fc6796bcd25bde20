#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "data/index_files.h"
#include "data/published_source.h"
#include "data_tools/show_batch.h"
#include "shoal/commands.h"
#include "shoal/spec_words.h"
#include "train/train_data.h"

namespace shoal {
namespace {

int show(const Invocation& given) {
  const RunSpec spec = spec_of(given, Inputs::checked).spec;
  const int64_t step = given.integer("--step", 0, 0);
  std::optional<int64_t> rank;
  if (given.has("--rank")) rank = given.integer("--rank", 0, 0);
  const auto source = open_split(spec, Split::train, samples_needed(spec));
  const BatchRows batch = batch_of(spec, *source, step, rank);
  if (const std::string path = given.text("--output"); !path.empty()) {
    write_batch_npy(batch, path);
    Log().info("{}: {} rows of {} tokens", path, batch.samples.size(), batch.length);
    return 0;
  }
  if (given.text("--as", "ids") == "ids") {
    std::fputs(ids_text(batch).c_str(), stdout);
    return 0;
  }
  if (spec.data.tokenizer.empty())
    user_error("data.tokenizer is not set: there is nothing to make text with");
  std::fputs(decoded_text(batch, *open_tokenizer(spec.data.tokenizer)).c_str(), stdout);
  return 0;
}

int write_index(const Invocation& given) {
  const RunSpec spec = spec_of(given, Inputs::checked).spec;
  if (spec.data.order != "gpt-neox" && spec.data.order != "megatron") {
    throw UserError(Problem{"has no index files", "data.order", spec.data.order, "gpt-neox or megatron",
                            "the native order is computed, and preshuffled rows stand in order"});
  }
  const auto source = open_split(spec, Split::train, samples_needed(spec));
  const auto& published = dynamic_cast<const PublishedSource&>(*source);
  const bool is_megatron = spec.data.order == "megatron";
  const std::filesystem::path folder = given.text("--output", ".");
  std::filesystem::create_directories(folder);
  for (int i = 0; i < published.num_sources(); ++i) {
    const TokenRows& rows = published.source(i);
    const std::string set = std::filesystem::path(rows.file().prefix()).filename();
    const uint64_t seed = spec.data.seed >= 0 ? uint64_t(spec.data.seed) : spec.run.seed;
    const std::string name = is_megatron ? fmt::format("{}-GPTDataset-train", set)
                                         : fmt::format("{}_train_{}_indexmap_{}ns_{}sl_{}s", set, i,
                                                       published.samples_asked(i), rows.seq_length(), seed);
    for (const std::string& file : write_index_files(
             published.map(i), is_megatron ? PublishedOrder::megatron : PublishedOrder::gpt_neox,
             rows.first_document(), folder / name)) {
      std::printf("%s\n", file.c_str());
    }
  }
  return 0;
}

}  // namespace

Command data_show_command() {
  return {
      .name = "show",
      .summary = "print or write the exact batch of any step of a run",
      .description =
          "Works from the spec and the token files alone: nothing of the run is needed, and no earlier step "
          "is read. A row has seq_length + 1 tokens: the inputs are all but the last, the targets all but "
          "the first. Step N is the batch that a checkpoint of step N has not seen yet.",
      .arguments = spec_arguments(),
      .flags = {{.name = "--step", .value = "N", .doc = "The step, counted from 0 (default: 0)."},
                {.name = "--rank",
                 .value = "R",
                 .doc = "Only the rows that this rank of the spec's grid works on."},
                {.name = "--as",
                 .value = "FORM",
                 .doc = "How rows are printed (default: ids).",
                 .choices = {"ids", "text"}},
                {.name = "--output",
                 .value = "FILE.npy",
                 .doc = "Write an array [rows, seq_length + 1] instead of printing.",
                 .completes = Completes::file}},
      .examples = {{"shoal data show configs/demo.yaml --step 100 --as text", "What step 100 learns from."},
                   {"shoal data show run.yaml --step 71000 --rank 3 --output rows.npy",
                    "The rows of one rank, for NumPy."}},
      .run = show};
}

Command data_index_command() {
  return {
      .name = "index",
      .summary = "write a run's sample order as the index files of GPT-NeoX or Megatron-LM",
      .description =
          "For each training source, the arrays of documents, samples and shuffle as .npy, named as GPT-NeoX "
          "names them. Megatron-LM puts a hash of its settings before the name: rename the files. To read "
          "such files, give a source an index: data.train=[{path: PREFIX, index: PREFIX_OF_THE_NPY_FILES}]",
      .arguments = spec_arguments(),
      .flags = {{.name = "--output",
                 .value = "FOLDER",
                 .doc = "Where the files go (default: here).",
                 .completes = Completes::folder}},
      .examples = {{"shoal data index run.yaml --output maps", ""}},
      .run = write_index};
}

}  // namespace shoal
