"""The counter of tests/data/counter.yaml, over standard input and output: one JSON message per line."""
import json
import sys

count = 0
for line in sys.stdin:
    message = json.loads(line)
    if "start" in message:
        answer = {"ready": True}
    elif message["input"] == "Add":
        count += message["values"]["pBy"]
        answer = {"output": "Done"}
    else:
        answer = {"output": "Value", "values": {"pValue": count}}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
