#include <doctest/doctest.h>

#include "base/philox.h"

// Known answers of Philox4x32-10 from the Random123 distribution (kat_vectors).
TEST_CASE("philox gives the published known answers") {
  CHECK(shoal::Philox(0, uint64_t{0}).block(0) ==
        std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(shoal::Philox(~uint64_t{0}, ~uint64_t{0}).block(~uint64_t{0}) ==
        std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}
