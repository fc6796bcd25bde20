#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "spec/checks.h"
#include "spec/scalar.h"

namespace shoal {
namespace {

void check_batch(const RunSpec& s, std::vector<Conflict>& out) {
  const int64_t ranks = s.parallel.data * s.parallel.z;
  const int64_t pass = s.batch.micro * ranks;
  if (pass < 1 || s.batch.global < 1 || s.batch.global % pass == 0) return;
  std::vector<std::string> fitting;
  for (int64_t micro = 1; micro * ranks <= s.batch.global; ++micro) {
    if (s.batch.global % (micro * ranks) == 0) fitting.push_back(fmt::format("{}", micro));
  }
  constexpr size_t kShown = 12;
  if (fitting.size() > kShown) fitting.resize(kShown);
  std::string hint;
  if (!fitting.empty()) hint = "values of batch.micro that fit: " + join_choices(fitting, ", ");
  out.push_back(
      {{"batch.micro", "batch.global", "parallel.data", "parallel.z"},
       {.what = "a step is not a whole number of passes",
        .value = ranks == 1 ? fmt::format("batch.global {} / batch.micro {}", s.batch.global, s.batch.micro)
                            : fmt::format("batch.global {} / (batch.micro {} * {} ranks over data and z)",
                                          s.batch.global, s.batch.micro, ranks),
        .allowed = "batch.global a multiple of batch.micro times the ranks over data and z",
        .hint = hint}});
}

void check_schedule(const RunSpec& s, std::vector<Conflict>& out) {
  const ScheduleSection& c = s.schedule;
  const int64_t span = c.decay_steps > 0 ? c.decay_steps : s.run.steps;
  const int64_t warmup = steps_of(c.warmup, span);
  if (warmup > span) {
    out.push_back({{"schedule.warmup", "schedule.decay_steps", "run.steps"},
                   {.what = "the warmup is longer than the schedule",
                    .value = fmt::format("{} steps of warmup, {} steps in all", warmup, span),
                    .allowed = "a fraction below 1, or at most that many steps"}});
  }
  if (c.name != "constant" && c.min_lr > s.optimizer.lr) {
    out.push_back({{"schedule.min_lr", "optimizer.lr"},
                   {.what = "the learning rate would end above its peak",
                    .value = fmt::format("schedule.min_lr {} > optimizer.lr {}", c.min_lr, s.optimizer.lr),
                    .allowed = "at most optimizer.lr"}});
  }
  if (c.name != "wsd") return;
  const int64_t cooldown = steps_of(c.cooldown, span);
  const int64_t start = c.cooldown_start >= 0 ? c.cooldown_start : span - cooldown;
  if (start < warmup || start > span) {
    out.push_back({{c.cooldown_start >= 0 ? "schedule.cooldown_start" : "schedule.cooldown",
                    "schedule.warmup", "schedule.decay_steps", "run.steps"},
                   {.what = "the cooldown does not fit between the warmup and the end of the schedule",
                    .value = fmt::format("it would begin at step {}", start),
                    .allowed = fmt::format("a beginning from step {} to step {}", warmup, span)}});
  }
}

void check_split(const RunSpec& s, std::vector<Conflict>& out) {
  const DataSection& d = s.data;
  if (d.split.empty()) return;
  if (!d.valid.empty() || !d.test.empty()) {
    const char* other = d.valid.empty() ? "data.test" : "data.valid";
    out.push_back({{"data.split", other},
                   {.what = fmt::format("data.split and {} contradict each other", other),
                    .value = d.split,
                    .allowed = "either: a split of data.train, or sets of their own"}});
  }
  int parts = 0;
  bool numbers = true;
  double sum = 0;
  for (size_t at = 0; at <= d.split.size(); ++parts) {
    const size_t end = std::min(d.split.find(',', at), d.split.size());
    std::string part = d.split.substr(at, end - at);
    part.erase(std::remove(part.begin(), part.end(), ' '), part.end());
    const auto value = parse_number(part);
    numbers = numbers && value && *value >= 0;
    sum += value.value_or(0);
    at = end + 1;
  }
  if (!numbers || parts > 3 || sum <= 0) {
    out.push_back({{"data.split"},
                   {.what = "data.split is no list of proportions",
                    .value = d.split,
                    .allowed = "up to three numbers, for train, valid and test: 969,30,1"}});
  }
}

void check_order(const RunSpec& s, std::vector<Conflict>& out) {
  const DataSection& d = s.data;
  const bool is_published = d.order == "gpt-neox" || d.order == "megatron";
  const auto refuse = [&](const char* key, std::string value, const char* allowed, const char* hint) {
    out.push_back({{key, "data.order"},
                   {.what = fmt::format("{} means nothing with data.order: {}", key, d.order),
                    .value = std::move(value),
                    .allowed = allowed,
                    .hint = hint}});
  };
  if (d.epochs > 0 && d.order != "gpt-neox") {
    refuse("data.epochs", fmt::format("{}", d.epochs), "data.order: gpt-neox",
           d.order == "megatron"
               ? "this order depends on the number of samples: freeze it by data.order_samples"
               : "the first samples of this order are the same however long the run is");
  }
  if (d.order_samples > 0 && !is_published) {
    refuse("data.order_samples", fmt::format("{}", d.order_samples), "data.order: gpt-neox or megatron",
           "the first samples of this order are the same however long the run is");
  }
  const bool has_index = std::any_of(d.train.begin(), d.train.end(),
                                     [](const DataSource& source) { return !source.index.empty(); });
  if (has_index && !is_published) {
    refuse("data.train", "a source with an index", "data.order: gpt-neox or megatron",
           "index files hold an order of one of these programs");
  }
  if (d.order == "preshuffled" && !d.split.empty()) {
    refuse("data.split", d.split, "validation sets of their own",
           "the rows are the training order as a whole");
  }
}

void check_start(const RunSpec& s, std::vector<Conflict>& out) {
  if (!s.run.fork.empty() && !s.run.branch.empty()) {
    out.push_back({{"run.fork", "run.branch"},
                   {.what = "run.fork and run.branch contradict each other",
                    .value = s.run.branch,
                    .allowed = "fork takes the weights of a checkpoint only, branch its whole state"}});
  }
  if (s.run.resume != "always") return;
  for (const auto& [key, path] : {std::pair{"run.fork", s.run.fork}, {"run.branch", s.run.branch}}) {
    if (path.empty()) continue;
    out.push_back(
        {{key, "run.resume"},
         {.what = fmt::format("{} and run.resume: always contradict each other", key),
          .value = path,
          .allowed = "fork and branch start a new run from an old one; resume continues the run itself",
          .hint = "with resume: if_available, only the first start begins from there"}});
  }
}

void check_goldfish(const RunSpec& s, std::vector<Conflict>& out) {
  const GoldfishSection& g = s.loss.goldfish;
  if (g.strategy.rfind("hash", 0) == 0 && g.h > s.data.seq_length) {
    out.push_back(
        {{"loss.goldfish.h", "data.seq_length"},
         {.what = "the goldfish window is longer than a sequence, so that nothing would be left out",
          .value = fmt::format("h {} > seq_length {}", g.h, s.data.seq_length),
          .allowed = "at most data.seq_length; the paper uses 13"}});
  }
  if (g.strategy == "static" && g.start >= s.data.seq_length) {
    out.push_back({{"loss.goldfish.start", "data.seq_length"},
                   {.what = "the first position to leave out lies behind the sequence",
                    .value = fmt::format("start {}, seq_length {}", g.start, s.data.seq_length),
                    .allowed = "below data.seq_length"}});
  }
}

void check_vocab(const RunSpec& s, std::vector<Conflict>& out) {
  constexpr int64_t kBytes = 256;
  if (s.data.tokenizer != "byte" || s.model.vocab_size == 0 || s.model.vocab_size >= kBytes) return;
  out.push_back({{"model.vocab_size", "data.tokenizer"},
                 {.what = "the vocabulary is smaller than the byte tokenizer's",
                  .value = fmt::format("{}", s.model.vocab_size),
                  .allowed = fmt::format("{} or more, or 0", kBytes)}});
}

void check_name(const RunSpec& s, std::vector<Conflict>& out) {
  if (!s.run.name.empty() || !s.run.dir.empty()) return;
  out.push_back(
      {{"run.name", "run.dir"},
       {.what = "the run has neither a name nor a folder", .allowed = "run.name, run.dir, or both"}});
}

}  // namespace

int64_t steps_of(double fraction_or_steps, int64_t steps) {
  constexpr double kMost = 9e18;
  return int64_t(
      std::min(fraction_or_steps < 1 ? fraction_or_steps * double(steps) : fraction_or_steps, kMost));
}

std::vector<Conflict> spec_conflicts(const RunSpec& spec) {
  std::vector<Conflict> out = model_conflicts(spec.model);
  check_batch(spec, out);
  check_schedule(spec, out);
  check_split(spec, out);
  check_order(spec, out);
  check_start(spec, out);
  check_goldfish(spec, out);
  check_vocab(spec, out);
  check_name(spec, out);
  return out;
}

}  // namespace shoal
