// Presets against the parameter counts that were published with the models.
#include <doctest/doctest.h>

#include "model/config.h"
#include "spec/load.h"
#include "spec/presets.h"

using namespace shoal;

namespace {

struct Published {
  const char* preset;
  int64_t parameters;
};

constexpr Published kPublished[] = {
    // Pythia: README of EleutherAI/pythia.
    {"pythia-14m", 14067712},
    {"pythia-31m", 30494720},
    {"pythia-70m", 70426624},
    {"pythia-160m", 162322944},
    {"pythia-410m", 405334016},
    {"pythia-1b", 1011781632},
    {"pythia-1.4b", 1414647808},
    {"pythia-2.8b", 2775208960},
    {"pythia-6.9b", 6857302016},
    {"pythia-12b", 11846072320},
    // Llama family: model cards.
    {"tinyllama-1.1b", 1100048384},
    {"llama-2-7b", 6738415616},
    {"llama-3.1-8b", 8030261248},
    // Gemstones: arXiv 2502.06857 and its released configurations.
    {"gemstone-256x23", 48377600},
    {"gemstone-256x27", 52311808},
    {"gemstone-256x71", 95588096},
    {"gemstone-256x80", 104440064},
    {"gemstone-384x13", 66758784},
    {"gemstone-384x36", 116518272},
    {"gemstone-512x11", 94776832},
    {"gemstone-512x12", 98710016},
    {"gemstone-512x13", 102643200},
    {"gemstone-512x14", 106576384},
    {"gemstone-512x16", 114442752},
    {"gemstone-768x3", 103814400},
    {"gemstone-768x45", 475468032},
    {"gemstone-1024x28", 543482880},
    {"gemstone-1280x15", 497457920},
    {"gemstone-1280x36", 1013607680},
    {"gemstone-1536x50", 1924161024},
    {"gemstone-1792x7", 517499136},
    {"gemstone-1792x18", 1047397120},
    {"gemstone-2048x27", 1904850944},
    {"gemstone-2560x8", 1044032000},
    {"gemstone-3072x12", 2007837696},
};

ModelConfig preset_model(const std::string& name) {
  return resolve_model(parse_spec("model: {preset: " + name + "}", name, {}).spec.model, 0);
}

}  // namespace

TEST_CASE("every preset has the published number of parameters") {
  CHECK(preset_names().size() == std::size(kPublished));
  for (const Published& published : kPublished) {
    CAPTURE(published.preset);
    CHECK(preset_model(published.preset).parameter_count() == published.parameters);
  }
}

TEST_CASE("Pythia presets have the published non-embedding parameters") {
  CHECK(preset_model("pythia-14m").non_embedding_parameters() == 1189888);
  CHECK(preset_model("pythia-70m").non_embedding_parameters() == 18915328);
  CHECK(preset_model("pythia-1.4b").non_embedding_parameters() == 1208602624);
  CHECK(preset_model("pythia-12b").non_embedding_parameters() == 11327027200);
}

TEST_CASE("Pythia presets have the published rotary dims, init rules and activation") {
  CHECK(preset_model("pythia-14m").rotary_dims == 8);
  CHECK(preset_model("pythia-2.8b").rotary_dims == 20);
  CHECK(preset_model("pythia-2.8b").init == "small_init");
  CHECK(preset_model("pythia-2.8b").output_init == "wang_init");
  CHECK(preset_model("pythia-12b").init == "normal");
  CHECK(preset_model("pythia-12b").output_init == "scaled_normal");
  CHECK(preset_model("pythia-70m").activation == Activation::gelu_tanh);
  CHECK(preset_model("pythia-70m").parallel_residual);
}

TEST_CASE("Gemstones presets are Gemma-like") {
  const ModelConfig model = preset_model("gemstone-384x13");
  CHECK(model.rmsnorm);
  CHECK(model.norm_unit_offset);
  CHECK(model.gated);
  CHECK(model.activation == Activation::gelu_tanh);
  CHECK(model.num_heads == 3);
  CHECK(model.num_kv_heads == 1);
  CHECK(model.embedding_scale == doctest::Approx(19.595918));
  CHECK(model.rotary_dims == 128);
}

TEST_CASE("keys given beside a preset win, wherever they stand") {
  const LoadedSpec loaded =
      parse_spec("model: {num_layers: 3, preset: pythia_70m}", "a.yaml", {"model.hidden_size=256"});
  CHECK(loaded.spec.model.preset == "pythia-70m");
  CHECK(loaded.spec.model.num_layers == 3);
  CHECK(loaded.spec.model.hidden_size == 256);
  CHECK(loaded.spec.model.num_attention_heads == 8);
  CHECK(loaded.origins.at("model.num_layers").text == "a.yaml:1:21");
  CHECK(loaded.origins.at("model.hidden_size").text == "override");
  CHECK(loaded.origins.at("model.vocab_size").text == "preset pythia-70m");
  CHECK(loaded.origins.count("run.steps") == 0);
}
