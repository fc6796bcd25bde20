// Exporting checkpoints, and the round trip.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "checkpoint/store.h"
#include "data/tokenizer.h"
#include "hf/config.h"
#include "hf/export.h"
#include "hf/hf_sample.h"
#include "hf/import.h"
#include "hf/parity.h"
#include "hf/tokenizer_files.h"
#include "spec/load.h"
#include "tensor/half.h"

using namespace shoal;
using namespace shoal::test;

namespace {

void export_run(const std::string& run, const std::string& out, const ExportOptions& options,
                const std::vector<std::string>& overrides = {}) {
  Log log(true);
  CheckpointReader reader = open_checkpoint(run, [](const std::string&) {});
  export_hf(reader, parse_spec(reader.info().spec_yaml, reader.path(), overrides).spec, out, options, log);
}

void import_folder(const std::string& folder, const std::string& out) {
  Log log(true);
  import_hf(folder, out, log);
}

struct Kind {
  const char* golden;
  const char* dtype;
};
constexpr Kind kinds[] = {
    {"neox", "f32"}, {"neox_sharded_bf16", "bf16"}, {"llama_grouped_f16", "f16"}, {"llama_tied_bias", "f32"}};

}  // namespace

TEST_CASE("three round trips leave every bit as transformers saved it") {
  for (const Kind& kind : kinds) {
    CAPTURE(kind.golden);
    const TempFolder temp;
    const auto original = tensor_bytes(golden_folder(kind.golden));
    std::string folder = golden_folder(kind.golden), config;
    for (int trip = 0; trip < 3; ++trip) {
      const std::string name = temp / std::to_string(trip);
      import_folder(folder, name + "_run");
      export_run(name + "_run", name, {.dtype = kind.dtype});
      CHECK(tensor_bytes(name) == original);
      if (trip > 0) CHECK(read_text(name + "/config.json") == config);
      config = read_text(name + "/config.json");
      folder = name;
    }
  }
}

TEST_CASE("every key that transformers saves is written, with the same value") {
  // What is not the model's: the version that wrote the file, and names that change with it.
  const std::set<std::string> skipped = {"transformers_version", "is_decoder"};
  for (const Kind& kind : kinds) {
    CAPTURE(kind.golden);
    const TempFolder temp;
    import_folder(golden_folder(kind.golden), temp / "run");
    export_run(temp / "run", temp / "out", {.dtype = kind.dtype, .check_parity = false});
    const auto theirs = read_json(golden_folder(kind.golden) + "/config.json");
    const auto ours = read_json(temp / "out/config.json");
    for (const auto& [key, value] : theirs.items()) {
      if (skipped.count(key) > 0 || key.ends_with("_token_id")) continue;
      CAPTURE(key);
      REQUIRE(ours.contains(key));
      CHECK(ours[key] == value);
    }
    for (const char* key : {"bos_token_id", "eos_token_id", "rope_parameters", "torch_dtype", "dtype"})
      CHECK(ours.contains(key));
    CHECK(std::filesystem::exists(temp / "out/generation_config.json"));
  }
}

TEST_CASE("a model that is too large for one file is cut into shards that the index lists") {
  const TempFolder temp;
  import_folder(golden_folder("neox"), temp / "run");
  export_run(temp / "run", temp / "out", {.shard_bytes = 20'000});
  const auto index = read_json(temp / "out/model.safetensors.index.json");
  CHECK(tensor_bytes(temp / "out") == tensor_bytes(golden_folder("neox")));
  std::set<std::string> files;
  int64_t total = 0;
  for (const auto& [tensor, file] : index["weight_map"].items()) files.insert(file.get<std::string>());
  CHECK(files.size() > 2);
  for (const std::string& file : files) {
    const SafetensorsFile shard(temp / "out/" + file);
    CHECK(shard.metadata().at("format") == "pt");
    int64_t bytes = 0;
    for (const SafetensorsEntry& entry : shard.entries()) {
      CHECK(index["weight_map"][entry.name] == file);
      bytes += entry.bytes;
    }
    CHECK(bytes <= 20'000);
    total += bytes;
  }
  CHECK(index["metadata"]["total_size"] == total);
  import_folder(temp / "out", temp / "again");
}

TEST_CASE("narrower types are rounded, and the parity check allows for that much") {
  const TempFolder temp;
  import_folder(golden_folder("neox"), temp / "run");
  for (const char* dtype : {"bf16", "f16"}) export_run(temp / "run", temp / dtype, {.dtype = dtype});
  CheckpointReader reader = open_checkpoint(temp / "run", [](const std::string&) {});
  const ModelConfig config = resolve_model(parse_spec(reader.info().spec_yaml, "", {}).spec.model, 0);
  const Parity bf16 = compare_logits(reader, HfFolder(temp / "bf16"), config);
  const Parity f16 = compare_logits(reader, HfFolder(temp / "f16"), config);
  CHECK(bf16.relative > 1e-4);
  CHECK(f16.relative > 1e-5);
  CHECK(f16.relative < bf16.relative);
}

TEST_CASE("the parity check sees one tensor in the place of another") {
  const TempFolder temp;
  import_folder(golden_folder("neox"), temp / "run");
  const SpoiltFolder folder("neox");
  folder.rewrite_tensors([](auto&, auto& bytes) {
    std::swap(bytes["gpt_neox.layers.0.mlp.dense_h_to_4h.weight"],
              bytes["gpt_neox.layers.1.mlp.dense_h_to_4h.weight"]);
  });
  CheckpointReader reader = open_checkpoint(temp / "run", [](const std::string&) {});
  const ModelConfig config = resolve_model(parse_spec(reader.info().spec_yaml, "", {}).spec.model, 0);
  CHECK(compare_logits(reader, HfFolder(golden_folder("neox")), config).relative == 0);
  CHECK(compare_logits(reader, HfFolder(folder.path()), config).relative > 0.1);
}

TEST_CASE("an export that fails leaves nothing, and none writes over anything") {
  const TempFolder temp;
  import_folder(golden_folder("neox"), temp / "run");
  std::filesystem::create_directories(temp / "taken");
  write_text(temp / "taken/precious", "text");
  CHECK_THROWS_AS(export_run(temp / "run", temp / "taken", {}), UserError);
  CHECK_THROWS_AS(export_run(temp / "run", temp / "out", {}, {"data.tokenizer=nowhere.json"}), Error);
  CHECK_THROWS_AS(export_run(temp / "run", temp / "out", {}, {"model.embedding_scale=2"}), UserError);
  CHECK_THROWS_AS(export_run(temp / "run", temp / "out", {}, {"model.norm=rmsnorm"}), UserError);
  CHECK(!std::filesystem::exists(temp / "out"));
  CHECK(!std::filesystem::exists(temp / "out.part"));
  CHECK(read_text(temp / "taken/precious") == "text");
}

TEST_CASE("models that the classes cannot express are refused by the key") {
  ModelSection neox;
  neox.vocab_size = 128;
  CHECK_NOTHROW(write_hf_config(neox, 64, "float32", {}));
  const auto refused = [&](auto change) {
    ModelSection model = neox;
    change(model);
    CHECK_THROWS_AS(write_hf_config(model, 64, "float32", {}), UserError);
  };
  refused([](ModelSection& m) { m.rotary_interleaved = true; });
  refused([](ModelSection& m) { m.norm_unit_offset = true; });
  refused([](ModelSection& m) { m.mlp_bias = false; });
  refused([](ModelSection& m) { m.head_dim = 32; });
  refused([](ModelSection& m) { m.activation = "swiglu"; });
  refused([](ModelSection& m) { m.family = "llama", m.activation = "gelu"; });
  refused([](ModelSection& m) { m.family = "llama", m.rotary_fraction = 0.5; });
}

TEST_CASE("the byte tokenizer becomes a tokenizer.json with the same ids") {
  const TempFolder temp;
  const HfTokenIds ids = write_tokenizer_files("byte", temp.path(), 64);
  CHECK(ids.eos == 256);
  const auto made = open_tokenizer(temp / "tokenizer.json"), byte = open_tokenizer("byte");
  CHECK(made->vocab_size() == byte->vocab_size());
  CHECK(made->end_of_document() == byte->end_of_document());
  for (const char* text :
       {"", "The cat's 12 hats.\n\n\t  x", "\xC3\xA9\xE2\x82\xAC \xF0\x9F\x98\x80", " a  b "}) {
    CHECK(made->encode(text) == byte->encode(text));
    CHECK(made->decode(made->encode(text)) == text);
  }
  CHECK(read_json(temp / "tokenizer_config.json").at("eos_token") == "<|endoftext|>");
}

TEST_CASE("halves: every value there and back, and rounding to nearest, ties to even") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(uint16_t(bits));
    if (std::isnan(value)) {
      CHECK(std::isnan(half_to_float(float_to_half(value))));
    } else if (float_to_half(value) != bits) {
      FAIL("half ", bits, " became ", float_to_half(value));
    }
    // Halfway to the next larger half of the same sign goes to the even one, a little more goes up.
    if ((bits & 0x7fff) >= 0x7bff) continue;
    const float next = half_to_float(uint16_t(bits + 1)), middle = (value + next) / 2;
    const uint32_t even = (bits & 1) != 0 ? bits + 1 : bits;
    if (float_to_half(middle) != even || float_to_half(std::nextafter(middle, next)) != bits + 1 ||
        float_to_half(std::nextafter(middle, value)) != bits) {
      FAIL("rounding near half ", bits);
    }
  }
  CHECK(float_to_half(65519.0f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(-1e30f) == 0xfc00);
  CHECK(float_to_half(1e-30f) == 0);
}
