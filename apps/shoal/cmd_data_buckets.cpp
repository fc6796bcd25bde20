#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/log.h"
#include "data_tools/buckets.h"
#include "shoal/commands.h"

namespace shoal {
namespace {

std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    int64_t number = -1;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, number);
    if (error != std::errc{} || rest != text.data() + end || number < 0) {
      throw UserError(Problem{"is no list of epochs", "--epochs", text, "numbers like 0,1,4,6", ""});
    }
    numbers.push_back(number);
    at = end + 1;
  }
  return numbers;
}

int buckets(const Invocation& given) {
  BucketSettings settings;
  settings.input = given.text("PREFIX");
  settings.output = given.text("--output", "buckets");
  settings.seq_length = given.integer("--seq-length", 128, 1, 1 << 20);
  settings.pages = given.integer("--pages", 20, 1);
  settings.epochs = numbers_of(given.text("--epochs", "0,1,4,6"));
  settings.warmup_rows = given.integer("--warmup-rows", 0, 0);
  settings.rows = given.integer("--rows", 0, 0);
  if (!given.has("--rows")) {
    for (const int64_t epochs : settings.epochs) settings.rows += epochs * settings.pages;
  }
  settings.seed = uint64_t(given.integer("--seed", 1234, 0));
  const BucketCounts counts = make_buckets(settings);
  Log().info(
      "{}: {} rows of other pages, then {} with {} buckets of {} pages among them; {} of {} pages used",
      settings.output, settings.warmup_rows, settings.rows, settings.epochs.size(), settings.pages,
      counts.others + settings.pages * int64_t(settings.epochs.size()), counts.candidates);
  return 0;
}

}  // namespace

Command data_buckets_command() {
  return {
      .name = "buckets",
      .summary = "make the data of the memorization protocol: buckets of pages seen for 0, 1, 4 and 6 epochs",
      .description =
          "A page is the first seq-length + 1 tokens of a document. Random pages go into disjoint buckets; "
          "training first sees other pages alone, then rows in which the pages of each bucket stand as often "
          "as the bucket has epochs, in random order among other pages, each of these once. NAME holds the "
          "rows for data.order: preshuffled, NAME_<epochs> the pages of each bucket, for "
          "`shoal eval memorization --data`.",
      .arguments = {{.name = "PREFIX", .doc = "The .bin/.idx pair to take documents from."}},
      .flags = {{.name = "--output",
                 .value = "NAME",
                 .doc = "Prefix of what is written (default: buckets).",
                 .completes = Completes::file},
                {.name = "--seq-length", .value = "N", .doc = "Tokens of a page, less one (default: 128)."},
                {.name = "--pages", .value = "N", .doc = "Pages in each bucket (default: 20)."},
                {.name = "--epochs", .value = "LIST", .doc = "One bucket for each (default: 0,1,4,6)."},
                {.name = "--warmup-rows", .value = "N", .doc = "Rows of the warm-up (default: 0)."},
                {.name = "--rows",
                 .value = "N",
                 .doc = "Rows after the warm-up; as many as the buckets fill, if not given."},
                {.name = "--seed", .value = "N", .doc = "Chooses pages and their order (default: 1234)."}},
      .examples = {{"shoal data buckets data/corpus --pages 40 --warmup-rows 6400 --rows 6400 --output pages",
                    ""}},
      .run = buckets};
}

}  // namespace shoal
