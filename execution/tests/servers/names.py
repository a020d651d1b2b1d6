"""Answers questions for names in frames of bytes: `python3 names.py KIND [PORT]`, where KIND is udp, tcp or stdio.

A question is `id:u16 kind:4 bits zero:4 bits length:u8 name`, an answer `id:u16 0x80 length:u8 name address:4 bytes`, on a stream
each behind a u16 of its length. `mail` gets an answer with a byte too many, `echo` none at all.
"""
import os
import socket
import struct
import sys

KIND = sys.argv[1]


def answer(question):
    number, kind, length = struct.unpack(">HBB", question[:4])
    name = question[4:4 + length]
    assert kind & 15 == 0 and len(question) == 4 + length, question
    if name == b"echo":
        return None
    reply = struct.pack(">HBB", number, 0x80, length) + name + bytes([10, 0, 0, kind >> 4])
    return reply + b"!" if name == b"mail" else reply


def serve(read, write):
    pending = b""
    while True:
        while len(pending) < 2 or len(pending) < 2 + int.from_bytes(pending[:2], "big"):
            chunk = read(4096)
            if not chunk:
                return
            pending += chunk
        length = int.from_bytes(pending[:2], "big")
        reply = answer(pending[2:2 + length])
        pending = pending[2 + length:]
        if reply is not None:
            frame = struct.pack(">H", len(reply)) + reply
            for at in range(len(frame)):
                write(frame[at:at + 1])


if KIND == "udp":
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", int(sys.argv[2])))
    while True:
        question, peer = server.recvfrom(65535)
        reply = answer(question)
        if reply is not None:
            server.sendto(reply, peer)
elif KIND == "tcp":
    server = socket.create_server(("127.0.0.1", int(sys.argv[2])))
    while True:
        connection, _ = server.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            serve(connection.recv, connection.sendall)
else:
    serve(lambda most: os.read(0, most), lambda data: os.write(1, data))
