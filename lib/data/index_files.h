// The index files of GPT-NeoX and Megatron-LM: three .npy arrays that state a sample order.
//
//   GPT-NeoX                 Megatron-LM                   array
//   PREFIX_doc_idx.npy       PREFIX-document_index.npy     int32 [documents * epochs], numbers of sequences
//   PREFIX_sample_idx.npy    PREFIX-sample_index.npy       [N + 1, 2], place in doc_idx and token in that
//                                                          sequence where each row begins; int32, or int64
//                                                          when 2 (N + 1) does not fit
//   PREFIX_shuffle_idx.npy   PREFIX-shuffle_index.npy      uint32 [N] (int64 from 2^32 - 2 on), the row
//   served
//                                                          as each sample
//
// GPT-NeoX names PREFIX "<set>_train_0_indexmap_147164160ns_2048sl_1234s" (later versions add "_packedpi"),
// Megatron-LM "<md5>-GPTDataset-train".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/index_map.h"

namespace shoal {

// Writes the three files for a map over the sequences first_document, first_document + 1, ... of a set.
// Returns their names.
std::vector<std::string> write_index_files(const IndexMap& map, PublishedOrder order, int64_t first_document,
                                           const std::string& prefix);

// The map that files of either naming state, checked: every number, and where rows begin (each of up to a
// million, a sample of more). Throws UserError naming the file and the element. sizes: of the sequences from
// first_document on.
IndexMap read_index_files(const std::string& prefix, PublishedOrder order, std::vector<int32_t> sizes,
                          int64_t first_document, int64_t seq_length);

}  // namespace shoal
