"""The coffee machine as a program that coreach tests over standard input and output (docs/reference/iut-file.md)."""
import json
import sys


def say(message):
    print(json.dumps(message), flush=True)


def output(name, **values):
    say({"output": name, "values": values})


price, paid, state = 0, 0, "Idle"
for line in sys.stdin:
    message = json.loads(line)
    if "start" in message:
        # Numbers beyond 2^53 come as text.
        price, paid, state = int(message["start"]["constants"]["cPrice"]), 0, "Idle"
        say({"ready": True})
        continue
    name, values = message["input"], message["values"]
    if name == "Coin" and state == "Idle" and int(values["pCoinValue"]) > 0:
        paid += int(values["pCoinValue"])
        if paid < price:
            output("Return", pRemainingValue=price - paid)
        else:
            output("Return", pRemainingValue=paid - price)
            paid, state = price, "Choose"
    elif name == "ChooseBeverage" and state == "Choose":
        output("Deliver", pBeverage=values["pBeverage"])
        paid, state = 0, "Idle"
    elif name == "Cancel":
        output("Return", pRemainingValue=paid)
        paid, state = 0, "Idle"
