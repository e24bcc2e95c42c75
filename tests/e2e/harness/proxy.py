"""A proxy that knows messages: it stands between agents (or clients) and a launcher, and can lose a
request, lose a reply, or deliver a message and cut the connection at once.

ZMTP 3 frames are visible although CURVE hides what is in them: flags, length, body. Whole frames may
be dropped, since CURVE's nonces must only grow. The handshake (commands, before the first message)
always passes. Run in the launcher's network namespace; orders on standard input, one JSON a line:
  {"drop_request": 0.3, "drop_reply": 0.0, "cut": 2, "name": "10.77.0.2"}
`cut`: so many messages are still delivered, each followed by a cut. `name`: the dialling address, or
absent for all. `{"stats": true}` prints what was done. Ends with its standard input.

usage: proxy.py HOST FROM-PORT TO-PORT COUNT SEED     (COUNT ports each)
"""
import json
import os
import random
import selectors
import socket
import sys

GREETING_BYTES = 64
LONG, COMMAND = 2, 4
MOST_BUFFERED = 8 << 20


class Frames:
    """Cuts a byte stream into ZMTP frames. The greeting passes as it comes, since each side waits for
    parts of the other's."""

    def __init__(self):
        self.buffer = bytearray()
        self.greeting_left = GREETING_BYTES

    def feed(self, data):
        self.buffer += data
        found = []
        while (frame := self._next()) is not None:
            found.append(frame)
        return found

    def _next(self):
        """(is a message, bytes), or None."""
        if self.greeting_left and self.buffer:
            part = self._take(min(self.greeting_left, len(self.buffer)))
            self.greeting_left -= len(part)
            return False, part
        if len(self.buffer) < 2:
            return None
        flags = self.buffer[0]
        head = 9 if flags & LONG else 2
        if len(self.buffer) < head:
            return None
        length = head + int.from_bytes(self.buffer[1:head], "big")
        if len(self.buffer) < length:
            return None
        return not flags & COMMAND, self._take(length)

    def _take(self, length):
        data = bytes(self.buffer[:length])
        del self.buffer[:length]
        return data


class Side:
    def __init__(self, sock, peer_name, is_client):
        self.sock, self.peer_name, self.is_client = sock, peer_name, is_client
        self.frames = Frames()
        self.out = bytearray()
        self.other = None
        self.cut_when_sent = False


class Proxy:
    def __init__(self, host, first, to, count, seed):
        self.random = random.Random(seed)
        self.selector = selectors.DefaultSelector()
        self.rules = {}
        self.stats = {"requests_dropped": 0, "replies_dropped": 0, "cuts": 0, "messages": 0}
        for i in range(count):
            listener = socket.create_server((host, first + i), backlog=100)
            listener.setblocking(False)
            self.selector.register(listener, selectors.EVENT_READ, ("accept", (host, to + i)))
        self.orders = b""
        self.selector.register(sys.stdin, selectors.EVENT_READ, ("order", None))

    def run(self):
        while True:
            for key, events in self.selector.select():
                what, detail = key.data
                if what == "order":
                    if not self.read_orders():
                        return
                elif what == "accept":
                    self.accept(key.fileobj, detail)
                elif key.fileobj.fileno() >= 0:
                    self.turn(detail, events)

    def read_orders(self):
        data = os.read(sys.stdin.fileno(), 65536)
        *lines, self.orders = (self.orders + data).split(b"\n")
        for line in lines:
            self.order(json.loads(line))
        return bool(data)

    def order(self, order):
        if order.get("stats"):
            print(json.dumps(self.stats), flush=True)
        else:
            self.rules[order.get("name")] = order

    def rule(self, side, what):
        rule = self.rules.get(side.peer_name) or self.rules.get(None) or {}
        return rule.get(what, 0), rule

    def accept(self, listener, target):
        client, address = listener.accept()
        server = socket.socket()
        server.settimeout(1)
        try:
            server.connect(target)
        except OSError:
            client.close()
            server.close()
            return
        sides = Side(client, address[0], True), Side(server, address[0], False)
        sides[0].other, sides[1].other = sides[1], sides[0]
        for side in sides:
            side.sock.setblocking(False)
            side.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(side.sock, selectors.EVENT_READ, ("turn", side))

    def turn(self, side, events):
        try:
            if events & selectors.EVENT_WRITE:
                self.flush(side)
            if events & selectors.EVENT_READ:
                data = side.sock.recv(65536)
                if not data:
                    return self.close(side)
                for is_message, frame in side.frames.feed(data):
                    self.pass_on(side, is_message, frame)
                self.flush(side.other)
        except BlockingIOError:
            return
        except OSError:
            self.close(side)

    def pass_on(self, side, is_message, frame):
        to = side.other
        if to.cut_when_sent:
            return
        if is_message:
            self.stats["messages"] += 1
            word = "request" if side.is_client else "reply"
            if self.random.random() < self.rule(side, f"drop_{word}")[0]:
                self.stats["requests_dropped" if side.is_client else "replies_dropped"] += 1
                return
            cuts, rule = self.rule(side, "cut")
            if cuts and side.is_client:
                rule["cut"] -= 1
                to.cut_when_sent = True
        to.out += frame

    def flush(self, side):
        try:
            while side.out:
                sent = side.sock.send(side.out[:1 << 20])
                del side.out[:sent]
        except BlockingIOError:
            pass
        if side.cut_when_sent and not side.out:
            self.stats["cuts"] += 1
            return self.close(side)
        for each in (side, side.other):
            self.set_interest(each)

    def set_interest(self, side):
        """Reads no more from one side than the other takes."""
        read = selectors.EVENT_READ if len(side.other.out) < MOST_BUFFERED else 0
        want = read | (selectors.EVENT_WRITE if side.out else 0)
        key = self.selector.get_map().get(side.sock)
        if side.sock.fileno() < 0 or (key and key.events == want):
            return
        if key:
            self.selector.unregister(side.sock)
        if want:
            self.selector.register(side.sock, want, ("turn", side))

    def close(self, side):
        for each in (side, side.other):
            if each.sock.fileno() < 0:
                continue
            if each.sock in self.selector.get_map():
                self.selector.unregister(each.sock)
            each.sock.close()


if __name__ == "__main__":
    HOST, FIRST, TO, COUNT, SEED = sys.argv[1], *map(int, sys.argv[2:6])
    PROXY = Proxy(HOST, FIRST, TO, COUNT, SEED)
    print("ready", flush=True)
    PROXY.run()
