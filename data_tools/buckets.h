// The data of the memorization protocol of Singh et al. (SC24, arXiv 2502.08145, section VIII): disjoint
// buckets of pages that a run sees for 0, 1, 4 and 6 epochs between other pages, after a warm-up on other
// pages alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

struct BucketSettings {
  std::string input;   // prefix of a token file; the first seq_length + 1 tokens of a document are a page
  std::string output;  // prefix of what is written
  int64_t seq_length = 128;
  int64_t pages = 20;                       // in a bucket
  std::vector<int64_t> epochs{0, 1, 4, 6};  // one bucket for each
  int64_t warmup_rows = 0;                  // other pages alone
  int64_t rows = 0;                         // then buckets and other pages, mixed
  uint64_t seed = 1234;
};

struct BucketCounts {
  int64_t candidates = 0;  // documents that are long enough
  int64_t others = 0;      // pages of no bucket that were used, each once
};

// Writes OUTPUT, the rows of training in their order (data.order: preshuffled), and OUTPUT_<epochs>, the
// pages of each bucket as documents. Throws UserError if there are too few pages or rows.
BucketCounts make_buckets(const BucketSettings& settings);

}  // namespace shoal
