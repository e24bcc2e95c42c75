"""More networks for the hosts of namespaces.Cluster, and what goes wrong with networks: links that lead nowhere, slow
ones, bridges with one address on all hosts, routers that drop large packets, firewalls. Needs root."""
import subprocess

ROUTERS = {}  # their namespaces, by cluster


def _sh(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def iptables(host, *words):
    _sh("ip", "netns", "exec", host.namespace, "iptables", *words)


def clear_firewall(cluster):
    for host in cluster.nodes:
        iptables(host, "-F")


def only_new(host, other, ports, how="DROP"):
    """`host` lets no connection of `other` in to these ports ("first:last"); those that are open go on."""
    iptables(host, "-A", "INPUT", "-p", "tcp", "--syn", "-s", other.address, "--dport", ports, "-j", how)


def lose_large(host, other, above):
    """`host` gets no packet of `other` that is larger, and nobody is told."""
    iptables(host, "-A", "INPUT", "-s", other.address, "-m", "length", "--length", f"{above + 1}:65535", "-j", "DROP")


def slow(host, interface="eth0", rate="50mbit"):
    """What leaves it is slow; the network stays whole."""
    _sh("tc", "-n", host.namespace, "qdisc", "add", "dev", interface, "root", "tbf", "rate", rate, "burst", "64kb",
        "latency", "100ms")


def no_longer_slow(host, interface="eth0"):
    subprocess.run(["tc", "-n", host.namespace, "qdisc", "del", "dev", interface, "root"], check=False,
                   stderr=subprocess.DEVNULL)


class Network:
    """One more interface for each host, of another name on each: 10.N.0.(host's number)/24."""

    def __init__(self, cluster, number, names):
        self.cluster, self.number = cluster, number
        self.hosts = list(zip(cluster.nodes, names))

    def address(self, host):
        return f"10.{self.number}.0.{self.cluster.nodes.index(host) + 1}"

    def interface(self, host):
        return dict(self.hosts)[host]

    def _plug(self, host, name):
        """The cable's end at the switch."""
        end = f"x{self.number}{host.name}"
        _sh("ip", "link", "add", end, "netns", self.cluster.switch, "type", "veth", "peer", "name", name, "netns",
            host.namespace)
        _sh("ip", "-n", self.cluster.switch, "link", "set", end, "up")
        _sh("ip", "-n", host.namespace, "addr", "add", f"{self.address(host)}/24", "dev", name)
        _sh("ip", "-n", host.namespace, "link", "set", name, "up")
        return end

    def create(self, leads_nowhere=False):
        """`leads_nowhere`: each host's cable ends in the dark."""
        bridge = f"br{self.number}"
        if not leads_nowhere:
            _sh("ip", "-n", self.cluster.switch, "link", "add", bridge, "type", "bridge")
            _sh("ip", "-n", self.cluster.switch, "link", "set", bridge, "up")
        for host, name in self.hosts:
            end = self._plug(host, name)
            if not leads_nowhere:
                _sh("ip", "-n", self.cluster.switch, "link", "set", end, "master", bridge)
        return self

    def remove(self):
        for host, name in self.hosts:
            _sh("ip", "-n", host.namespace, "link", "del", name)
        subprocess.run(["ip", "-n", self.cluster.switch, "link", "del", f"br{self.number}"], check=False,
                       stderr=subprocess.DEVNULL)


class RoutedNetwork(Network):
    """As Network, but each host has a net of its own, 10.N.(host's number).0/24, behind one router. `mtu`: of the
    router's links to all hosts but the first; what is larger it drops without a word."""

    def __init__(self, cluster, number, names, mtu=1500):
        super().__init__(cluster, number, names)
        self.router, self.mtu = f"{cluster.id}-r{number}", mtu

    def address(self, host):
        return f"10.{self.number}.{self.cluster.nodes.index(host) + 1}.2"

    def create(self, leads_nowhere=False):
        assert not leads_nowhere
        _sh("ip", "netns", "add", self.router)
        ROUTERS.setdefault(self.cluster.id, []).append(self.router)
        _sh("ip", "netns", "exec", self.router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        _sh("ip", "netns", "exec", self.router, "iptables", "-A", "OUTPUT", "-p", "icmp", "-j", "DROP")
        for number, (host, name) in enumerate(self.hosts, 1):
            end = f"r{number}"
            _sh("ip", "link", "add", end, "netns", self.router, "type", "veth", "peer", "name", name, "netns",
                host.namespace)
            _sh("ip", "-n", self.router, "addr", "add", f"10.{self.number}.{number}.1/24", "dev", end)
            _sh("ip", "-n", self.router, "link", "set", end, "mtu", self.mtu if number > 1 else 1500, "up")
            _sh("ip", "-n", host.namespace, "addr", "add", f"{self.address(host)}/24", "dev", name)
            _sh("ip", "-n", host.namespace, "link", "set", name, "up")
            _sh("ip", "-n", host.namespace, "route", "add", f"10.{self.number}.0.0/16", "via",
                f"10.{self.number}.{number}.1")
        return self

    def remove(self):
        for host, name in self.hosts:
            _sh("ip", "-n", host.namespace, "link", "del", name)
        _sh("ip", "netns", "del", self.router)
        ROUTERS[self.cluster.id].remove(self.router)


def remove_routers(cluster):
    """Those that a test left."""
    for router in ROUTERS.pop(cluster.id, []):
        subprocess.run(["ip", "netns", "del", router], check=False)


def add_bridge(host, name="docker0", address="172.17.0.1/16"):
    """As docker makes it, with the same address everywhere, and something plugged in."""
    _sh("ip", "-n", host.namespace, "link", "add", name, "type", "bridge")
    _sh("ip", "-n", host.namespace, "addr", "add", address, "dev", name)
    _sh("ip", "-n", host.namespace, "link", "add", "plug0", "type", "veth", "peer", "name", "plug1")
    _sh("ip", "-n", host.namespace, "link", "set", "plug0", "master", name)
    for each in ("plug0", "plug1", name):
        _sh("ip", "-n", host.namespace, "link", "set", each, "up")


def break_default_route(host):
    """It leads to a gateway that is not there."""
    _sh("ip", "-n", host.namespace, "route", "add", "default", "via", host.address.rsplit(".", 1)[0] + ".254")
