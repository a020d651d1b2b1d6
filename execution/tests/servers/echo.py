"""Answers each coin with its value: as fast as Python can."""
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if "input" in message:
        answer = {"output": "Return", "values": {"pRemainingValue": message["values"]["pCoinValue"]}}
    else:
        answer = {"ready": True}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
