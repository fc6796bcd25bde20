#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "data/files.h"
#include "data/token_file.h"
#include "data/tokenizer.h"
#include "data_tools/inspect.h"
#include "data_tools/ordered_pipeline.h"
#include "data_tools/tokenize.h"
#include "data_tools/train_tokenizer.h"

using namespace shoal;

namespace {

using Ids = std::vector<int32_t>;

std::vector<Ids> read_all(const std::string& prefix) {
  const TokenFile file(prefix);
  std::vector<Ids> documents;
  for (int64_t d = 0; d < file.num_documents(); ++d) {
    documents.emplace_back(size_t(file.document_size(d)));
    file.read(file.document_begin(d), file.document_size(d), documents.back().data());
  }
  return documents;
}

TokenizeSettings settings_of(const std::string& input, const std::string& output) {
  TokenizeSettings settings;
  settings.inputs = {input};
  settings.output = output;
  settings.tokenizer = "byte";
  settings.layout.kind = Layout::Kind::line;
  settings.threads = 3;
  return settings;
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "line " + std::to_string(i) + std::string(size_t(i % 50), '.') + "\n";
  return text;
}

}  // namespace

TEST_CASE("pipeline: results keep the order, and few are held") {
  std::atomic<int> read{0};
  int used = 0;
  OrderedPipeline<int, int> pipeline([&](int& task) { return task = read++, task < 500; },
                                     [](int& task) {
                                       if (task % 7 == 0)
                                         std::this_thread::sleep_for(std::chrono::microseconds(300));
                                       return task * 2;
                                     },
                                     4);
  pipeline.run([&](int result) {
    CHECK(result == used * 2);
    ++used;
    CHECK(read <= used + 4 * 3 + 3);
  });
  CHECK(used == 500);
}

TEST_CASE("pipeline: the first exception in order is the one that comes out") {
  for (const bool in_reader : {false, true}) {
    int used = 0, read = 0;
    OrderedPipeline<int, int> pipeline(
        [&](int& task) {
          task = read++;
          if (in_reader && task == 20) throw std::runtime_error("20");
          return task < 100;
        },
        [&](int& task) {
          if (!in_reader && task >= 20) throw std::runtime_error(std::to_string(task));
          return task;
        },
        4);
    CHECK_THROWS_WITH(pipeline.run([&](int) { ++used; }), "20");
    CHECK(used == 20);
  }
  OrderedPipeline<int, int> unused([](int&) { return true; }, [](int& task) { return task; }, 2);
}

TEST_CASE("tokenize: documents in order, each with its end, whatever the number of threads") {
  const test::TempFolder folder;
  write_file(folder / "text", numbered_lines(60000));  // several blocks
  Log log(true);
  auto settings = settings_of(folder / "text", folder / "out");
  const TokenizeCounts counts = tokenize_files(settings, log);
  CHECK(counts.documents == 60000);
  const auto documents = read_all(folder / "out");
  REQUIRE(documents.size() == 60000);
  const auto tokenizer = open_tokenizer("byte");
  for (size_t i = 0; i < documents.size(); i += 997) {
    Ids expected = tokenizer->encode("line " + std::to_string(i) + std::string(i % 50, '.'));
    expected.push_back(256);
    CHECK(documents[i] == expected);
  }
  settings.threads = 1;
  settings.output = folder / "one";
  tokenize_files(settings, log);
  for (const char* suffix : {".bin", ".idx", ".meta.json"}) {
    CHECK(read_file(folder / "out" + suffix) == read_file(folder / "one" + suffix));
  }
  settings.append_end_of_document = false;
  tokenize_files(settings, log);
  CHECK(read_all(folder / "one")[3] == tokenizer->encode("line 3..."));
}

TEST_CASE("tokenize: one huge document is cut into blocks and comes out as one") {
  const test::TempFolder folder;
  const std::string text = numbered_lines(100000);
  write_file(folder / "text", text);
  Log log(true);
  auto settings = settings_of(folder / "text", folder / "out");
  settings.layout.kind = Layout::Kind::file;
  for (const bool skip_invalid : {false, true}) {
    settings.skip_invalid = skip_invalid;
    tokenize_files(settings, log);
    const auto documents = read_all(folder / "out");
    REQUIRE(documents.size() == 1);
    CHECK(open_tokenizer("byte")->decode(documents[0]) == text);
  }
  // Late damage: nothing of the document may stay.
  write_file(folder / "text", text + "\xff");
  CHECK_THROWS_AS(tokenize_files(settings, log), UserError);  // no document is left
  settings.inputs.push_back(folder / "more");
  write_file(folder / "more", "fine");
  const TokenizeCounts counts = tokenize_files(settings, log);
  CHECK(counts.invalid == 1);
  CHECK(read_all(folder / "out") == std::vector<Ids>{{'f', 'i', 'n', 'e', 256}});
}

TEST_CASE("tokenize: a part for validation, the same every time") {
  const test::TempFolder folder;
  write_file(folder / "text", numbered_lines(2000));
  Log log(true);
  auto settings = settings_of(folder / "text", folder / "out");
  settings.valid_fraction = 0.1;
  const TokenizeCounts counts = tokenize_files(settings, log);
  CHECK(counts.documents == 2000);
  CHECK(counts.valid_documents > 150);
  CHECK(counts.valid_documents < 250);
  CHECK(TokenFile(folder / "out").num_documents() == 2000 - counts.valid_documents);
  const auto valid = read_all(folder / "out_valid");
  CHECK(int64_t(valid.size()) == counts.valid_documents);
  tokenize_files(settings, log);
  CHECK(read_all(folder / "out_valid") == valid);
}

TEST_CASE("tokenize: an error leaves no files") {
  const test::TempFolder folder;
  write_file(folder / "text", numbered_lines(100) + "\xff\n");
  Log log(true);
  CHECK_THROWS_WITH_AS(tokenize_files(settings_of(folder / "text", folder / "out"), log),
                       doctest::Contains("text:101"), UserError);
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  CHECK(files == 1);
}

TEST_CASE("train-tokenizer: the merges of the Hugging Face trainer") {
  // From tokenizers 0.23.3: BpeTrainer(vocab_size=300, initial_alphabet=ByteLevel.alphabet(),
  // min_frequency=2, special_tokens=["<|endoftext|>"]) on this text.
  const std::string text =
      "the cat sat on the mat. the dog sat on the log, and the cat's hat sat on the dog's mat!\n"
      "it's 2024: don't count 20, 24 or 2024 cats; they'd rather count 2024 dogs.\n"
      "na\u00efve caf\u00e9 na\u00efve caf\u00e9 \u4f60\u597d \u4f60\u597d\n";
  const test::TempFolder folder;
  write_file(folder / "text", text);
  TrainTokenizerSettings settings;
  settings.inputs = {folder / "text"};
  settings.output = folder / "tokenizer.json";
  settings.layout.kind = Layout::Kind::file;
  settings.vocab_size = 300;
  Log log(true);
  const auto counts = train_tokenizer(settings, log);
  const auto json = nlohmann::json::parse(read_file(settings.output));
  std::string merges;
  for (const auto& merge : json["model"]["merges"]) {
    merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "|";
  }
  CHECK(merges ==
        "a t|h e|t he|Ġ c|Ġ the|Ġ 2|d o|Ġ o|Ġ do|Ġ2 0|' s|2 4|s at|Ġ sat|Ġc at|Ġo n|Ġdo g|Ġ20 24|"
        "a f|a Ã|m at|n t|n aÃ|o u|v e|¥ ½|¯ ve|½ ł|Ã ©|ä ½ł|å ¥½|Ġ mat|Ġ ä½ł|Ġc af|Ġc ou|naÃ ¯ve|"
        "Ġä½ł å¥½|Ġcaf Ã©|Ġcou nt|");
  CHECK(counts.vocab_size == 296);  // no pair is left that occurs twice
  const auto tokenizer = open_tokenizer(settings.output);
  CHECK(tokenizer->vocab_size() == 296);
  CHECK(tokenizer->end_of_document() == 0);
  CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
  CHECK(tokenizer->encode(text).size() < text.size() / 2);

  settings.vocab_size = 100000;  // more than the text has pairs for
  CHECK(train_tokenizer(settings, log).vocab_size < 400);
  settings.vocab_size = 200;
  CHECK_THROWS_AS(train_tokenizer(settings, log), UserError);
}

TEST_CASE("tokenize: literal special tokens can be kept out") {
  const test::TempFolder folder;
  write_file(folder / "corpus", "aa bb aa bb");
  TrainTokenizerSettings train;
  train.inputs = {folder / "corpus"};
  train.output = folder / "t.json";
  train.vocab_size = 260;
  Log log(true);
  train_tokenizer(train, log);
  write_file(folder / "text", "aa<|endoftext|>bb");
  auto settings = settings_of(folder / "text", folder / "out");
  settings.tokenizer = train.output;
  tokenize_files(settings, log);
  const Ids with = read_all(folder / "out")[0];
  CHECK(std::count(with.begin(), with.end(), 0) == 2);
  settings.special_tokens = false;
  tokenize_files(settings, log);
  const Ids without = read_all(folder / "out")[0];
  CHECK(std::count(without.begin(), without.end(), 0) == 1);
  CHECK(open_tokenizer(train.output)->decode(without) == "aa<|endoftext|>bb<|endoftext|>");
}

TEST_CASE("inspect: tells what is there and finds what is wrong") {
  const test::TempFolder folder;
  write_file(folder / "text", "abc\nde\n");
  Log log(true);
  tokenize_files(settings_of(folder / "text", folder / "out"), log);
  const std::string report = inspect_token_file({folder / "out", "byte", true, 5});
  for (const char* part :
       {"documents    2", "tokens       7, u16", "lengths      3 to 4, median 4, mean 3.5",
        "ids          97 to 256, 2 times the end of a document (256)", "hashes       all verified",
        "entropy      1.7479 nats", "first ids    97 98 99 256 100", "first text   abcd"}) {
    CHECK_MESSAGE(report.find(part) != std::string::npos, part, "\n", report);
  }
  std::string bin = read_file(folder / "out.bin");
  bin[0] = 'b';
  write_file(folder / "out.bin", bin);
  CHECK_THROWS_AS(inspect_token_file({folder / "out", "", true, 5}), UserError);
  std::filesystem::remove(folder / "out.meta.json");
  CHECK(inspect_token_file({folder / "out", "", true, 5}).find("hashes       none") != std::string::npos);
}
