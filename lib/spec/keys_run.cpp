#include "spec/keys.h"

namespace shoal {

std::vector<Key> run_keys() {
  return {
      SHOAL_KEY(version, between(1, 1), "", "Version of the spec's format."),

      SHOAL_KEY(run.name, anything(), "", "Name of the run, for its folder and for reports."),
      SHOAL_KEY(run.dir, anything(), "", "Folder of the run; empty: runs/<name>."),
      SHOAL_KEY(run.seed, at_least(0), "", "Seed of everything random: weights, data order, sampling."),
      SHOAL_KEY(run.steps, at_least(0), "steps", "Optimizer steps of the whole run."),
      SHOAL_KEY(
          run.resume, one_of({"if_available", "always", "never"}), "",
          "Whether to continue from the newest checkpoint of run.dir; never refuses a folder that has one."),
      SHOAL_KEY(run.fork, anything(), "", "A checkpoint or a run folder whose weights the run starts from."),
      SHOAL_KEY(
          run.branch, anything(), "",
          "A checkpoint or a run folder whose whole state the run goes on from, a cooldown for example."),
      SHOAL_KEY(run.allow_changes, anything(), "",
                "Resume although keys that change the result differ from the checkpoint's."),
      SHOAL_KEY(run.time_limit_minutes, at_least(0), "minutes",
                "Save and exit with code 75 after this long; 0: never."),
      SHOAL_KEY(run.threads, at_least(0), "", "Threads; 0: one for each core that the process may use."),
      SHOAL_KEY(run.device, one_of({"cpu"}), "", "Device that computes."),
      SHOAL_KEY(run.deterministic, anything(), "", "The same spec and number of threads give the same bits."),

      SHOAL_KEY(data.tokenizer, anything(), "", "byte, or the path of a Hugging Face tokenizer.json."),
      SHOAL_KEY(data.seq_length, at_least(1), "tokens", "Length of a training sequence."),
      SHOAL_KEY(data.train, anything(), "", "Training data: prefixes of .bin/.idx pairs, blended by weight."),
      SHOAL_KEY(data.valid, anything(), "", "Validation data; read once, in file order."),
      SHOAL_KEY(data.test, anything(), "", "Test data; read once, in file order."),
      SHOAL_KEY(data.split, anything(), "",
                "Cuts the training data into train, valid and test in these proportions: 969,30,1."),
      SHOAL_KEY(
          data.order, one_of({"native", "gpt-neox", "megatron", "preshuffled"}), "",
          "Rule that orders the training samples: this program's, that of GPT-NeoX or Megatron-LM, or the "
          "order of the file, each sequence of which is one row of seq_length + 1 tokens."),
      SHOAL_KEY(data.seed, or_value(at_least(0), -1), "", "Seed of the sample order; -1: run.seed."),
      SHOAL_KEY(
          data.epochs, at_least(0), "",
          "Epochs that order gpt-neox shuffles together, on which every sample depends; 0: as many as the "
          "run needs."),
      SHOAL_KEY(
          data.order_samples, at_least(0), "sequences",
          "Samples that orders gpt-neox and megatron are made for, on which every sample may depend; 0: "
          "what the run needs."),

      SHOAL_KEY(batch.global, at_least(1), "sequences", "Sequences in one optimizer step."),
      SHOAL_KEY(batch.micro, at_least(1), "sequences",
                "Sequences in one pass; gradients are accumulated up to batch.global."),
  };
}

}  // namespace shoal
