#!/usr/bin/env python3
"""Shows that transformers loads what `shoal hf export` writes: check_hf_export.py PATH/TO/shoal

Run by hand where torch and transformers are installed (CI checks the files' bytes instead, tests/hf). For models made by
transformers: imported and exported, every tensor has the same bits and the logits are equal. For models trained here, of
both families and with both kinds of tokenizer: transformers loads the export and generates the same greedy text.
"""

import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers

HERE = pathlib.Path(__file__).parent
SHOAL = str(pathlib.Path(sys.argv[1]).resolve())
GOLDEN = {"neox": "f32", "neox_sharded_bf16": "bf16", "llama_grouped_f16": "f16", "llama_tied_bias": "f32"}
PROMPTS = ["The cat sat", "One day, 3 dogs\n", "A tree's "]
TOKENS = 40


def shoal(*words):
    done = subprocess.run([SHOAL, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"shoal {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def load(folder):
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        folder, output_loading_info=True, dtype="auto", attn_implementation="eager")
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        assert not info[kind], (kind, info[kind])
    return model.eval()


def round_trip(name, dtype, temp):
    shoal("hf", "import", HERE / "hf" / name, temp / name / "run")
    shoal("hf", "export", temp / name / "run", temp / name / "hf", "--dtype", dtype)
    before, after = load(HERE / "hf" / name), load(temp / name / "hf")
    mine, theirs = after.state_dict(), before.state_dict()
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[key], theirs[key]) for key in mine)
    tokens = torch.arange(20)[None] * 7 % before.config.vocab_size
    with torch.no_grad():
        assert torch.equal(before(tokens).logits, after(tokens).logits)
    print(f"{name}: {len(mine)} tensors and the logits are equal, {next(after.parameters()).dtype}")


def write_corpus(path):
    things = ["cat", "dog", "tree", "house", "river"]
    lines = [f"The {a} sat on {n} {b}s. One day, {n} {b}s saw the {a}'s {things[n % 5]}!\n"
             for n in range(1, 60) for a in things for b in things if a != b]
    path.write_text("".join(lines))


SHAPES = {"neox": "{hidden_size: 64, num_layers: 2, num_attention_heads: 4, activation: gelu_tanh}",
          "llama": "{family: llama, hidden_size: 64, num_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, "
                   "intermediate_size: 160, tie_embeddings: true}"}


def train_and_compare(family, tokenizer, temp):
    place = temp / f"{family}_{tokenizer}"
    place.mkdir()
    write_corpus(place / "corpus.txt")
    name = "byte"
    if tokenizer == "bpe":
        name = place / "tokenizer.json"
        shoal("data", "train-tokenizer", place / "corpus.txt", "--vocab-size", 400, "--output", name)
    shoal("data", "tokenize", place / "corpus.txt", "--tokenizer", name, "--output", place / "corpus")
    (place / "spec.yaml").write_text(
        f"run: {{dir: {place / 'run'}, steps: 80}}\nmodel: {SHAPES[family]}\n"
        f"data: {{tokenizer: {name}, seq_length: 64, train: [{{path: {place / 'corpus'}}}]}}\n"
        "batch: {global: 8, micro: 8}\noptimizer: {lr: 5e-3}\nlog: {progress: none}\n")
    shoal("train", place / "spec.yaml")
    shoal("hf", "export", place / "run", place / "hf")
    model = load(place / "hf")
    reader = transformers.AutoTokenizer.from_pretrained(place / "hf")
    for prompt in PROMPTS:
        ours = shoal("generate", place / "run", "--prompt", prompt, "--greedy", "--tokens", TOKENS)
        ids = reader(prompt, return_tensors="pt").input_ids
        made = model.generate(ids, max_new_tokens=TOKENS, do_sample=False, pad_token_id=0)
        theirs = reader.decode(made[0], skip_special_tokens=True) + "\n"
        assert ours == theirs, f"\nshoal:        {ours!r}\ntransformers: {theirs!r}"
    print(f"{place.name}: the same greedy text, such as {ours!r}")


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    print("transformers", transformers.__version__, "torch", torch.__version__)
    with tempfile.TemporaryDirectory() as folder:
        for name, dtype in GOLDEN.items():
            round_trip(name, dtype, pathlib.Path(folder))
        for family in SHAPES:
            for tokenizer in ("byte", "bpe"):
                train_and_compare(family, tokenizer, pathlib.Path(folder))


if __name__ == "__main__":
    main()
