#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

#include "spec/scalar.h"
#include "spec/yaml_tree.h"

using namespace shoal;

TEST_CASE("numbers in every accepted spelling") {
  CHECK(parse_number("1e-8") == 1e-8);
  CHECK(parse_number("6e-4") == 6e-4);
  CHECK(parse_number(".5") == 0.5);
  CHECK(parse_number("5.") == 5.0);
  CHECK(parse_number("+2") == 2.0);
  CHECK(parse_number("1_000.5") == 1000.5);
  CHECK(parse_integer("4_096") == 4096);
  CHECK(parse_integer("-1") == -1);
  CHECK(parse_integer("1e3") == 1000);
  CHECK(parse_integer("4.096e3") == 4096);
  CHECK(parse_integer("9223372036854775807") == INT64_MAX);
  CHECK(parse_unsigned("18446744073709551615") == UINT64_MAX);
}

TEST_CASE("what is no number, or no integer, is refused") {
  for (const char* text : {"", "-", "+", "abc", "1,5", "1e400", "nan", "inf", "-inf", "0x10", "010", "_1",
                           "1_", "1__0", "1_.5", "1e", "1.2.3", "1 2", "--1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number(text));
    CHECK_FALSE(parse_integer(text));
  }
  CHECK_FALSE(parse_integer("1.5"));
  CHECK_FALSE(parse_integer("1e-3"));
  CHECK_FALSE(parse_integer("9223372036854775808"));
  CHECK_FALSE(parse_integer("1e300"));
  CHECK_FALSE(parse_unsigned("-1"));
}

TEST_CASE("truth values are those of both YAML versions") {
  for (const char* text : {"true", "True", "TRUE", "yes", "on"}) CHECK(parse_truth(text) == true);
  for (const char* text : {"false", "False", "no", "Off"}) CHECK(parse_truth(text) == false);
  for (const char* text : {"", "1", "y", "truee"}) CHECK_FALSE(parse_truth(text));
}

TEST_CASE("every number is written so that it reads back to the same bits") {
  CHECK(rc::check([](double value) {
    RC_PRE(std::isfinite(value));
    RC_ASSERT(parse_number(format_number(value)) == value);
  }));
  CHECK(rc::check([](int64_t value) { RC_ASSERT(parse_integer(std::to_string(value)) == value); }));
}

TEST_CASE("every printable text is written so that YAML reads it back") {
  const auto character = rc::gen::elementOf(std::string("abz019 :#{}[],&*!|>'\"%@`-_.~?\\/=<+^$"));
  CHECK(rc::check([&] {
    const auto text = *rc::gen::container<std::string>(character);
    const YamlNode map = read_yaml("key: " + quoted_if_needed(text) + "\n");
    RC_ASSERT(map.entries.size() == 1u);
    RC_ASSERT(map.entries[0].value.kind == YamlNode::Kind::scalar);
    RC_ASSERT(map.entries[0].value.text == text);
  }));
  for (const char* text : {"true", "null", "~", "12", "1e3", "", "-", "...", "a: b", "größe", "日本"}) {
    CAPTURE(text);
    CHECK(is_printable_utf8(text));
    CHECK(read_yaml("key: " + quoted_if_needed(text)).entries[0].value.text == text);
  }
}

TEST_CASE("control characters and broken UTF-8 are not printable") {
  for (const char* text :
       {"\x01", "a\tb", "a\nb", "\x7f", "\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xe2\x80\xa8"}) {
    CHECK_FALSE(is_printable_utf8(text));
  }
}
