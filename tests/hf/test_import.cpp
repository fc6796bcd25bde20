// Importing what transformers saved, and refusing what is not right.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "hf/hf_sample.h"
#include "hf/import.h"
#include "spec/load.h"
#include "train/generate.h"
#include "train/trained_model.h"

using namespace shoal;
using namespace shoal::test;

namespace {

std::string message_of(const SpoiltFolder& folder) {
  Log log(true);
  try {
    import_hf(folder.path(), folder.out(), log);
  } catch (const UserError& error) {
    CHECK(!std::filesystem::exists(folder.out()));  // nothing was begun
    return error.what();
  }
  return "";
}

bool says(const SpoiltFolder& folder, const std::string& words, const std::string& more = "") {
  const std::string message = message_of(folder);
  CAPTURE(message);
  const bool found = message.find(words) != std::string::npos && message.find(more) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("imported models have the logits of transformers to 1e-5") {
  for (const char* name : {"neox", "neox_sharded_bf16", "llama_grouped_f16", "llama_tied_bias"}) {
    CAPTURE(name);
    const TempFolder temp;
    Log log(true);
    import_hf(golden_folder(name), temp / "run", log);
    TrainedModel trained(temp / "run", {"run.threads=1"}, log);

    const SafetensorsFile golden(golden_folder(name) + "/logits.safetensors");
    const View tokens = golden.view("tokens");
    const std::vector<float> theirs = golden.floats("logits");
    const Tensor logits = trained.model().logits(tokens.as<int32_t>(), tokens.dim(0), tokens.dim(1));
    REQUIRE(logits.numel() == int64_t(theirs.size()));
    double difference = 0, norm = 0;
    for (size_t i = 0; i < theirs.size(); ++i) {
      const double ours = logits.view().as<float>()[i];
      difference += (ours - theirs[i]) * (ours - theirs[i]);
      norm += double(theirs[i]) * theirs[i];
    }
    CHECK(std::sqrt(difference / norm) < 1e-5);
    // The cache's way gives the same choice as the whole pass.
    const auto next = generate(trained.model(), trained.context(), {1, 2, 3}, {.tokens = 4, .sampling = {0}});
    CHECK(next.size() == 4);
  }
}

TEST_CASE("model.yaml of an import is a spec of the same model") {
  const TempFolder temp;
  Log log(true);
  import_hf(golden_folder("llama_tied_bias"), temp / "run", log);
  const RunSpec stored = TrainedModel(temp / "run", {}, log).spec();
  const RunSpec written = load_spec({temp / "run/model.yaml"}, {}).spec;
  CHECK(resolve_model(written.model, 0).parameter_count() ==
        resolve_model(stored.model, 0).parameter_count());
  CHECK(written.model.norm_eps == 3e-6);
  CHECK(written.model.rotary_base == 500000);
  CHECK(written.model.tie_embeddings);
  CHECK(written.data.seq_length == 64);
}

TEST_CASE("a padded vocabulary is read from the tensor's shape") {
  for (const int64_t rows : {50432, 50688}) {
    const SpoiltFolder folder("neox");
    folder.set("vocab_size", 50277);
    folder.rewrite_tensors([&](auto& entries, auto& bytes) {
      for (SafetensorsEntry& e : entries) {
        if (e.name != "gpt_neox.embed_in.weight" && e.name != "embed_out.weight") continue;
        e.shape[0] = rows;
        e.bytes = rows * e.shape[1] * 4;
        bytes[e.name].assign(size_t(e.bytes), 0);
      }
    });
    Log log(true);
    import_hf(folder.path(), folder.out(), log);
    TrainedModel trained(folder.out(), {}, log);
    CHECK(trained.model().config().vocab_size == rows);
  }
}

TEST_CASE("a missing intermediate_size is read from the tensor's shape") {
  const SpoiltFolder folder("neox");
  folder.erase("intermediate_size");
  Log log(true);
  import_hf(folder.path(), folder.out(), log);
  CHECK(TrainedModel(folder.out(), {}, log).model().config().intermediate_size == 80);
}

TEST_CASE("configs that would give other logits are refused") {
  const auto refused = [](const char* key, const nlohmann::json& value, const char* words) {
    CAPTURE(key);
    const SpoiltFolder folder("neox");
    folder.set(key, value);
    says(folder, words, "config.json");
  };
  refused("architectures", {"GPT2LMHeadModel"}, "architecture is not supported");
  refused("architectures", nlohmann::json::array(), "one class is needed");
  refused("hidden_act", "mish", "activation is not supported");
  refused("hidden_act", 3, "not a text");
  refused("rope_scaling", {{"type", "linear"}, {"factor", 2.0}}, "scaled rotary");
  refused("rope_parameters", {{"rope_type", "yarn"}, {"rope_theta", 1e4}}, "scaled rotary");
  refused("quantization_config", {{"bits", 4}}, "quantised");
  refused("num_attention_heads", 5, "do not divide");
  refused("hidden_size", -8, "out of range");
  refused("hidden_size", 1e30, "out of range");
  refused("num_hidden_layers", "2", "out of range");
  refused("tie_word_embeddings", "yes", "not true or false");
  for (const char* key : {"hidden_size", "num_hidden_layers", "num_attention_heads"}) {
    const SpoiltFolder folder("neox");
    folder.erase(key);
    says(folder, key, "missing");
  }
  const SpoiltFolder broken("neox");
  write_text(broken / "config.json", "{\"model_type\": ");
  says(broken, "not a JSON object");
}

TEST_CASE("tensors that are missing, too many, or of another shape or type are refused by name") {
  using Entries = std::vector<SafetensorsEntry>;
  using Bytes = std::map<std::string, std::vector<char>>;
  const auto spoilt = [](auto change, const char* words, const char* name) {
    const SpoiltFolder folder("neox");
    folder.rewrite_tensors(change);
    says(folder, words, name);
  };
  spoilt([](Entries& e, Bytes&) { e.pop_back(); }, "missing", "");
  spoilt(
      [](Entries& e, Bytes& b) {
        b["surprise"] = b[e[0].name];
        e.push_back(e[0]);
        e.back().name = "surprise";
      },
      "does not have", "surprise");
  spoilt([](Entries& e, Bytes&) { e[0].shape.push_back(1); }, "other shapes", "config.json makes it");
  spoilt([](Entries& e, Bytes&) { e[0].dtype = "I32"; }, "type I32", "");
  // Buffers of old files count as nothing.
  const SpoiltFolder buffers("neox");
  buffers.rewrite_tensors([](Entries& e, Bytes& b) {
    e.push_back({"gpt_neox.layers.0.attention.bias", "U8", {4}, 0, 4});
    e.push_back({"gpt_neox.layers.1.attention.rotary_emb.inv_freq", "F32", {1}, 0, 4});
    for (size_t i = e.size() - 2; i < e.size(); ++i) b[e[i].name] = std::vector<char>(4);
  });
  CHECK(message_of(buffers).empty());
  // More layers in config.json than in the file, and the other way round.
  for (const int layers : {1, 3}) {
    const SpoiltFolder folder("neox");
    folder.set("num_hidden_layers", layers);
    says(folder, layers == 1 ? "does not have" : "missing", "gpt_neox.layers.");
  }
}

TEST_CASE("a tied output head may lie in the file only if it is the embedding") {
  for (const bool same : {true, false}) {
    const SpoiltFolder folder("llama_tied_bias");
    folder.rewrite_tensors([&](auto& entries, auto& bytes) {
      for (const SafetensorsEntry& e : std::vector(entries)) {
        if (e.name != "model.embed_tokens.weight") continue;
        entries.push_back(e);
        entries.back().name = "lm_head.weight";
        bytes["lm_head.weight"] = bytes[e.name];
        if (!same) bytes["lm_head.weight"][5] = char(bytes["lm_head.weight"][5] + 1);
      }
    });
    if (same) {
      CHECK(message_of(folder).empty());
    } else {
      says(folder, "does not have", "lm_head.weight");
    }
  }
}

TEST_CASE("an index that lies is refused") {
  const auto index_with = [](const char* tensor, const nlohmann::json& file, const char* words) {
    CAPTURE(words);
    const SpoiltFolder folder("neox_sharded_bf16");
    nlohmann::json index = read_json(folder / hf_index_name);
    index["weight_map"][tensor] = file;
    write_text(folder / hf_index_name, index.dump());
    says(folder, words);
  };
  const char* tensor = "gpt_neox.embed_in.weight";
  for (const char* path : {"../neox/model.safetensors", "/etc/passwd", "..", ".", "", "a/../../b"})
    index_with(tensor, path, "not in the folder");
  index_with(tensor, std::string("model\0-1", 8), "not in the folder");
  index_with(tensor, "model-00009-of-00003.safetensors", "not there");
  index_with(tensor, "model-00003-of-00003.safetensors", "not in the shard");
  index_with(tensor, 7, "no file name");
  index_with("surprise", "model-00001-of-00003.safetensors", "not in the shard");
  const SpoiltFolder dropped("neox_sharded_bf16");
  nlohmann::json index = read_json(dropped / hf_index_name);
  index["weight_map"].erase(tensor);
  write_text(dropped / hf_index_name, index.dump());
  says(dropped, "does not place there", tensor);
  const SpoiltFolder empty("neox_sharded_bf16");
  write_text(empty / hf_index_name, "[]");
  says(empty, "no weight_map");
}

TEST_CASE("headers that lie about sizes are refused, whatever they say") {
  const SpoiltFolder folder("neox");
  const std::string good = read_text(folder / "model.safetensors");
  uint64_t length;
  std::memcpy(&length, good.data(), sizeof length);
  const auto with_length = [&](uint64_t lie) {
    std::string bad = good;
    std::memcpy(bad.data(), &lie, sizeof lie);
    write_text(folder / "model.safetensors", bad);
    says(folder, "model.safetensors");
  };
  for (const uint64_t lie : {uint64_t(0), length - 1, length + 1, uint64_t(good.size()), UINT64_MAX})
    with_length(lie);
  for (const size_t cut : {size_t(0), size_t(7), size_t(8 + length), good.size() - 1}) {
    write_text(folder / "model.safetensors", good.substr(0, cut));
    says(folder, "model.safetensors");
  }
  write_text(folder / "model.safetensors", good + "x");
  says(folder, "model.safetensors");
}

TEST_CASE("a folder without weights says what is missing") {
  const SpoiltFolder folder("neox");
  std::filesystem::remove(folder / "model.safetensors");
  says(folder, "no weights");
  write_text(folder / "pytorch_model.bin", "");
  says(folder, "pickle");
  std::filesystem::remove(folder / "config.json");
  says(folder, "no config.json");
}

TEST_CASE("an import does not write over anything") {
  const SpoiltFolder folder("neox");
  std::filesystem::create_directories(folder.out());
  write_text(folder.out() + "/precious", "text");
  Log log(true);
  CHECK_THROWS_AS(import_hf(folder.path(), folder.out(), log), UserError);
  CHECK(read_text(folder.out() + "/precious") == "text");
}
