#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <vector>

#include "shoal/commands.h"
#include "shoal/spec_words.h"
#include "train/ranks.h"
#include "train/step_bench.h"

namespace shoal {
namespace {

double peak_resident_bytes() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return 1024.0 * static_cast<double>(use.ru_maxrss);
}

void print_kinds(const StepBench& bench) {
  std::vector<std::pair<std::string, OpTime>> rows(bench.kinds.begin(), bench.kinds.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  double known = 0;
  fmt::print("\n{:<18}{:>7}{:>10}{:>8}{:>10}\n", "operation", "calls", "ms", "share", "GFLOP/s");
  for (const auto& [kind, time] : rows) {
    known += time.seconds;
    fmt::print("{:<18}{:>7}{:>10.2f}{:>7.1f}%", kind, time.calls, 1e3 * time.seconds,
               100 * time.seconds / bench.best_seconds);
    if (time.flops > 0) fmt::print("{:>10.0f}", time.flops / time.seconds / 1e9);
    fmt::print("\n");
  }
  const double rest = bench.best_seconds - known;
  fmt::print("{:<18}{:>7}{:>10.2f}{:>7.1f}%\n", "everything else", "", 1e3 * rest,
             100 * rest / bench.best_seconds);
}

void print_products(const StepBench& bench) {
  if (bench.alone.empty()) return;
  fmt::print("\n{:<46}{:>7}{:>10}{:>10}{:>10}\n", "product, M x N x K", "calls", "ms", "GFLOP/s", "alone");
  for (const auto& [product, time] : bench.products) {
    const double flops = time.flops / static_cast<double>(time.calls);
    fmt::print("{:<46}{:>7}{:>10.2f}{:>10.0f}{:>10.0f}\n", to_string(product), time.calls, 1e3 * time.seconds,
               time.flops / time.seconds / 1e9, flops / bench.alone.at(product) / 1e9);
  }
}

void print(const StepBench& bench) {
  const double median = bench.median_seconds(), rate = bench.product_rate();
  fmt::print("step          {:.1f} ms (median of {}, best {:.1f}, mean {:.1f})\n", 1e3 * median,
             bench.seconds.size(), 1e3 * bench.best_seconds, 1e3 * bench.mean_seconds());
  fmt::print("tokens/s      {:.0f}\n", bench.tokens / median);
  fmt::print("model         {:.0f} GFLOP/s\n", bench.model_flops / median / 1e9);
  if (rate > 0) {
    fmt::print("products      {:.0f} GFLOP/s, each measured alone\n", rate / 1e9);
    fmt::print("MFU           {:.1f} % of that\n", 100 * bench.model_flops / median / rate);
  }
  fmt::print("peak memory   {:.0f} MB in tensors, {:.0f} MB resident\n",
             static_cast<double>(bench.device_peak) / 1e6, peak_resident_bytes() / 1e6);
  print_kinds(bench);
  print_products(bench);
}

int run(const Invocation& given) {
  return on_ranks([&](const MpiSession* session) {
    const LoadedSpec loaded = spec_of(given, Inputs::unchecked);
    const StepBench bench =
        bench_step(loaded.spec, given.integer("--steps", 8, 1), !given.has("--quick"), session);
    if (session == nullptr || session->rank() == 0) print(bench);
    return 0;
  });
}

}  // namespace

Command bench_step_command() {
  return {.name = "step",
          .summary = "time whole training steps on random tokens, and where the time goes",
          .description =
              "Runs forward, backward and the optimizer for the model, batch and precision of the spec. "
              "Reads no data and writes nothing. MFU is against the step's own matrix products, each "
              "measured alone.",
          .arguments = spec_arguments(false),
          .flags = {{.name = "--steps",
                     .value = "N",
                     .doc = "Steps to time after two to warm up; 8 if not given."},
                    {.name = "--quick", .doc = "Do not measure the products alone."}},
          .examples =
              {{"shoal bench step model.preset=pythia-70m data.seq_length=512 batch.global=4 batch.micro=4 "
                "precision.compute=bf16",
                "The smallest published Pythia with a head of 50304."}},
          .run = run};
}

}  // namespace shoal
