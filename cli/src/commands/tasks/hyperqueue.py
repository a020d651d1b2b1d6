#!/usr/bin/env python3
# The same as `submit`, with HyperQueue's Python package (`pip install hyperqueue`), which has no program `hq`:
#   python3 submit.py          with the server of HQ_SERVER_DIR; without that, with a server and WORKERS (2) workers in this process
import contextlib, os, pathlib, subprocess, sys
import hyperqueue
from hyperqueue.cluster import LocalCluster, WorkerConfig

here = pathlib.Path(__file__).resolve().parent
out = os.dup(1)
os.dup2(2, 1)  # a server says where it is; the summary is to be alone on standard output
with contextlib.ExitStack() as stack:
    server = os.environ.get("HQ_SERVER_DIR")
    if not server:
        cluster = stack.enter_context(LocalCluster())
        server = cluster.cluster.server_dir
        for _ in range(int(os.environ.get("WORKERS", 2))):
            cluster.start_worker(WorkerConfig(cores=@THREADS@))
    client = hyperqueue.Client(server)
    job = hyperqueue.Job(max_fails=None, name="@NAME@")
    for shard in range(1, @SHARDS@ + 1):
        program = ["sh", "-c", 'exec sh "$TASKS/shard" "$0"', str(shard)]
        need = hyperqueue.ffi.protocol.ResourceRequest(cpus=@THREADS@)
        job.program(program, cwd="/", env={"TASKS": str(here)}, stdout=None, stderr=None, resources=need, crash_limit=@CRASHES@)
    client.wait_for_jobs([client.submit(job)], raise_on_error=False)
sys.exit(subprocess.run(["sh", here / "merge", *sys.argv[1:]], stdout=out).returncode)
