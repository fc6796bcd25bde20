#include "data_tools/train_tokenizer.h"

#include <mutex>

#include "base/error.h"
#include "base/units.h"
#include "data/bpe/trainer.h"
#include "data/output_file.h"
#include "data/utf8.h"
#include "data_tools/documents.h"
#include "data_tools/ordered_pipeline.h"
#include "data_tools/progress.h"

namespace shoal {

namespace {

// Counts are only added up: any place where a piece ends will do. A cut inside a word would count its halves.
size_t cut_before_space(std::string_view text) {
  const size_t at = text.find_last_of(" \n\t");
  return at == std::string_view::npos ? 0 : at;
}

struct Counted {
  int64_t text_bytes = 0, invalid = 0, bytes_consumed = 0;
};

// Takes the counts of a thread from a pool and puts them back.
class CountsPool {
 public:
  explicit CountsPool(std::vector<NormalForm> forms) : forms_(std::move(forms)) {}

  Counted count(const Block& block, const TrainTokenizerSettings& settings) {
    auto counts = take();
    Counted counted;
    counted.bytes_consumed = block.bytes_consumed;
    for_each_document(block, settings.layout, settings.skip_invalid, [&](const Document& document) {
      counts->add(document.text);
      counted.text_bytes += int64_t(document.text.size());
      counted.invalid += document.invalid;
    });
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(counts));
    return counted;
  }

  PieceCounts sum() {
    PieceCounts total(forms_);
    for (const auto& counts : idle_) total.add(*counts);
    return total;
  }

 private:
  std::unique_ptr<PieceCounts> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<PieceCounts>(forms_);
    auto counts = std::move(idle_.back());
    idle_.pop_back();
    return counts;
  }

  std::vector<NormalForm> forms_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PieceCounts>> idle_;
};

void write(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text.data(), text.size());
  file.sync();
  file.publish();
  sync_folder_of(path);
}

}  // namespace

TrainTokenizerCounts train_tokenizer(const TrainTokenizerSettings& settings, Log& log) {
  TrainerSettings trainer;
  trainer.vocab_size = settings.vocab_size;
  trainer.min_count = settings.min_count;
  if (settings.nfc) trainer.normal_forms.push_back(NormalForm::nfc);

  const auto files = find_input_files(settings.inputs);
  int64_t total = 0;
  for (const InputFile& file : files) total += file.bytes;
  TrainTokenizerCounts counts;
  CountsPool pool(trainer.normal_forms);
  Progress progress(log, "count", total);
  {
    BlockReader reader(files, settings.layout, cut_before_space);
    OrderedPipeline<Block, Counted> pipeline([&](Block& block) { return reader.next(block); },
                                             [&](Block& block) { return pool.count(block, settings); },
                                             settings.threads);
    pipeline.run([&](Counted&& counted) {
      counts.text_bytes += counted.text_bytes;
      counts.invalid += counted.invalid;
      progress.show(counted.bytes_consumed,
                    fmt::format("{:.1f} MB/s", double(counts.text_bytes) / 1e6 / progress.seconds()));
    });
  }
  const PieceCounts pieces = pool.sum();
  counts.pieces = int64_t(pieces.counts().size());
  if (counts.pieces == 0) throw UserError(Problem{"hold no text", "the input files", "", "", ""});

  Progress merging(log, "merge", settings.vocab_size);
  const BpeDescription description = train_bpe(pieces.counts(), trainer, [&](int64_t tokens) {
    merging.show(tokens, fmt::format("{} tokens", tokens));
  });
  counts.vocab_size = int64_t(description.vocab.size());
  write(settings.output, to_tokenizer_json(description));
  counts.seconds = progress.seconds();
  return counts;
}

}  // namespace shoal
