// The run spec as typed sections. Every field is one row of the key table (key_table.h), which parses,
// checks, prints and documents it; the defaults here and there are the same by a test.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

struct RunSection {
  std::string name = "run";
  std::string dir;  // empty: runs/<name>
  uint64_t seed = 1234;
  int64_t steps = 1000;
  std::string resume = "if_available";  // if_available | always | never
  std::string fork;                     // a checkpoint or a run folder: start from its weights only
  std::string branch;             // the same: go on from its whole state, with another schedule for example
  bool allow_changes = false;     // resume although keys that change the result differ
  double time_limit_minutes = 0;  // 0: none; then save and exit 75
  int64_t threads = 0;            // 0: all cores the process may use
  std::string device = "cpu";
  bool deterministic = true;
};

struct ModelSection {
  std::string family = "gpt-neox";  // gpt-neox | llama
  std::string preset;               // a name from configs/presets, or empty
  int64_t hidden_size = 512;
  int64_t num_layers = 6;
  int64_t num_attention_heads = 8;
  int64_t num_key_value_heads = 0;  // 0: as many as attention heads
  int64_t head_dim = 0;             // 0: hidden_size / num_attention_heads
  int64_t intermediate_size = 0;    // 0: 4 * hidden_size (gpt-neox); llama must state it
  int64_t vocab_size = 0;           // 0: the tokenizer's size, rounded up to vocab_multiple
  int64_t vocab_multiple = 128;     // padding of the vocabulary, independent of the grid
  std::string norm;                 // layernorm | rmsnorm; empty: the family's
  double norm_eps = 1e-5;
  bool norm_unit_offset = false;
  std::string activation;  // gelu | gelu_tanh | swiglu | geglu | geglu_tanh | relu; empty: the family's
  std::optional<bool> parallel_residual;  // the family's when absent: gpt-neox true, llama false
  double rotary_fraction = -1;            // -1: the family's (gpt-neox 0.25, llama 1)
  double rotary_base = 10000;
  bool rotary_interleaved = false;
  std::optional<bool> attention_bias;  // the family's when absent: gpt-neox true, llama false
  std::optional<bool> mlp_bias;
  bool tie_embeddings = false;
  double embedding_scale = 1;       // 0: sqrt(hidden_size)
  std::string init = "small_init";  // small_init | wang_init | normal | scaled_normal | mitchell | takase
  std::string output_init = "wang_init";  // for the projections back into the residual stream
  double init_std = 0.02;                 // of normal and scaled_normal
};

struct DataSource {
  std::string path;  // prefix of a .bin/.idx pair
  double weight = 1.0;
  std::string index = {};  // prefix of index .npy files of GPT-NeoX or Megatron-LM to take the order from
};

struct DataSection {
  std::string tokenizer;  // "byte", or a tokenizer.json
  int64_t seq_length = 512;
  std::vector<DataSource> train, valid, test;
  std::string split;             // "969,30,1": cuts `train` sources when valid/test are not given
  std::string order = "native";  // native | gpt-neox | megatron | preshuffled
  int64_t seed = -1;             // -1: run.seed
  int64_t epochs = 0;            // gpt-neox: epochs shuffled together; 0: as many as the run needs
  int64_t order_samples = 0;     // gpt-neox, megatron: samples the order is made for; 0: what the run needs
};

struct BatchSection {
  int64_t global = 32;  // sequences a step
  int64_t micro = 8;    // sequences a pass
};

struct GoldfishSection {
  std::string strategy = "none";  // none | static | seeded-random | hash-table | hash-avalanche
  int64_t k = 4;
  int64_t h = 13;
  int64_t start = 0;           // static: the first dropped position
  bool include_target = true;  // the hash window ends with the target itself, as in the reference code
};

struct LossSection {
  GoldfishSection goldfish;
  double z_loss = 0;
  int64_t chunk = 0;  // rows of logits held at a time; 0: chosen by the program
};

struct JorgeSection {
  int64_t refresh_every = 10;      // updates between refreshes of the preconditioners
  int64_t block_size = 1024;       // larger dims are cut into blocks
  std::string graft = "sgd";       // sgd | adam: whose step size is taken
  double eps = 1e-6;               // the preconditioners start as eps^(-1/4) I
  std::string form = "symmetric";  // symmetric | published: how factor and statistics are multiplied
};

struct OptimizerSection {
  std::string name = "adamw";
  double lr = 1e-3;
  std::array<double, 2> betas{0.9, 0.95};
  double eps = 1e-8;
  double weight_decay = 0.1;
  std::string decay = "matrices";  // matrices (and embeddings) | all | none
  double clip_norm = 1.0;          // 0: none
  double momentum = 0.9;           // of sgd, jorge and muon
  bool clip_updates = true;        // adam-atan2: steps of a tensor shrink where its gradients outgrow v
  double adamw_lr = 0;             // of what jorge and muon leave to adamw; 0: lr
  JorgeSection jorge;
};

struct ScheduleSection {
  std::string name = "cosine";  // cosine | linear | constant | wsd
  double warmup = 0.01;         // below 1 a fraction of the steps, else steps
  double min_lr = 0;
  int64_t decay_steps = 0;      // 0: run.steps
  int64_t cooldown_start = -1;  // wsd: step where the linear cooldown begins; -1: steps - cooldown_steps
  double cooldown = 0.1;        // wsd: below 1 a fraction of the steps, else steps
};

struct PrecisionSection {
  std::string compute = "f32";  // f32 | bf16
  bool recompute = false;       // activation recomputation of every layer
};

struct ParallelSection {
  int64_t x = 1, y = 1, z = 1, data = 1;
  bool overlap = true;            // of communication with work
  int64_t prefetch = 1;           // matrices gathered over z ahead of the one in use
  bool regather = true;           // gather over z again for the backward pass
  bool shard_optimizer = false;   // over data
  double bucket_mb = 25;          // of gradients that are summed over data together
  bool reproducible = false;      // the same bits for every z and data
  double timeout = 600;           // seconds; of every collective of every group
  int64_t check_replicas = 1000;  // steps between comparisons of the copies that ranks hold; 0: never
};

struct CheckpointSection {
  int64_t every = 100;            // 0: only at the end
  int64_t keep_last = 3;          // 0: all
  int64_t keep_every = 0;         // keep for good each multiple of this step; 0: none
  std::string schedule = "none";  // none | pythia (0, 1, 2, 4 ... 512, then every 1000; kept for good)
  bool background = true;
  bool save_final = true;
};

struct EvalSection {
  int64_t every = 100;  // 0: only at the end
  int64_t batches = 0;  // 0: the whole validation set
  int64_t micro = 0;    // 0: batch.micro
};

struct LogSection {
  int64_t every = 1;
  bool tensorboard = true;
  std::string progress = "auto";  // auto | bar | lines | none
  double peak_gflops = 0;         // 0: measured at start
};

struct GuardSection {           // a loss that is not finite, or jumps
  std::string policy = "stop";  // stop | skip | rollback
  double spike_factor = 0;      // 0: only non-finite losses; else loss > factor * running mean
  int64_t spike_window = 50;
  int64_t max_rollbacks = 3;
  int64_t max_skips = 10;  // in a row, then stop
};

struct TraceSection {
  int64_t steps = 0;  // 0: no trace
  int64_t first = 3;  // counted from where this start of the run began
  int64_t max_spans = 200000;
};

struct RunSpec {
  int64_t version = 1;
  RunSection run;
  ModelSection model;
  DataSection data;
  BatchSection batch;
  LossSection loss;
  OptimizerSection optimizer;
  ScheduleSection schedule;
  PrecisionSection precision;
  ParallelSection parallel;
  CheckpointSection checkpoint;
  EvalSection eval;
  LogSection log;
  GuardSection guard;
  TraceSection trace;
};

}  // namespace shoal
