"""Parses the texts that no test builds: the formula, the flake, the release workflow, the compose file; lints the Dockerfile.

Run by `scripts/packages.sh`, with the packages of `requirements-texts.txt`.
"""

import json
import subprocess
import sys
from pathlib import Path

import tree_sitter_nix
import tree_sitter_ruby
import tree_sitter_yaml
from pack.program import workspace_version
from tree_sitter import Language, Parser

HERE = Path(__file__).resolve().parent
TEXTS = {
    "tidings.rb": tree_sitter_ruby.language,
    "flake.nix": tree_sitter_nix.language,
    "workflows/release.yml": tree_sitter_yaml.language,
    "nats.compose.yml": tree_sitter_yaml.language,
}
# DL3008: versions of Debian's packages change under a pin. DL3016: npm is pinned by an argument.
# DL3066: `node` is the user of the base image.
ACCEPTED = ["DL3008", "DL3016", "DL3066"]


def problems() -> list[str]:
    found = []
    for name, language in TEXTS.items():
        tree = Parser(Language(language())).parse((HERE / name).read_bytes())
        found += [f"packaging/{name}:{line}: does not parse" for line in errors(tree.root_node)]
    for name in ["tidings.rb", "flake.nix"]:
        if f'version = "{workspace_version()}"' not in (text := (HERE / name).read_text()):
            if f'version "{workspace_version()}"' not in text:
                found.append(f"packaging/{name}: another version than Cargo.toml")
    client = "web/client/package.json"
    if json.loads((HERE.parent / client).read_text())["version"] != workspace_version():
        found.append(f"{client}: another version than Cargo.toml")
    ignored = [flag for rule in ACCEPTED for flag in ("--ignore", rule)]
    lint = [Path(sys.executable).with_name("hadolint"), "--no-color", *ignored, HERE / "Dockerfile"]
    done = subprocess.run(lint, capture_output=True, text=True, check=False)
    return found + (done.stdout + done.stderr).splitlines()


def errors(node) -> list[int]:
    if node.is_error or node.is_missing:
        return [node.start_point[0] + 1]
    return [line for child in node.children if child.has_error for line in errors(child)]


if __name__ == "__main__":
    found = problems()
    print("\n".join(found or ["the formula, the flake, the workflow and the compose file parse; the Dockerfile is clean"]))
    sys.exit(1 if found else 0)
