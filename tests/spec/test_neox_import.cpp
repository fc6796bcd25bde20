#include <doctest/doctest.h>

#include <fstream>

#include "model/config.h"
#include "spec/load.h"
#include "spec/neox_import.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

// In the manner of the published files: a map in braces, both spellings, numbers that YAML 1.1 reads as text.
constexpr const char* shape = R"({
  # what the model is
  "num-layers": 36,
  "hidden-size": 5120,
  "num_attention_heads": 40,
  "seq-length": 2048,
  "max-position-embeddings": 2048,
  "pos-emb": "rotary",
  "rotary_pct": 0.25,
  "no-weight-tying": true,
  "gpt-j-residual": True,
  "bias-gelu-fusion": on,
  "attention-config": [[["flash"], 36]],
  "model-parallel-size": 4,
  "pipe-parallel-size": 1,
})";

constexpr const char* training = R"({
  "optimizer": {
    "type": "Adam",
    "params": {"lr": 1.2e-4, "betas": [0.9, 0.95], "eps": 1e-8,}
  },
  "min_lr": "1.2e-5",
  "weight-decay": 0.1,
  "gradient_clipping": 1.0,
  "train_micro_batch_size_per_gpu": 8,
  "gas": 2,
  "train-iters": 143000,
  "lr-decay-iters": 143000,
  "lr-decay-style": "cosine",
  "warmup": 0.01,
  "fp16": {"enabled": true, "loss_scale": 0},
  "checkpoint-factor": 1000,
  "extra-save-iters": [0,1,2,4,8,16,32,64,128,256,512],
  "train-data-paths": ["pile/a", "pile/b"],
  "train-data-weights": [0.25, 0.75],
  "vocab-file": "20B_tokenizer.json",
  "launcher": "slurm",
})";

struct Files {
  test::TempFolder folder;
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string message(const Files& files, const std::string& text) {
  try {
    import_neox({files.write("bad.yml", text)}, 0);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("GPT-NeoX files become one spec, with each value's line") {
  const Files files;
  const NeoxImport made =
      import_neox({files.write("shape.yml", shape), files.write("training.yml", training)}, 64);
  const RunSpec spec = parse_spec(made.yaml, "made.yaml", {}).spec;
  CHECK(spec.model.num_layers == 36);
  CHECK(spec.model.rotary_fraction == 0.25);
  CHECK(spec.model.parallel_residual == true);
  CHECK(!spec.model.tie_embeddings);
  CHECK(spec.model.activation == "gelu_tanh");
  CHECK(spec.model.init == "normal");
  CHECK(spec.model.output_init == "scaled_normal");
  CHECK(spec.model.vocab_multiple == 512);
  CHECK(resolve_model(spec.model, 50277).parameter_count() == 11'846'072'320);
  CHECK(spec.batch.global == 8 * 2 * 64);
  CHECK(spec.optimizer.lr == 1.2e-4);
  CHECK(spec.optimizer.eps == 1e-8);
  CHECK(spec.schedule.min_lr == 1.2e-5);
  CHECK(spec.schedule.decay_steps == 143000);
  CHECK(spec.precision.compute == "bf16");
  CHECK(spec.checkpoint.schedule == "pythia");
  REQUIRE(spec.data.train.size() == 2);
  CHECK(spec.data.train[1].path == "pile/b");
  CHECK(spec.data.train[1].weight == 0.75);
  CHECK(spec.data.order == "gpt-neox");
  CHECK(contains(made.yaml, "num_layers: 36  # " + files.folder / "shape.yml:3 num-layers"));
  CHECK(contains(made.yaml, "norm_eps: 1e-05  # GPT-NeoX's default"));
  REQUIRE(made.left_out.size() == 1);
  CHECK(contains(made.left_out[0], "launcher"));
  // The tanh form, the init that is not given, the padded vocabulary, fp16.
  CHECK(made.notes.size() == 4);
}

TEST_CASE("later files win, and without the ranks the batch is one rank's, which is said") {
  const Files files;
  const NeoxImport made = import_neox(
      {files.write("shape.yml", shape), files.write("training.yml", training),
       files.write("more.yml", "{\"num_layers\": 2, \"attention_config\": [[[\"flash\"], \"all\"]]}")},
      0);
  const RunSpec spec = parse_spec(made.yaml, "made.yaml", {}).spec;
  CHECK(spec.model.num_layers == 2);
  CHECK(spec.batch.global == 16);
  CHECK(contains(made.notes[3] + made.notes[4], "--data-ranks"));
}

TEST_CASE("mistakes of published files are named with the line and what to write") {
  const Files files;
  const std::string comma = message(files, replaced(shape, "36]],", "36]]"));
  CHECK(contains(comma, "line 13 ends without a comma"));
  CHECK(contains(comma, "[[[\"flash\"], 36]],"));
  std::string text = replaced(shape, "\"num-layers\": 36", "\"num-layers\": 40");
  text = replaced(text, "heads\": 40", "heads\": 36");
  const std::string swapped = message(files, text);
  CHECK(contains(swapped, "bad.yml:5"));
  CHECK(contains(swapped, "look swapped: write 36 layers of 40 heads"));
  CHECK(contains(swapped, "num-layers 40 (" + files.folder / "bad.yml:3)"));
  const std::string layers = message(files, replaced(shape, "\"num-layers\": 36", "\"num-layers\": 40"));
  CHECK(contains(layers, "bad.yml:13"));
  CHECK(contains(layers, "it covers 36 layers, but num-layers is 40"));
}

TEST_CASE("what cannot be trained here is refused with its place") {
  const Files files;
  CHECK(contains(message(files, replaced(shape, "\"rotary\"", "\"alibi\"")), "bad.yml:8"));
  CHECK(contains(message(files, replaced(shape, "\"flash\"", "\"sparse_fixed\"")), "flash or global"));
  CHECK(contains(message(files, replaced(shape, "5120", "\"wide\"")), "hidden-size: wrong value"));
  CHECK(contains(message(files, "- 1\n"), "not a configuration"));
  CHECK(contains(message(files, "{}"), "hidden_size is not given"));
  CHECK_THROWS_AS(import_neox({files.folder / "absent.yml"}, 0), UserError);
}

TEST_CASE("configs/pythia has the ten published sizes") {
  const std::pair<const char*, int64_t> published[] = {
      {"14m", 14'067'712},     {"31m", 30'494'720},    {"70m", 70'426'624},     {"160m", 162'322'944},
      {"410m", 405'334'016},   {"1b", 1'011'781'632},  {"1.4b", 1'414'647'808}, {"2.8b", 2'775'208'960},
      {"6.9b", 6'857'302'016}, {"12b", 11'846'072'320}};
  for (const auto& [name, parameters] : published) {
    CAPTURE(name);
    const RunSpec spec =
        load_spec({std::string(SHOAL_SOURCE_DIR) + "/configs/pythia/" + name + ".yaml"}, {}).spec;
    CHECK(resolve_model(spec.model, 0).parameter_count() == parameters);
    CHECK(spec.run.steps * spec.batch.global * spec.data.seq_length == 299'892'736'000);
    CHECK(spec.schedule.min_lr == doctest::Approx(spec.optimizer.lr / 10));
  }
}
