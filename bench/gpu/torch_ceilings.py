"""What the GPU can do, measured through PyTorch: a JSON line with the rates that floors are of."""

import json

import torch

from torch_steps import median_ms

GIB = 1 << 30


def copy_gbs(to, source):
    """Bytes that are copied, per second; within the GPU they are read and written, which is twice."""
    bytes = source.numel() * (1 + (source.device == to.device))
    return bytes / median_ms(lambda: to.copy_(source, non_blocking=True)) / 1e6


def product_tflops(dtype, n=8192):
    a, b = (torch.randn(n, n, device="cuda").to(dtype) for _ in range(2))
    return 2 * n**3 / median_ms(lambda: a @ b) / 1e9


def main():
    here, there = (torch.ones(4 * GIB, dtype=torch.uint8, device="cuda") for _ in range(2))
    host = torch.ones(GIB // 4, dtype=torch.uint8).pin_memory()
    print(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                      "copy_gbs": round(copy_gbs(there, here)),
                      "host_gbs": round(copy_gbs(there[:host.numel()], host), 1),
                      "tf32_tflops": round(product_tflops(torch.float32)),
                      "bf16_tflops": round(product_tflops(torch.bfloat16))}))


main()
