"""The coffee machine in datagrams: `python3 other_port.py PORT PRICE`.

The first one goes to PORT, another port answers it and takes the next ones. Before each answer, another host
sends what is none.
"""
import socket
import sys


def bound(host, port=0):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((host, port))
    return one


known = bound("127.0.0.1", int(sys.argv[1]))
other, stranger = bound("127.0.0.1"), bound("127.0.0.2")
data, peer = known.recvfrom(65535)
while True:
    word, rest = data.decode().split()
    stranger.sendto(b"?", peer)
    if word == "COIN":
        other.sendto(b"change %d" % (int(rest) - int(sys.argv[2])), peer)
    else:
        other.sendto(b"take", peer)
        other.sendto(rest.encode(), peer)
    data, peer = other.recvfrom(65535)
