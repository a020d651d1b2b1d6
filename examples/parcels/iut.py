"""Shop, warehouse and carrier in one program, over standard input and output (docs/reference/iut-file.md). With `--free-pieces` the warehouse
forgets to take what it has promised from its stock."""
import json
import sys

FREE = "--free-pieces" in sys.argv


def say(message):
    print(json.dumps(message), flush=True)


def output(name, **values):
    say({"output": name, "values": values})


CAPACITY = 12
stock, sent, carried = CAPACITY, 0, 0
for line in sys.stdin:
    message = json.loads(line)
    if "start" in message:
        stock, sent, carried = CAPACITY, 0, 0
        say({"ready": True})
        continue
    name, values = message["input"], message["values"]
    if name == "Order":
        pieces = int(values["n"])
        if pieces > stock:
            output("Refuse")
        else:
            stock -= 0 if FREE else pieces
            sent, carried = sent + 1, carried + pieces
            output("Confirm", parcel=sent)
    elif name == "Refill":
        stock += int(values["pieces"])
    elif name == "Ask":
        output("Report", parcels=sent, in_all=carried)
