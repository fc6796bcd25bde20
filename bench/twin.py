#!/usr/bin/env python3
"""The same model and training step in PyTorch: a GPT-NeoX decoder as Pythia uses it, with AdamW and clipping.

Prints one JSON line: the milliseconds of each step after the warm-up, tokens a second, the parameters and the peak
memory. With --parallel ddp or fsdp, processes of equal shares of the batch work together over gloo. Needs torch, see
bench/requirements.txt.
"""
import argparse
import json
import math
import os
import resource
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


@dataclass
class Shape:
    layers: int
    hidden: int
    heads: int
    vocab: int
    seq: int
    batch: int
    rotary_fraction: float = 0.25


SHAPES = {
    "70m": Shape(layers=6, hidden=512, heads=8, vocab=50304, seq=512, batch=4),
    "25m": Shape(layers=8, hidden=512, heads=8, vocab=8192, seq=512, batch=8),
}


class Rotary(nn.Module):
    """Rotates the first `dims` of each head, the two halves against each other."""

    def __init__(self, dims, seq, base=10000.0):
        super().__init__()
        frequency = base ** (-torch.arange(0, dims, 2, dtype=torch.float32) / dims)
        angle = torch.outer(torch.arange(seq, dtype=torch.float32), frequency)
        angle = torch.cat([angle, angle], dim=-1)
        self.dims = dims
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, x_BNTD):
        rotated, rest = x_BNTD[..., : self.dims], x_BNTD[..., self.dims :]
        first, second = rotated.chunk(2, dim=-1)
        turned = torch.cat([-second, first], dim=-1)
        rotated = rotated * self.cos.to(x_BNTD.dtype) + turned * self.sin.to(x_BNTD.dtype)
        return torch.cat([rotated, rest], dim=-1)


class Block(nn.Module):
    """x + attention(norm1(x)) + mlp(norm2(x)): both branches read the same input."""

    def __init__(self, shape):
        super().__init__()
        H = shape.hidden
        self.heads = shape.heads
        self.norm1 = nn.LayerNorm(H, eps=1e-5)
        self.norm2 = nn.LayerNorm(H, eps=1e-5)
        self.qkv = nn.Linear(H, 3 * H)
        self.projection = nn.Linear(H, H)
        self.up = nn.Linear(H, 4 * H)
        self.down = nn.Linear(4 * H, H)
        self.rotary = Rotary(int(H // shape.heads * shape.rotary_fraction), shape.seq)

    def attention(self, x_BTH):
        B, T, H = x_BTH.shape
        qkv = self.qkv(x_BTH).view(B, T, self.heads, 3 * H // self.heads).transpose(1, 2)
        q, k, v = qkv.chunk(3, dim=-1)
        out = F.scaled_dot_product_attention(self.rotary(q), self.rotary(k), v, is_causal=True)
        return self.projection(out.transpose(1, 2).reshape(B, T, H))

    def forward(self, x_BTH):
        return x_BTH + self.attention(self.norm1(x_BTH)) + self.down(F.gelu(self.up(self.norm2(x_BTH))))


class Decoder(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.embedding = nn.Embedding(shape.vocab, shape.hidden)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.hidden, eps=1e-5)
        self.head = nn.Linear(shape.hidden, shape.vocab, bias=False)
        small = math.sqrt(2 / (5 * shape.hidden))
        wang = 2 / (shape.layers * math.sqrt(shape.hidden))
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=wang if "projection" in name or "down" in name else small)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens_BT, targets_BT):
        x = self.embedding(tokens_BT)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)).float(), targets_BT.reshape(-1))


def flops_per_token(shape):
    """6 for each parameter but the input embedding, and 12 * T * H a layer for attention (not halved for the mask)."""
    H = shape.hidden
    matrices = shape.layers * 12 * H * H + shape.vocab * H
    return 6 * matrices + 12 * shape.layers * shape.seq * H


def parallel(model, how):
    """The model as every process of the group holds it: whole with averaged gradients, or sharded by block."""
    if how == "ddp":
        return nn.parallel.DistributedDataParallel(model)
    if how == "fsdp":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
    return model


def train(arguments):
    """Runs the steps; gives their milliseconds, the first and the last loss, and the number of parameters."""
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1234)
    shape = SHAPES[arguments.shape]
    model = Decoder(shape)
    count = sum(p.numel() for p in model.parameters())
    model = parallel(model, arguments.parallel)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    forward = torch.compile(model) if arguments.mode == "compile" else model
    rows = shape.batch // arguments.processes

    def step():
        tokens = torch.randint(shape.vocab, (rows, shape.seq + 1))
        if arguments.processes > 1:
            dist.barrier()
        start = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=arguments.dtype == "bf16"):
            loss = forward(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        value = loss.item()
        return (time.perf_counter() - start) * 1e3, value

    first_ms, first_loss = step()
    for _ in range(arguments.warmup - 1):
        step()
    timed = [step() for _ in range(arguments.steps)]
    return [first_ms] + [ms for ms, _ in timed], [first_loss, timed[-1][1]], count


def report(arguments, milliseconds, losses, count):
    first_ms, *milliseconds = milliseconds
    shape = SHAPES[arguments.shape]
    median = sorted(milliseconds)[len(milliseconds) // 2]
    tokens = shape.batch * shape.seq
    print(json.dumps({
        "side": "pytorch " + torch.__version__.split("+")[0],
        "mode": arguments.mode,
        "parallel": arguments.parallel,
        "processes": arguments.processes,
        "shape": arguments.shape,
        "dtype": arguments.dtype,
        "threads": arguments.threads,
        "parameters": count,
        "first_step_ms": round(first_ms, 1),
        "step_ms": [round(ms, 1) for ms in milliseconds],
        "tokens_per_second": round(tokens / median * 1e3, 1),
        "gflops": round(tokens * flops_per_token(shape) / median / 1e6, 1),
        "loss": [round(losses[0], 4), round(losses[1], 4)],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }))


def one_of_many(rank, arguments, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=arguments.processes)
    result = train(arguments)
    if rank == 0:
        report(arguments, *result)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="25m")
    parser.add_argument("--mode", choices=["eager", "compile"], default="eager")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--parallel", choices=["none", "ddp", "fsdp"], default="none")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="a process; 0: the cores, shared out")
    arguments = parser.parse_args()
    arguments.threads = arguments.threads or max(1, len(os.sched_getaffinity(0)) // arguments.processes)

    if arguments.parallel == "none":
        arguments.processes = 1
        report(arguments, *train(arguments))
        return
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(one_of_many, (arguments, f"{folder}/store"), nprocs=arguments.processes)


if __name__ == "__main__":
    main()
