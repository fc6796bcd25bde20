#include "train/batch_gradient.h"

#include <algorithm>
#include <array>

namespace shoal {
namespace {

// Counts of targets are far below 2^53.
using Numbers = std::array<double, 5>;

Numbers numbers_of(const LossSums& s) {
  return {s.kept, s.dropped, s.z, double(s.kept_tokens), double(s.dropped_tokens)};
}

LossSums sums_of(const Numbers& n) {
  return {n[0], n[1], n[2], int64_t(n[3]), int64_t(n[4])};
}

}  // namespace

BatchGradient::BatchGradient(Decoder& model, Context& context, Communicator& replicas, const RunSpec& spec)
    : model_(model),
      replicas_(replicas),
      micro_(spec.batch.micro),
      sum_(make_gradient_sum(model, context, spec.parallel)) {}

LossSums BatchGradient::compute(const Batch& rows, int64_t kept) {
  replicas_.all_reduce(View(&kept, DType::i64, {1}), Reduce::sum, "kept targets").wait();
  model_.parameters().clear_grads();
  sum_->begin();
  std::vector<LossSums> passes;
  for (int64_t row = 0; row < rows.rows; row += micro_) {
    const int64_t at = row * rows.seq_length;
    const Batch pass{std::min(micro_, rows.rows - row), rows.seq_length, rows.tokens + at, rows.targets + at,
                     rows.weights != nullptr ? rows.weights + at : nullptr};
    if (row + micro_ >= rows.rows) sum_->before_last_pass();
    passes.push_back(model_.train(pass, double(std::max<int64_t>(kept, 1))));
  }
  sum_->finish();
  return sum_in_order(passes, replicas_);
}

LossSums sum_in_order(const std::vector<LossSums>& passes, Communicator& replicas) {
  std::vector<Numbers> mine, all(passes.size() * size_t(replicas.size()));
  for (const LossSums& pass : passes) mine.push_back(numbers_of(pass));
  const auto view = [](std::vector<Numbers>& numbers) {
    return View(numbers.data(), DType::f64, {int64_t(numbers.size() * std::tuple_size_v<Numbers>)});
  };
  replicas.all_gather(view(mine), view(all), "loss").wait();
  LossSums sums;
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    for (size_t r = 0; r < size_t(replicas.size()); ++r) sums += sums_of(all[r * passes.size() + pass]);
  }
  return sums;
}

}  // namespace shoal
