#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/store.h"
#include "hf/export.h"
#include "hf/import.h"
#include "shoal/commands.h"
#include "spec/load.h"

namespace shoal {
namespace {

int import_folder(const Invocation& given) {
  Log log;
  import_hf(given.text("FOLDER"), given.text("OUT"), log);
  return 0;
}

void export_one(const std::string& from, const std::string& to, const Invocation& given, Log& log) {
  CheckpointReader checkpoint = open_checkpoint(from, [&log](const std::string& line) { log.warning(line); });
  const RunSpec spec =
      parse_spec(checkpoint.info().spec_yaml, checkpoint.path(), given.all("KEY=VALUE")).spec;
  ExportOptions options;
  options.dtype = given.text("--dtype", "f32");
  options.shard_bytes = given.integer("--shard-mb", 5000, 1, 1'000'000'000) * 1'000'000;
  options.check_parity = !given.has("--no-parity");
  export_hf(checkpoint, spec, to, options, log);
}

// Every checkpoint of a run, in folders that are called as the revisions of published suites.
void export_revisions(const std::string& run, const std::string& to, const Invocation& given, Log& log) {
  const CheckpointStore store(checkpoint_folder_of(run), {});
  const std::vector<StoredCheckpoint> all = store.list();
  if (all.empty()) user_error("{}: there are no checkpoints", run);
  for (const StoredCheckpoint& stored : all) {
    if (!stored.problem.empty()) runtime_failure("{}: {}", stored.path, stored.problem);
  }
  for (const StoredCheckpoint& stored : all)
    export_one(stored.path, fmt::format("{}/step{}", to, stored.step), given, log);
}

int export_folder(const Invocation& given) {
  Log log;
  const std::string run = given.text("RUN"), to = given.text("OUT");
  given.has("--revisions") ? export_revisions(run, to, given, log) : export_one(run, to, given, log);
  return 0;
}

}  // namespace

Command hf_command() {
  Command group{.name = "hf",
                .summary = "read and write model folders of Hugging Face transformers",
                .description = "GPTNeoXForCausalLM (Pythia, GPT-NeoX) and LlamaForCausalLM."};
  group.commands = {
      {.name = "import",
       .summary = "make a checkpoint of a Hugging Face folder",
       .description =
           "Reads config.json and the safetensors files, sharded or not, in f32, bf16 or f16. OUT becomes a "
           "folder "
           "that eval, generate and run.fork take as a run; OUT/model.yaml is the part of a spec that "
           "training it "
           "on needs. Nothing is guessed: another architecture, and tensors that are missing, too many or of "
           "another shape, are errors. The vocabulary's size, padding included, is the tensor's.",
       .arguments = {{.name = "FOLDER",
                      .doc = "A folder with config.json and model.safetensors.",
                      .completes = Completes::folder},
                     {.name = "OUT", .doc = "A new folder.", .completes = Completes::folder}},
       .examples = {{"shoal hf import pythia-70m runs/pythia-70m", "Then: shoal generate runs/pythia-70m"}},
       .run = import_folder},
      {.name = "export",
       .summary = "make a Hugging Face folder of a checkpoint",
       .description = "Writes config.json, generation_config.json, the tokenizer's files and the weights as "
                      "safetensors, and "
                      "then compares the logits of what was written with the checkpoint's. One tensor at a "
                      "time is in memory; "
                      "the comparison needs 4 bytes a parameter.",
       .arguments = {{.name = "RUN", .doc = "A run folder or a checkpoint."},
                     {.name = "OUT", .doc = "A new folder.", .completes = Completes::folder},
                     {.name = "KEY=VALUE",
                      .doc = "Keys of the stored spec to change, for example data.tokenizer=tokenizer.json.",
                      .completes = Completes::override_key,
                      .required = false,
                      .repeated = true}},
       .flags = {{.name = "--dtype",
                  .value = "TYPE",
                  .doc = "Type of the weights; f32, which loses nothing, if not given.",
                  .choices = {"f32", "bf16", "f16"}},
                 {.name = "--shard-mb",
                  .value = "N",
                  .doc = "Megabytes of weights in one file at most; 5000 if not given."},
                 {.name = "--revisions",
                  .doc =
                      "Every checkpoint of the run, as OUT/step0, OUT/step1 ..., the names of revisions in "
                      "published suites."},
                 {.name = "--no-parity", .doc = "Leave out the comparison of the logits."}},
       .examples = {{"shoal hf export runs/demo demo-hf",
                     "Then, in Python: AutoModelForCausalLM.from_pretrained('demo-hf')"}},
       .run = export_folder}};
  return group;
}

}  // namespace shoal
