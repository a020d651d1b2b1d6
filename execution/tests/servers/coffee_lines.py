"""The coffee machine behind a line protocol of its own: `python3 coffee_lines.py PORT`. One connection after the other."""
import socket
import sys

server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
price = 1
while True:
    connection, _ = server.accept()
    with connection, connection.makefile("rw", encoding="utf-8", newline="\r\n") as wire:
        def say(*lines):
            wire.write("".join(line + "\n" for line in lines))
            wire.flush()

        say("220 coffee")
        for line in wire:
            word, *rest = line.split()
            if word == "PRICE":
                price = int(rest[0])
                say("OK")
            elif word == "COIN":
                say("change %d" % (int(rest[0]) - price))
            elif word == "CHOOSE":
                say("take", rest[0])
            else:
                say("?")
