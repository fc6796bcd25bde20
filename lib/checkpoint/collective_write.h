// Writing a checkpoint as steps that alternate: work, which every rank does for itself and may do in a
// thread, and exchanges, which are collective and for the thread that communicates. So a save in the
// background needs no MPI outside the main thread.
//
//   start     rank 0 makes the file and places the datasets
//   work      each rank hashes its pieces and writes them to their places
//   exchange  the hashes are added up, rank 0 writes the metadata
//   work      each rank hashes its share of the file
//   exchange  the digests are gathered
//   work      rank 0 seals and publishes the file
//   exchange  everybody knows that it is there
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/hdf5_writer.h"
#include "checkpoint/publish.h"
#include "checkpoint/seal.h"

namespace shoal {

class CollectiveWrite {
 public:
  // Collective. The tensors' memory must last until the first exchange.
  CollectiveWrite(Communicator& world, const std::string& path, const CheckpointInfo& info,
                  const std::vector<StateTensor>& tensors);

  // The next step of this rank's own; a failure waits for the exchange.
  void work() noexcept;

  // Collective, after each work(). Throws on every rank if the work of one failed; nothing is left of the
  // file then. True: the checkpoint is published.
  bool exchange();

 private:
  // A global tensor, and what this rank holds and writes of it.
  struct Entry {
    DType dtype = DType::f32;
    Shape shape;
    std::vector<StateTensor> pieces;
    int64_t offset = 0;  // in the file
    TensorHash hash;
  };
  enum class Step { write, hash, publish, done };

  void check_entries() const;
  void create(const CheckpointInfo& info);
  void write_pieces();
  void finish_file();

  Communicator& world_;
  std::map<std::string, Entry> entries_;
  Seal seal_;
  std::vector<Digest> digests_;
  std::optional<PendingFile> pending_;  // the first rank's, as the next
  std::unique_ptr<Hdf5Writer> writer_;
  std::string temporary_;
  Step step_ = Step::write;
  std::exception_ptr failure_;
};

}  // namespace shoal
