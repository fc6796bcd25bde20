#!/usr/bin/env python3
"""Makes the golden files of this folder: tiny models of PyTorch and transformers with their weights, inputs, logits,
loss and every gradient, and the losses of a short AdamW run. Run by hand where torch, transformers, safetensors and
numpy are installed; the tests only read the files.

Each file has the metadata "config" (the fields of shoal::ModelConfig as JSON) and "versions". Tensors: weight/NAME and
grad/NAME with the names that transformers saves, tokens and targets [B, T], logits [B, T, V], loss [1]. Models run in float64,
and the results are stored as float32.
"""

import json
import math
import pathlib
import sys

import numpy
import torch
import transformers
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).parent
VERSIONS = {"python": sys.version.split()[0], "torch": torch.__version__, "transformers": transformers.__version__}
VOCAB, ROWS, LENGTH = 101, 2, 24


def to_numpy(tensor):
    return numpy.ascontiguousarray(tensor.detach().cpu().float().numpy())


def saved_name(config, name):
    """The name in a saved file: transformers 5 holds GPT-NeoX's head under another one in memory."""
    return "embed_out.weight" if config["family"] == "gpt-neox" and name == "lm_head.weight" else name


def write(name, config, tensors, **metadata):
    metadata = {"config": json.dumps(config), "versions": json.dumps(VERSIONS), **metadata}
    save_file(tensors, FOLDER / f"{name}.safetensors", metadata=metadata)
    print(name, sum(t.nbytes for t in tensors.values()), "bytes")


def randomise(model, seed):
    """Weights large enough, and norms and biases far enough from 1 and 0, that each of them matters."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        if parameter.dim() >= 2:
            value = noise / math.sqrt(parameter.shape[-1])
        elif name.endswith("bias"):
            value = 0.1 * noise
        else:
            value = parameter.data.double() + 0.1 * noise
        # Exactly representable in float32, which is what is stored.
        parameter.data = value.float().to(parameter.dtype)


def neox(hidden, layers, heads, parallel, rotary, activation, tied):
    hf = transformers.GPTNeoXConfig(
        vocab_size=VOCAB, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=4 * hidden, hidden_act="gelu" if activation == "gelu" else "gelu_new",
        max_position_embeddings=64, layer_norm_eps=1e-5, use_parallel_residual=parallel, tie_word_embeddings=tied,
        attention_dropout=0.0, hidden_dropout=0.0, use_cache=False,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": rotary})
    hf._attn_implementation = "eager"
    head_dim = hidden // heads
    config = dict(
        family="gpt-neox", hidden_size=hidden, num_layers=layers, num_heads=heads, num_kv_heads=heads,
        head_dim=head_dim, intermediate_size=4 * hidden, vocab_size=VOCAB, rmsnorm=False, norm_unit_offset=False,
        norm_eps=1e-5, activation=activation, gated=False, parallel_residual=parallel,
        rotary_dims=int(head_dim * rotary), rotary_base=10000.0, attention_bias=True, mlp_bias=True, norm_bias=True,
        tie_embeddings=tied, embedding_scale=1.0)
    return transformers.GPTNeoXForCausalLM(hf), config


def llama(hidden, layers, heads, kv_heads, head_dim, ffn, tied, theta, bias):
    hf = transformers.LlamaConfig(
        vocab_size=VOCAB, hidden_size=hidden, intermediate_size=ffn, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_dim, hidden_act="silu",
        max_position_embeddings=64, rms_norm_eps=1e-5, tie_word_embeddings=tied, attention_bias=bias, mlp_bias=bias,
        attention_dropout=0.0, use_cache=False, rope_parameters={"rope_type": "default", "rope_theta": theta})
    hf._attn_implementation = "eager"
    config = dict(
        family="llama", hidden_size=hidden, num_layers=layers, num_heads=heads, num_kv_heads=kv_heads,
        head_dim=head_dim, intermediate_size=ffn, vocab_size=VOCAB, rmsnorm=True, norm_unit_offset=False,
        norm_eps=1e-5, activation="silu", gated=True, parallel_residual=False, rotary_dims=head_dim,
        rotary_base=theta, attention_bias=bias, mlp_bias=bias, norm_bias=False, tie_embeddings=tied,
        embedding_scale=1.0)
    return transformers.LlamaForCausalLM(hf), config


class UnitOffsetNorm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * (1 + self.weight)


class GemmaLike(torch.nn.Module):
    """Scaled embeddings, norms with unit offset, GeGLU with the tanh form, grouped queries; names as in transformers."""

    def __init__(self, hidden, layers, heads, kv_heads, head_dim, ffn):
        super().__init__()
        self.hidden, self.heads, self.kv_heads, self.head_dim = hidden, heads, kv_heads, head_dim
        linear = lambda out, size: torch.nn.Linear(size, out, bias=False)
        self.model = torch.nn.Module()
        self.model.embed_tokens = torch.nn.Embedding(VOCAB, hidden)
        self.model.layers = torch.nn.ModuleList()
        for _ in range(layers):
            layer = torch.nn.Module()
            layer.input_layernorm, layer.post_attention_layernorm = UnitOffsetNorm(hidden), UnitOffsetNorm(hidden)
            layer.self_attn, layer.mlp = torch.nn.Module(), torch.nn.Module()
            layer.self_attn.q_proj = linear(heads * head_dim, hidden)
            layer.self_attn.k_proj = linear(kv_heads * head_dim, hidden)
            layer.self_attn.v_proj = linear(kv_heads * head_dim, hidden)
            layer.self_attn.o_proj = linear(hidden, heads * head_dim)
            layer.mlp.gate_proj, layer.mlp.up_proj = linear(ffn, hidden), linear(ffn, hidden)
            layer.mlp.down_proj = linear(hidden, ffn)
            self.model.layers.append(layer)
        self.model.norm = UnitOffsetNorm(hidden)
        self.lm_head = linear(VOCAB, hidden)

    def rotate(self, x):
        half = self.head_dim // 2
        frequency = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * frequency
        cos, sin = torch.cos(angle), torch.sin(angle)
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.model.embed_tokens(tokens) * math.sqrt(self.hidden)
        mask = torch.full((T, T), float("-inf")).triu(1)
        for layer in self.model.layers:
            y, attention = layer.input_layernorm(x), layer.self_attn
            split = lambda z, n: z.view(B, T, n, self.head_dim).transpose(1, 2)
            q = self.rotate(split(attention.q_proj(y), self.heads))
            k = self.rotate(split(attention.k_proj(y), self.kv_heads))
            v = split(attention.v_proj(y), self.kv_heads)
            repeat = self.heads // self.kv_heads
            k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
            weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(self.head_dim) + mask, -1)
            x = x + attention.o_proj((weights @ v).transpose(1, 2).reshape(B, T, -1))
            y, mlp = layer.post_attention_layernorm(x), layer.mlp
            gate = torch.nn.functional.gelu(mlp.gate_proj(y), approximate="tanh")
            x = x + mlp.down_proj(gate * mlp.up_proj(y))
        return self.lm_head(self.model.norm(x))


def gemma_like(hidden, layers, heads, kv_heads, head_dim, ffn):
    config = dict(
        family="llama", hidden_size=hidden, num_layers=layers, num_heads=heads, num_kv_heads=kv_heads,
        head_dim=head_dim, intermediate_size=ffn, vocab_size=VOCAB, rmsnorm=True, norm_unit_offset=True,
        norm_eps=1e-5, activation="gelu_tanh", gated=True, parallel_residual=False, rotary_dims=head_dim,
        rotary_base=10000.0, attention_bias=False, mlp_bias=False, norm_bias=False, tie_embeddings=False,
        embedding_scale=math.sqrt(hidden))
    return GemmaLike(hidden, layers, heads, kv_heads, head_dim, ffn), config


def logits_of(model, tokens):
    out = model(tokens)
    return out if torch.is_tensor(out) else out.logits


def gradients(name, made, seed, masked=False):
    """One forward and backward. masked: some targets ignored, some dropped, and a z-loss."""
    model, config = made
    model = model.double()
    randomise(model, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    rows = torch.randint(0, VOCAB, (ROWS, LENGTH + 1), generator=generator)
    tokens, targets = rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
    keep = torch.ones(ROWS, LENGTH, dtype=torch.float64)
    z_loss = 0.0
    if masked:
        keep = (torch.rand(ROWS, LENGTH, generator=generator) < 0.75).double()
        targets[torch.rand(ROWS, LENGTH, generator=generator) < 0.15] = -1
        z_loss = 1e-2
    logits = logits_of(model, tokens)
    lse = torch.logsumexp(logits, -1)
    token_loss = lse - logits.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    kept = keep * (targets >= 0)
    dropped = (1 - keep) * (targets >= 0)
    loss = (kept * (token_loss + z_loss * lse**2)).sum() / kept.sum()
    loss.backward()
    tensors = {
        "tokens": tokens.int().numpy(), "targets": targets.int().numpy(), "keep": to_numpy(keep),
        "logits": to_numpy(logits), "loss": to_numpy(loss.reshape(1)),
        "kept_loss": to_numpy(((kept * token_loss).sum() / kept.sum()).reshape(1)),
        "dropped_loss": to_numpy(((dropped * token_loss).sum() / dropped.sum().clamp(min=1)).reshape(1)),
    }
    for parameter_name, parameter in model.named_parameters():
        saved = saved_name(config, parameter_name)
        tensors[f"weight/{saved}"] = to_numpy(parameter)
        tensors[f"grad/{saved}"] = to_numpy(parameter.grad)
    write(name, config, tensors, z_loss=str(z_loss))


def adamw_run(name, made, seed, steps=50, rows=4, length=16):
    """Losses of AdamW in float32 on a text with structure, decay on matrices only, global-norm clipping."""
    model, config = made
    model = model.float()
    randomise(model, seed)
    # Each token follows from the one before by a fixed map, with noise.
    generator = torch.Generator().manual_seed(seed + 1)
    successor = torch.randperm(VOCAB, generator=generator)
    data = torch.zeros(steps, rows, length + 1, dtype=torch.long)
    data[:, :, 0] = torch.randint(0, VOCAB, (steps, rows), generator=generator)
    for t in range(length):
        noise = torch.randint(0, VOCAB, (steps, rows), generator=generator)
        surprise = torch.rand(steps, rows, generator=generator) < 0.1
        data[:, :, t + 1] = torch.where(surprise, noise, successor[data[:, :, t]])

    hyper = dict(betas=[0.9, 0.95], eps=1e-8, weight_decay=0.1, clip_norm=1.0)
    lr = [3e-3 * min(1.0, (step + 1) / 10) for step in range(steps)]
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": hyper["weight_decay"]}, {"params": others, "weight_decay": 0.0}],
        lr=1.0, betas=tuple(hyper["betas"]), eps=hyper["eps"])
    tensors = {f"weight/{saved_name(config, n)}": to_numpy(p).copy() for n, p in model.named_parameters()}
    losses, norms = [], []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = lr[step]
        tokens, targets = data[step, :, :-1], data[step, :, 1:]
        loss = torch.nn.functional.cross_entropy(logits_of(model, tokens).reshape(-1, VOCAB), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), hyper["clip_norm"])))
        optimizer.step()
        losses.append(loss.item())
    print(name, "loss", losses[0], "->", losses[-1], "norm", min(norms), max(norms))
    tensors.update({
        "data": data.int().numpy(), "lr": numpy.array(lr), "losses": numpy.array(losses), "norms": numpy.array(norms),
        **{f"final/{saved_name(config, n)}": to_numpy(p) for n, p in model.named_parameters()}})
    write(name, config, tensors, hyper=json.dumps(hyper))


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    gradients("neox_parallel", neox(48, 2, 3, True, 0.25, "gelu", False), 1)
    gradients("neox_parallel_tied", neox(48, 2, 3, True, 1.0, "gelu_tanh", True), 2)
    gradients("neox_sequential", neox(48, 2, 3, False, 0.25, "gelu_tanh", False), 3)
    gradients("neox_sequential_tied", neox(48, 2, 3, False, 1.0, "gelu", True), 4)
    gradients("llama_grouped", llama(48, 2, 6, 2, 8, 88, False, 10000.0, False), 5)
    gradients("llama_tied_bias", llama(48, 2, 4, 4, 12, 100, True, 500000.0, True), 6)
    gradients("gemma_like_masked", gemma_like(48, 2, 4, 2, 16, 96), 7, masked=True)
    adamw_run("adamw_neox", neox(32, 2, 2, True, 0.25, "gelu", False), 8)


if __name__ == "__main__":
    main()
