#!/usr/bin/env python3
"""A fake worker: the driver's tests start it with each kind of failure."""

import json
import sys
import time

behaviour = sys.argv[1] if len(sys.argv) > 1 else "good"
for line in sys.stdin:
    request = json.loads(line)
    command = request["cmd"]
    if command == "quit":
        break
    if behaviour == command + "-hangs":
        time.sleep(600)
    if behaviour == command + "-crashes":
        sys.exit(3)
    if behaviour == command + "-babbles":
        print("hello", flush=True)
        continue
    if behaviour == command + "-refuses":
        reply = {"error": "not today"}
    elif command == "list":
        reply = {"name": "fake", "version": "1", "workloads": ["matmul_d1", "mlp_train"]}
    elif command == "prepare":
        reply = {"ok": True, "check": [5.0, 2.0 if behaviour == "wrong" else 1.0]}
    elif command == "sample":
        reply = {"times_ms": [4.0, 2.0, 3.0] if behaviour == "slow" else [1.0, 0.5, 1.0], "cores": 1.0}
    elif command == "peak":
        reply = {"gflops": 100.0, "dram_gbs": 10.0, "l3_gbs": 50.0, "l2_gbs": 200.0}
    print(json.dumps(reply), flush=True)
