"""Carries lines to a system and back, and ends when the system has ended the connection: `python3 bridge.py PORT`."""
import socket
import sys
import threading

system = socket.create_connection(("127.0.0.1", int(sys.argv[1])))


def back():
    with system.makefile("r") as lines:
        for line in lines:
            sys.stdout.write(line)
            sys.stdout.flush()


thread = threading.Thread(target=back)
thread.start()
for line in sys.stdin:
    system.sendall(line.encode())
system.shutdown(socket.SHUT_WR)
thread.join()
