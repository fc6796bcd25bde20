#include <doctest/doctest.h>

#include "base/text.h"

using namespace shoal;

TEST_CASE("edit distance counts insertions, changes and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("trian", "train") == 1);
}

TEST_CASE("the nearest name is found, or none") {
  CHECK(nearest("lrate", {"lr", "eps", "betas"}) == "lr");
  CHECK(nearest("layers", {"hidden_size", "num_layers"}) == "num_layers");
  CHECK(nearest("hidden-sise", {"hidden_size", "num_layers"}) == "hidden_size");
  CHECK(nearest("banana", {"lr", "eps", "betas"}) == "");
  CHECK(nearest("", {"lr"}) == "");
}

TEST_CASE("numbers and lists are written for people") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1100048384) == "1,100,048,384");
  CHECK(with_commas(-1234) == "-1,234");
  CHECK(with_commas(-123) == "-123");
  CHECK(join_choices({"a", "b", "c"}) == "a, b or c");
  CHECK(join_choices({"a"}) == "a");
  CHECK(wrapped("one two three four", 9, 2) == "one two\n  three\n  four");
}
