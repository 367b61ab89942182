"""A NATS account for each member of a fleet, from the configuration in packaging/nats.accounts.conf."""

from __future__ import annotations

import re
from pathlib import Path

CONFIGURATION = Path(__file__).parents[2] / "packaging" / "nats.accounts.conf"
# The prefix of the JetStream API in that file.
PREFIX = "fleet"
# A user of the account with the storage.
OPERATOR = ("operator", "op3rator")
# The seed of the nkey of each member, and its public key.
KEYS = {
    "one": ("SUAK5OODN2GQ5ZDIPFVZ26VGHDBHZKHRGCSLAPR2FEDN4YZNS5RYNWLQ3U", "UB54P4DKK5PQFH4KILMHSMXBJSPCAML2JETTMRALXWXPUXKE5TQIIV5S"),
    "two": ("SUAF5YXDN2CZ6WEVRLTJWJ7TKFTFF2OBWSIQOWYHTETUUXRPZ4MR4P657E", "UAZYD3GAITUSWNCLNA7RAIXSHOD6AKCRCYR75F5YCIMTIF5DYWJZYEPP"),
    "three": ("SUAM2CK7GI5AI2LTI2I2IFIEQTL4NMQ2IWWPTUF52WEHMYZMRBVGIL5CC4", "UDBRQ5RDTD7JYA5PYE7TLQJ3MLD3SDS75S3DSPBW7FK4X5FIQUU72MFN"),
    "hub-a": ("SUADKSBT4RZ27IFLZEYH5NVOVKIQQHUB7XZBXDJW5CLKDFRC6JTEB6XXMY", "UCF77QD6MXCTPHOSURFWAMIYSPPDJPRPL5E2UXCTJDSIZIYVYKQGCIVN"),
    "hub-b": ("SUAFSMQL3OE52EHPIZZCIKQ6RKGFT6QRW2TVWQNTKMES67HAARY6NFHKQQ", "UBLCCQQSVMRNEGI2IZ6ZCP7543G3PMUAPTIMUFHL4L4FAPAWNWTLUYXL"),
}


def accounts(first: str, nodes: list[str], hubs: list[str]) -> str:
    """The accounts of that file for other members."""
    text = CONFIGURATION.read_text()
    text = text[text.index("accounts {") :]
    head, rest = text.split("  two: {\n")
    node, hub = rest.split("  hub: {\n")
    hub, end = hub[: hub.rindex("}")], "}\n"
    others = nodes + hubs
    head = _each(head, "hub", [])
    head = _named(_each(head, "two", others), {"one": first, "$ONE": first})
    blocks = [_block("two", name, node, first, others) for name in nodes]
    blocks += [_block("hub", name, hub, first, others) for name in hubs]
    # The operator of the NATS server, who deletes and purges its streams.
    user, password = OPERATOR
    head = head.replace("users: [{", f"users: [{{ user: {user}, password: {password} }}, {{", 1)
    return re.sub(r"nkey: ([\w-]+)", lambda found: f"nkey: {KEYS[found[1]][1]}", head + "".join(blocks) + end)


def _block(like: str, name: str, block: str, first: str, others: list[str]) -> str:
    """The account of one member, which sends requests to all others."""
    lines = [line for line in block.splitlines(keepends=True) if not line.lstrip().startswith("#")]
    own = _named("".join(lines), {like: name, f"${like.upper()}": name, "one": first})
    request = '      {{ service: {{ account: {0}, subject: "tidings.home.request.{0}" }} }}\n'
    known = [line for line in own.splitlines(keepends=True) if line not in {request.format("two"), request.format("hub")}]
    known = [line for line in known if f"account: {name}," not in line]
    at = next(at for at, line in enumerate(known) if f"tidings.home.request.{first}" in line)
    known[at + 1 : at + 1] = [request.format(other) for other in others if other != name]
    return f"  {name}: {{\n" + "".join(known)


def _each(block: str, name: str, names: list[str]) -> str:
    """Repeats each line about one member for others."""
    lines = []
    for line in block.splitlines(keepends=True):
        is_about = not line.lstrip().startswith("#") and _named(line, {name: ""}) != line
        lines += [_named(line, {name: other}) for other in names] if is_about else [line]
    return "".join(lines)


def _named(text: str, names: dict[str, str]) -> str:
    for name, other in names.items():
        text = re.sub(rf"(?<![a-zA-Z$]){re.escape(name)}(?![a-zA-Z])", other, text)
    return text
