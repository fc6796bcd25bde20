#include "sweep/sweep.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <set>

#include "checkpoint/store.h"
#include "spec/read_file.h"
#include "sweep/sweep_axes.h"

namespace shoal {
namespace {

std::vector<std::string> words_of(const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::string> words;
  for (const auto& [key, value] : values) words.push_back(key + "=" + value);
  return words;
}

class Expander {
 public:
  Expander(const std::vector<std::string>& files, const std::vector<std::string>& overrides, Inputs inputs)
      : files_(files), overrides_(overrides), inputs_(inputs) {
    bool found = false;
    for (const std::string& file : files) {
      for (const auto& [name, value] : read_yaml_file(file).entries) {
        if (name.text != "sweep") continue;
        axes_ = read_sweep(value, file);
        found = true;
      }
    }
    if (!found) {
      throw UserError(Problem{"there is no section sweep", files.empty() ? "" : files.front(), "",
                              "sweep: {product: {optimizer.lr: [1e-3, 3e-3]}}", "a single run: shoal train"});
    }
    const RunSection run = load({}, Inputs::unchecked).spec.run;
    sweep_.name = run.name;
    sweep_.dir = run.dir.empty() ? "runs/" + run.name : run.dir;
  }

  Sweep expand() {
    if (axes_.window) keep_shapes_within(*axes_.window);
    check_size();
    std::vector<size_t> at(axes_.axes.size(), 0);
    for (bool more = true; more;) {
      add(at);
      more = false;
      for (size_t i = at.size(); i-- > 0;) {  // the last axis is the fastest
        if (++at[i] < axes_.axes[i].size()) {
          more = true;
          break;
        }
        at[i] = 0;
      }
    }
    std::set<std::string> names;
    for (const SweepRun& run : sweep_.runs) {
      if (!names.insert(run.name).second)
        throw UserError(Problem{"two runs of the sweep are called " + run.name, files_.front(), "", "",
                                "the same value is given twice"});
    }
    return std::move(sweep_);
  }

 private:
  LoadedSpec load(const std::vector<std::string>& words, Inputs inputs) const {
    SpecReader reader;
    reader.pass_over("sweep");
    for (const std::string& file : files_) add_spec_file(reader, file);
    for (const std::string& word : overrides_) reader.add_override(word);
    for (const std::string& word : words) reader.add_override(word);
    return reader.finish(inputs);
  }

  void keep_shapes_within(const SweepWindow& window) {
    SweepAxis& shapes = axes_.axes[window.axis];
    std::erase_if(shapes, [&](const SweepPoint& shape) {
      const RunSpec spec = load(words_of(shape.values), Inputs::unchecked).spec;
      const auto parameters = double(estimated_model(spec).non_embedding_parameters());
      return parameters < window.low || parameters > window.high;
    });
    if (shapes.empty())
      throw UserError(Problem{"no shape has a parameter count in the window", window.where, "", ""});
  }

  void check_size() const {
    int64_t runs = 1;
    std::string text;
    for (const SweepAxis& axis : axes_.axes) {
      runs *= int64_t(axis.size());
      text += fmt::format("{}{}", text.empty() ? "" : " * ", axis.size());
    }
    if (axes_.cooldowns) {
      runs *= 1 + int64_t(axes_.cooldowns->marks.size());
      text += fmt::format(" * (1 + {} cooldowns)", axes_.cooldowns->marks.size());
    }
    if (runs <= axes_.max_runs) return;
    throw UserError(Problem{
        "the sweep has more runs than it may", files_.front(), fmt::format("{} = {} runs", text, runs),
        fmt::format("sweep.max_runs: {}", axes_.max_runs), "set sweep.max_runs if this is meant"});
  }

  // The words that name a run and place it.
  std::vector<std::string> placed(std::vector<std::string> words, const std::string& name) const {
    words.insert(words.begin(), overrides_.begin(), overrides_.end());
    words.push_back(fmt::format("run.name={}-{}", sweep_.name, name));
    words.push_back(fmt::format("run.dir={}/{}", sweep_.dir, name));
    return words;
  }

  void add(const std::vector<size_t>& at) {
    SweepRun run;
    for (size_t i = 0; i < at.size(); ++i) {
      const SweepPoint& point = axes_.axes[i][at[i]];
      run.name += (run.name.empty() ? "" : "-") + point.label;
      for (const auto& value : point.values) run.varied.push_back(value);
    }
    if (run.name.empty()) run.name = "base";
    std::vector<std::string> words = words_of(run.varied);
    if (!axes_.lr_rule.empty()) {
      const ModelSection model = load(words, Inputs::unchecked).spec.model;
      const double depth = axes_.lr_rule == "gemstones" ? std::sqrt(double(model.num_layers)) : 1.0;
      const std::string lr = fmt::format("{:.6g}", axes_.lr_effective / (double(model.hidden_size) * depth));
      run.varied.emplace_back("optimizer.lr", lr);
      words.push_back("optimizer.lr=" + lr);
    }
    const std::vector<std::string> shared = words;
    if (axes_.cooldowns) {
      int64_t step = 0;
      for (const int64_t mark : axes_.cooldowns->marks) step = std::gcd(step, mark);
      words.push_back(fmt::format("checkpoint.keep_every={}", step));
    }
    run.words = placed(std::move(words), run.name);
    run.loaded = load(run.words, inputs_);
    const int parent = int(sweep_.runs.size());
    sweep_.runs.push_back(std::move(run));
    if (axes_.cooldowns) add_cooldowns(parent, shared);
  }

  void add_cooldowns(int parent, const std::vector<std::string>& shared) {
    const SweepRun& from = sweep_.runs[size_t(parent)];
    const RunSpec& spec = from.loaded.spec;
    if (spec.schedule.name != "constant")
      throw UserError(Problem{"cooldowns branch off from a constant rate", files_.front(),
                              "schedule.name: " + spec.schedule.name, "schedule.name: constant"});
    const CheckpointStore checkpoints(spec.run.dir + "/ckpt", {});
    std::vector<SweepRun> children;
    for (const int64_t mark : axes_.cooldowns->marks) {
      if (mark > spec.run.steps)
        throw UserError(Problem{"a cooldown begins after the run's end", files_.front(),
                                fmt::format("mark {} of {} steps", mark, spec.run.steps)});
      SweepRun run;
      run.parent = parent;
      run.name = fmt::format("{}-cool{}", from.name, mark);
      run.varied = from.varied;
      run.varied.emplace_back("cooldown", fmt::format("{}", mark));
      std::vector<std::string> words = shared;
      const int64_t steps = mark + std::max<int64_t>(1, std::llround(axes_.cooldowns->length * double(mark)));
      words.push_back(fmt::format("run.steps={}", steps));
      words.push_back("schedule.name=wsd");
      words.push_back(fmt::format("schedule.cooldown_start={}", mark));
      words.push_back(fmt::format("schedule.cooldown={}", steps - mark));
      words.push_back("run.branch=" + checkpoints.path_of(mark));
      run.words = placed(std::move(words), run.name);
      run.loaded = load(run.words, Inputs::unchecked);
      children.push_back(std::move(run));
    }
    for (SweepRun& child : children) sweep_.runs.push_back(std::move(child));
  }

  const std::vector<std::string>& files_;
  const std::vector<std::string>& overrides_;
  Inputs inputs_;
  SweepAxes axes_;
  Sweep sweep_;
};

}  // namespace

ModelConfig estimated_model(const RunSpec& spec) {
  return resolve_model(spec.model, spec.model.vocab_size > 0 ? 0 : 50000);
}

Sweep load_sweep(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                 Inputs inputs) {
  return Expander(files, overrides, inputs).expand();
}

}  // namespace shoal
