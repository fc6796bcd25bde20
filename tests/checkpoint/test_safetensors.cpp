#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

std::vector<std::byte> file_of(const std::string& header, size_t data_bytes) {
  std::vector<std::byte> file(8 + header.size() + data_bytes);
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}

// The message with which a header is refused; empty if it is accepted.
std::string refusal(const std::string& header, size_t data_bytes) {
  try {
    parse_safetensors(file_of(header, data_bytes), "t.safetensors");
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a file of the reference implementation is read, every type") {
  const SafetensorsFile file(SHOAL_SOURCE_DIR "/tests/data/safetensors/reference.safetensors");
  CHECK(file.metadata().at("format") == "pt");
  CHECK(file.entries().size() == 8);
  CHECK(file.find("scalar")->shape.empty());
  CHECK(*file.view("scalar").as<float>() == 7.0f);

  const View f32 = file.view("f32");
  CHECK(f32.shape == Shape{2, 3});
  CHECK(f32.as<float>()[2] == 3.1415927f);
  CHECK(f32.as<float>()[3] == 1e-40f);
  CHECK(file.view("f64").as<double>()[5] == 65504.0);
  CHECK(float(file.view("bf16").as<bf16>()[2]) == 3.140625f);
  CHECK(file.view("i64").as<int64_t>()[0] == -2);
  CHECK(file.view("u8").as<uint8_t>()[4] == 4);

  const std::vector<float> half = file.floats("f16");
  CHECK(half[1] == -2.5f);
  CHECK(half[2] == std::ldexp(1.0f, -24));
  CHECK(half[3] == 65504.0f);
  CHECK(half[4] == std::numeric_limits<float>::infinity());
  CHECK(file.floats("bool") == std::vector<float>{1, 0, 1});
  CHECK(file.floats("i64")[5] == 3);
  CHECK(file.floats("f32")[0] == 1.0f);
  CHECK(file.floats("f64")[1] == -2.5f);

  CHECK_THROWS_WITH_AS(file.view("f16"), doctest::Contains("type F16"), UserError);
  CHECK_THROWS_WITH_AS(file.view("none"), doctest::Contains("no tensor none"), UserError);
}

TEST_CASE("what is written is read back, aligned") {
  const test::TempFolder folder;
  std::vector<float> a{1, 2, 3};
  std::vector<bf16> b{bf16(1.5f), bf16(-2.0f)};
  std::vector<int64_t> c{std::numeric_limits<int64_t>::min(), 5};
  std::vector<uint8_t> d{9, 8, 7};
  const std::string path = folder / "x.safetensors";
  write_safetensors(path,
                    {{"d", View(d.data(), DType::u8, {3})},
                     {"a \"quoted\" \xc3\xa9", View(a.data(), DType::f32, {3, 1})},
                     {"b", View(b.data(), DType::bf16, {2})},
                     {"c", View(c.data(), DType::i64, {2})},
                     {"empty", View(a.data(), DType::f32, {0, 4})}},
                    {{"note", "x"}});
  const SafetensorsFile file(path);
  CHECK(file.entries().size() == 5);
  CHECK(file.metadata().at("note") == "x");
  CHECK(file.view("a \"quoted\" \xc3\xa9").as<float>()[2] == 3);
  CHECK(file.view("b").as<bf16>()[1].bits == bf16(-2.0f).bits);
  CHECK(file.view("c").as<int64_t>()[0] == std::numeric_limits<int64_t>::min());
  CHECK(file.view("d").as<uint8_t>()[2] == 7);
  CHECK(file.view("empty").numel() == 0);
  CHECK(!std::filesystem::exists(path + ".part"));
  CHECK_THROWS_AS(write_safetensors(folder / "no/such/folder.safetensors", {}), RuntimeFailure);
}

TEST_CASE("headers that lie are refused with the reason") {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CHECK(refusal(good, 8) == "");
  CHECK(contains(refusal(good, 9), "the tensors take 8 bytes, the file holds 9"));
  CHECK(contains(refusal(good, 7), "the file holds 7"));
  CHECK(contains(refusal("[1]", 0), "not a JSON object"));
  CHECK(contains(refusal("{\"a\":", 0), "not JSON"));
  CHECK(contains(refusal(good + "x", 8), "not JSON"));
  CHECK(contains(refusal(R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", 8), "unknown dtype"));
  CHECK(contains(refusal(R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", 8), "takes 16 bytes"));
  CHECK(contains(refusal(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8),
                 "not a list of sizes"));
  CHECK(contains(refusal(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8),
                 "not a list of sizes"));
  CHECK(contains(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8), "data_offsets"));
  CHECK(contains(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8), "data_offsets"));
  CHECK(contains(refusal(R"({"a":{"dtype":"F32","shape":[2]}})", 8), "needs dtype"));
  CHECK(contains(refusal(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
                 "too large"));
  CHECK(contains(refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                         R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                         2),
                 "\"a\" twice"));
  CHECK(
      contains(refusal(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1), "twice"));
  CHECK(contains(refusal(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                         R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                         3),
                 "tensor b starts at byte 1"));  // overlap
  CHECK(contains(refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                         R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                         3),
                 "tensor b starts at byte 2"));  // gap
  CHECK(contains(refusal(R"({"__metadata__":{"x":1}})", 0), "not a string"));
  CHECK(contains(refusal(R"({"__metadata__":7})", 0), "not an object"));
  CHECK(
      contains(refusal(R"({"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{"i":{"j":1}}}}}}}}}})", 0), "too deeply"));
  CHECK(contains(refusal("{\"\xff\":1}", 0), "not JSON"));

  // Tensors may be listed in any order.
  CHECK(refusal(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                2) == "");
}

TEST_CASE("files too short for their header are refused") {
  CHECK_THROWS_AS(parse_safetensors({}, "t"), UserError);
  std::vector<std::byte> file = file_of("{}", 0);
  for (size_t n = 0; n < file.size(); ++n) {
    CHECK_THROWS_AS(parse_safetensors(std::span(file).first(n), "t"), UserError);
  }
  CHECK(parse_safetensors(file, "t").entries.empty());
  for (uint64_t length : {uint64_t{3}, uint64_t{100'000'001}, ~uint64_t{0}, ~uint64_t{7}}) {
    std::memcpy(file.data(), &length, 8);
    CHECK_THROWS_AS(parse_safetensors(file, "t"), UserError);
  }
}

TEST_CASE("an unaligned tensor is read as floats but not viewed") {
  const test::TempFolder folder;
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";  // 54 bytes: not aligned
  std::vector<std::byte> bytes = file_of(header, 4);
  const float value = 3.5f;
  std::memcpy(bytes.data() + bytes.size() - 4, &value, 4);
  REQUIRE((8 + header.size()) % 4 != 0);
  const std::string path = folder / "u.safetensors";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), long(bytes.size()));
  const SafetensorsFile file(path);
  CHECK(file.floats("a")[0] == 3.5f);
  CHECK_THROWS_WITH_AS(file.view("a"), doctest::Contains("not aligned"), UserError);
}
