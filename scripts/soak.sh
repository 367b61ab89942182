#!/usr/bin/env bash
# Long-running tests, which take too long for every run.
# Without arguments it runs every part; with arguments only the named parts.
# SESSIONS=n, CASES=n, SOCKETS=n, KILLS=n, AGENTS=n, RACES=n, TAKE_OVERS=n, STUCK=n, MIB=n, CLIENTS=n, SUBSCRIBERS=n, ROUNDS=n, SECONDS_OF_FAULTS=n and TIMES=n set sizes, SEED=n the random seed; a failure prints its seed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
all_parts=(sessions resume kill damage hosts outlive outlive-cli outlive-hosts upgrade terminal take-over oldest agents fleet readme stuck load answers cases recipes properties)
[ -z "${SEED:-}" ] || export TIDINGS_SOAK_SEED=$SEED

# A thousand sessions that end at inconvenient moments; fails if a process, a task or an open file is left over.
soak_sessions() {
    export TIDINGS_SOAK_SESSIONS=${SESSIONS:-1000}
    # The stand-in for `claude` that the sessions start is an example.
    cargo build -p tidings --all-features --example stand_in
    cargo test -p tidings --all-features --test soak -- --nocapture
}

# Readers that connect and disconnect, compared with a reference list of events; a sixteenth of the cases on files.
# Then subscribers of every dialect that reconnect at random cursors, compared with one that stayed; some over sockets.
soak_resume() {
    export TIDINGS_SOAK_CASES=${CASES:-100000}
    cargo test -p tidings-bridge --all-features --test integration resume::
    cargo test -p tidings-bridge --all-features --lib k4_
    TIDINGS_SOAK_SOCKETS=${SOCKETS:-300} cargo test -p tidings-bridge --all-features --test integration api::dialects::k4_
}

# A journal writer that is killed repeatedly.
soak_kill() {
    cargo build -p tidings-journal --example journal_writer
    TIDINGS_SOAK_KILLS=${KILLS:-1000} cargo test -p tidings-bridge --all-features --test integration kill::
}

# Every file of a data folder, damaged at each 64th of its length: the journal alone, and a server on it.
soak_damage() {
    TIDINGS_DAMAGE=all cargo test -p tidings-bridge --all-features --test integration sqlite::heads::
    cargo build -p tidings-cli -p tidings-e2e-driver
    e2e/install.sh
    DAMAGE=${DAMAGE:-all} python3 e2e/run.py --only damage --column 'cli×api'
}

# Bridges that are killed repeatedly while the CLI of their agent host writes.
soak_hosts() {
    cargo build -p tidings --all-features --examples
    TIDINGS_SOAK_KILLS=${KILLS:-1000} cargo test -p tidings --all-features --test integration host::kills
}

# Servers that are killed repeatedly while their agent works, sends requests and gets answers.
soak_outlive() {
    cargo build -p tidings-bridge --all-features --example child_server
    TIDINGS_SOAK_KILLS=${KILLS:-1000} cargo test -p tidings-bridge --all-features --test integration outlive::
}

# The same with the real CLI, which `e2e/install.sh` downloads once.
soak_outlive-cli() {
    e2e/install.sh
    cargo build -p tidings-cli -p tidings-e2e-driver
    KILLS=${KILLS:-1000} python3 e2e/run.py --only outlive --column 'cli×api'
}

# Servers, agent hosts and both, killed at random moments, for each kind of host.
soak_outlive-hosts() {
    e2e/install.sh
    cargo build -p tidings-cli -p tidings-e2e-driver
    KILLS=${KILLS:-300} python3 e2e/run.py --only outlive-hosts --column 'cli×api'
}

# A server is replaced while fifty agents work.
soak_upgrade() {
    e2e/install.sh
    cargo build -p tidings-cli -p tidings-e2e-driver
    AGENTS=${AGENTS:-50} python3 e2e/run.py --only upgrade --column 'cli×api'
}

# Keys in a terminal that race with answers from the server, and rarer situations. Then with an earlier CLI.
soak_terminal() {
    e2e/install.sh other
    cargo build -p tidings-cli -p tidings-e2e-driver
    RACES=${RACES:-200} LONG=1 python3 e2e/run.py --only 'terminal*' --column 'cli×api'
    for row in terminal terminal-steering; do
        OTHER_CLAUDE=e2e/.cache/other/claude RACES=${RACES:-200} LONG=1 python3 e2e/run.py --only "$row" --column 'cli×api'
    done
}

# Sessions that go from a terminal to the server and back.
soak_take-over() {
    e2e/install.sh
    cargo build -p tidings-cli -p tidings-e2e-driver
    TAKE_OVERS=${TAKE_OVERS:-10} python3 e2e/run.py --only take-over --column 'cli×api'
}

# The oldest supported CLI: what it is told, `tidings run`, the server, and sessions that go there and back.
soak_oldest() {
    e2e/install.sh other
    cargo build -p tidings-cli -p tidings-e2e-driver
    OTHER_CLAUDE=e2e/.cache/other/claude python3 e2e/run.py --column 'cli×api' --column rs-sdk \
        --only system-prompt --only agents-delegate --only run-command --only server --only take-over
}

# Other agents on a server that is killed while a request is pending: all of them, each restarted once.
soak_agents() {
    e2e/install.sh
    cargo build -p tidings-cli -p tidings-e2e-driver
    LONG=1 python3 e2e/run.py --only agents --column 'cli×api'
}

# A fleet of three servers and two hubs over three NATS servers, while its parts fail for ten minutes; `ACCOUNTS=1` gives
# each of them a NATS account of its own.
soak_fleet() {
    e2e/install.sh nats
    cargo build -p tidings-cli
    SECONDS_OF_FAULTS=${SECONDS_OF_FAULTS:-600} python3 e2e/fleet.py
}

# The programs of the README in a crate of their own, with the features that a user gets.
soak_readme() {
    e2e/install.sh
    cargo build -p tidings-cli -p tidings-e2e-driver
    LONG=1 python3 e2e/run.py --only readme --column rs-sdk
}

# Clients that never read while a gibibyte is published.
soak_stuck() {
    cargo build -p tidings-bridge --all-features --example child_server
    TIDINGS_SOAK_STUCK=${STUCK:-1000} TIDINGS_SOAK_MIB=${MIB:-1024} \
        cargo test -p tidings-bridge --all-features --test stuck -- --nocapture
}

# A thousand clients at once; then 200 sessions and 1,000 subscribers that leave, and the memory after them.
soak_load() {
    cargo build -p tidings-cli
    CLIENTS=${CLIENTS:-1000} SESSIONS=${SESSIONS:-200} SUBSCRIBERS=${SUBSCRIBERS:-1000} python3 e2e/load.py
}

# A hundred clients that answer the same request at once.
soak_answers() {
    TIDINGS_SOAK_ROUNDS=${ROUNDS:-1000} \
        cargo test -p tidings-bridge --all-features --test integration -- --nocapture promise_5_of_many_answers_at_once
}

# Every row and case with the real CLI, the official SDKs and the browser, also those that CI leaves out.
soak_cases() {
    QUICK='' scripts/test.sh e2e browser
}

# Each recipe of CONTRIBUTING.md, followed on a copy of the sources.
soak_recipes() {
    scripts/page.sh
    scripts/recipes.py
}

# Property tests with new random cases each time; a failure prints its case.
soak_properties() {
    local time
    for ((time = 1; time <= ${TIMES:-20}; time++)); do
        cargo nextest run --workspace --all-features --exclude tidings-cli --exclude tidings-bridge --status-level fail
    done
}

parts=("$@")
[ $# -gt 0 ] || parts=("${all_parts[@]}")
for part in "${parts[@]}"; do
    declare -F "soak_$part" >/dev/null || {
        echo "error: unknown part: $part" >&2
        echo "hint: the parts are: ${all_parts[*]}" >&2
        exit 2
    }
    "soak_$part"
done
