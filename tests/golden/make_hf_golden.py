#!/usr/bin/env python3
"""Makes the folders of tests/golden/hf: tiny models with random weights as transformers saves them, and their logits. Run
by hand where torch and transformers are installed; the tests only read the files.

logits.safetensors of each: tokens [B, T] and the logits [B, T, V], computed in float64 from the weights as they were stored.
"""

import json
import pathlib
import shutil

import torch
import transformers
from make_golden import randomise
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent / "hf"
VOCAB, ROWS, LENGTH = 72, 2, 20


def neox(parallel, activation, rotary, layers=2):
    return transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(
        vocab_size=VOCAB, hidden_size=24, num_hidden_layers=layers, num_attention_heads=3, intermediate_size=80,
        hidden_act=activation, max_position_embeddings=64, layer_norm_eps=2e-5, use_parallel_residual=parallel,
        bos_token_id=0, eos_token_id=0, attn_implementation="eager",
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0, "partial_rotary_factor": rotary}))


def llama(tied, bias, kv_heads):
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=VOCAB, hidden_size=24, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=kv_heads, head_dim=8, hidden_act="silu", max_position_embeddings=64, rms_norm_eps=3e-6,
        tie_word_embeddings=tied, attention_bias=bias, mlp_bias=bias, attn_implementation="eager",
        rope_parameters={"rope_type": "default", "rope_theta": 500000.0}))


def write(name, model, seed, dtype, **saving):
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    model = model.double()
    randomise(model, seed)
    model.to(dtype).save_pretrained(folder, **saving)
    (folder / "generation_config.json").unlink(missing_ok=True)
    generator = torch.Generator().manual_seed(seed + 1)
    tokens = torch.randint(0, VOCAB, (ROWS, LENGTH), generator=generator)
    # From the files: .to(dtype) has rounded the rotary frequencies too, which no loaded model does.
    stored = type(model).from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    with torch.no_grad():
        logits = stored(tokens).logits.float()
    save_file({"tokens": tokens.int(), "logits": logits}, folder / "logits.safetensors")
    print(name, sum(f.stat().st_size for f in folder.iterdir()), "bytes")


def spell_as_version_4(folder):
    """The keys of a config.json of GPT-NeoX before transformers 5."""
    path = FOLDER / folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rotary_pct"], config["rotary_emb_base"] = rope["partial_rotary_factor"], rope["rope_theta"]
    config["torch_dtype"] = config.pop("dtype")
    config["rope_scaling"] = None
    config["transformers_version"] = "4.38.0"
    path.write_text(json.dumps(config, indent=2) + "\n")


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    write("neox", neox(True, "gelu", 0.5), 11, torch.float32)
    write("neox_sharded_bf16", neox(False, "gelu_new", 1.0, 1), 12, torch.bfloat16, max_shard_size="8KB")
    spell_as_version_4("neox_sharded_bf16")
    write("llama_grouped_f16", llama(False, False, 2), 13, torch.float16)
    write("llama_tied_bias", llama(True, True, 4), 14, torch.float32)


if __name__ == "__main__":
    main()
