#include "spec/keys.h"

namespace shoal {

std::vector<Key> training_keys() {
  return {
      SHOAL_KEY(loss.goldfish.strategy,
                one_of({"none", "static", "seeded-random", "hash-table", "hash-avalanche"}), "",
                "Which tokens the goldfish loss leaves out (arXiv 2406.10209)."),
      SHOAL_KEY(loss.goldfish.k, at_least(2), "", "One token in k is left out of the loss."),
      SHOAL_KEY(loss.goldfish.h, at_least(1), "tokens",
                "Width of the context that the hash strategies look at."),
      SHOAL_KEY(loss.goldfish.start, at_least(0), "",
                "Strategy static: the first position that is left out."),
      SHOAL_KEY(
          loss.goldfish.include_target, anything(), "",
          "The hashed window ends with the target itself, as in the reference code; else just before it."),
      SHOAL_KEY(loss.z_loss, at_least(0), "", "Weight of the square of log Z added to the loss; 0: none."),
      SHOAL_KEY(loss.chunk, at_least(0), "rows", "Rows of logits held at a time; 0: chosen by the program."),

      SHOAL_KEY(optimizer.name, one_of({"adamw", "adam-atan2", "jorge", "muon", "sgd"}), "",
                "Optimizer; jorge and muon leave embeddings, norm weights and biases to adamw."),
      SHOAL_KEY(optimizer.lr, above(0), "", "Peak learning rate."),
      SHOAL_KEY(optimizer.betas, from_below(0, 1), "", "Decay of the first and of the second moment."),
      SHOAL_KEY(optimizer.eps, above(0), "", "Added to the root of the second moment."),
      SHOAL_KEY(optimizer.weight_decay, at_least(0), "", "Decoupled weight decay."),
      SHOAL_KEY(optimizer.decay, one_of({"matrices", "all", "none"}), "",
                "What decays: matrices (and embeddings), everything, or nothing."),
      SHOAL_KEY(optimizer.clip_norm, at_least(0), "", "Largest global norm of the gradient; 0: no clipping."),
      SHOAL_KEY(optimizer.momentum, from_below(0, 1), "", "Decay of the momentum of sgd, jorge and muon."),
      SHOAL_KEY(optimizer.clip_updates, anything(), "",
                "adam-atan2: divide a tensor's step by the RMS of g / sqrt(v) where that is above 1."),
      SHOAL_KEY(optimizer.adamw_lr, at_least(0), "",
                "Peak learning rate of what jorge and muon leave to adamw; 0: optimizer.lr."),
      SHOAL_KEY(optimizer.jorge.refresh_every, at_least(1), "updates",
                "Jorge: updates between refreshes of the preconditioners."),
      SHOAL_KEY(optimizer.jorge.block_size, at_least(1), "",
                "Jorge: dims above this are cut into blocks, each with its own preconditioner."),
      SHOAL_KEY(optimizer.jorge.graft, one_of({"sgd", "adam"}), "",
                "Jorge: the optimizer whose step size is taken over, matrix by matrix."),
      SHOAL_KEY(optimizer.jorge.form, one_of({"symmetric", "published"}), "",
                "Jorge: the refresh multiplies factor and statistics as F^2 S F^2, which keeps the factor "
                "positive, or "
                "as F^4 S, as published."),
      SHOAL_KEY(optimizer.jorge.eps, above(0), "", "Jorge: preconditioners start as eps^(-1/4) I."),

      SHOAL_KEY(schedule.name, one_of({"cosine", "linear", "constant", "wsd"}), "",
                "How the learning rate goes after the warmup; wsd: constant, then a linear cooldown."),
      SHOAL_KEY(schedule.warmup, at_least(0), "",
                "Linear warmup: below 1 a fraction of decay_steps, else steps."),
      SHOAL_KEY(schedule.min_lr, at_least(0), "", "Learning rate at the end."),
      SHOAL_KEY(schedule.decay_steps, at_least(0), "steps", "Steps until min_lr is reached; 0: run.steps."),
      SHOAL_KEY(schedule.cooldown_start, or_value(at_least(0), -1), "steps",
                "wsd: step at which the cooldown begins; -1: so that it ends with the run."),
      SHOAL_KEY(schedule.cooldown, at_least(0), "",
                "wsd: length of the cooldown; below 1 a fraction of run.steps, else steps."),

      SHOAL_KEY(precision.compute, one_of({"f32", "bf16"}), "",
                "Type of activations and products; master weights and sums are f32 always."),
      SHOAL_KEY(precision.recompute, anything(), "",
                "Recompute each layer's activations in the backward pass."),

      SHOAL_KEY(parallel.x, at_least(1), "ranks", "Grid axis that splits the output features of a layer."),
      SHOAL_KEY(parallel.y, at_least(1), "ranks", "Grid axis that splits the input features of a layer."),
      SHOAL_KEY(parallel.z, at_least(1), "ranks", "Grid axis that splits the batch and shards the weights."),
      SHOAL_KEY(parallel.data, at_least(1), "ranks",
                "Grid axis that splits the batch and copies the weights."),
      SHOAL_KEY(parallel.overlap, anything(), "",
                "Communicate while computing; false waits at once, for the same bits."),
      SHOAL_KEY(parallel.prefetch, at_least(0), "matrices",
                "How many weight matrices are gathered over z ahead of the one in use."),
      SHOAL_KEY(
          parallel.regather, anything(), "",
          "Gather weights over z again for the backward pass; false keeps them: more memory, less to send."),
      SHOAL_KEY(parallel.shard_optimizer, anything(), "",
                "Split master weights and optimizer state over the data axis too; not for jorge and muon."),
      SHOAL_KEY(parallel.bucket_mb, above(0), "MB",
                "Gradients are summed over the data axis in buckets of this size, during the backward pass."),
      SHOAL_KEY(
          parallel.reproducible, anything(), "",
          "Sum gradients in fixed point: the same bits for every z and data at the same batch.micro and "
          "threads."),
      SHOAL_KEY(parallel.timeout, above(0), "s",
                "A collective that takes longer ends the run and names the rank that is behind."),
      SHOAL_KEY(parallel.check_replicas, at_least(0), "steps",
                "Steps between comparisons of the weights that several ranks hold copies of; 0: never."),

      SHOAL_KEY(checkpoint.every, at_least(0), "steps", "Steps between checkpoints; 0: none on the way."),
      SHOAL_KEY(checkpoint.keep_last, at_least(0), "", "How many of the newest are kept; 0: all."),
      SHOAL_KEY(checkpoint.keep_every, at_least(0), "steps",
                "Multiples of this step are kept for good; 0: none."),
      SHOAL_KEY(checkpoint.schedule, one_of({"none", "pythia"}), "",
                "pythia: steps 0, 1, 2, 4 ... 512 and every 1000 are saved and kept for good."),
      SHOAL_KEY(checkpoint.background, anything(), "",
                "Write while training goes on, from a snapshot in memory."),
      SHOAL_KEY(checkpoint.save_final, anything(), "", "Save at the last step."),

      SHOAL_KEY(eval.every, at_least(0), "steps", "Steps between validations; 0: only at the end."),
      SHOAL_KEY(eval.batches, at_least(0), "",
                "Passes of eval.micro sequences in one validation; 0: the whole set."),
      SHOAL_KEY(eval.micro, at_least(0), "sequences", "Sequences in one pass of validation; 0: batch.micro."),

      SHOAL_KEY(log.every, at_least(1), "steps", "Steps between step lines and records."),
      SHOAL_KEY(log.tensorboard, anything(), "", "Write TensorBoard event files."),
      SHOAL_KEY(log.progress, one_of({"auto", "bar", "lines", "none"}), "",
                "What the terminal shows; auto: a bar on a terminal, lines elsewhere."),
      SHOAL_KEY(log.peak_gflops, at_least(0), "GFLOP/s",
                "Peak that MFU is measured against; 0: measured at the start."),

      SHOAL_KEY(guard.policy, one_of({"stop", "skip", "rollback"}), "",
                "What to do when the loss is not finite or jumps; stop exits with code 3."),
      SHOAL_KEY(
          guard.spike_factor, or_value(above(1), 0), "",
          "A loss above this times its running mean is a jump; 0: only losses that are not finite count."),
      SHOAL_KEY(guard.spike_window, at_least(1), "steps", "Steps of the running mean."),
      SHOAL_KEY(guard.max_skips, at_least(0), "steps", "Steps skipped in a row before the run stops."),
      SHOAL_KEY(guard.max_rollbacks, at_least(0), "", "Rollbacks before the run stops."),

      SHOAL_KEY(trace.steps, at_least(0), "steps",
                "Steps that trace.json (Chrome, Perfetto) and trace.csv (Pipit) tell of; 0: no trace."),
      SHOAL_KEY(trace.first, at_least(1), "",
                "The first of them, counted from where this start of the run begins."),
      SHOAL_KEY(trace.max_spans, at_least(1), "", "Spans that a rank keeps; later ones are left out."),
  };
}

}  // namespace shoal
