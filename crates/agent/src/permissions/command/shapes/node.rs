//! JavaScript: scripts of the project, test runners and bundlers.
// tidy: flat table

use super::values::Value::{Name, NpmPackage, Number, OneOf, Output, OutputFolder, Path, Source, Text, Word};
use super::{CommandKind, Operands, SHAPE, Shape, Style};

const RUNNER_FLAGS: &str = "--coverage --no-coverage --run --ci --silent --verbose --bail -i --runInBand -u --updateSnapshot \
    --update --passWithNoTests --watch=false --watchAll=false --no-watch --single-run --fix --quiet -q --recursive --exit";

/// Missing on purpose: `--config`, `--require`, `--preload` and the like load code by path.
const RUNNER_VALUES: &[(&str, super::values::Value)] = &[
    ("-t --testNamePattern --grep -g --fgrep -f --testPathPattern --testPathPatterns --filter", Text),
    ("--maxWorkers --timeout --retry --testTimeout --bail= --shard", Number),
    ("--reporter --project", Word),
];

/// The arguments of a test runner.
const RUNNER: Shape =
    Shape { flags: RUNNER_FLAGS, values: RUNNER_VALUES, operands: Operands::Each(Path), ..SHAPE };

const SCRIPT: Shape = Shape {
    kind: CommandKind::Test,
    flags: "--silent -s --if-present --workspaces --coverage --run --watch=false",
    values: &[("-w --workspace", Name)],
    operands: Operands::Each(Path),
    rest: Some(&RUNNER),
    ..SHAPE
};

const INSTALL: Shape = Shape {
    kind: CommandKind::Install,
    flags: "-D --save-dev -E --save-exact -S --save -P --save-prod --no-save --no-audit --no-fund --ignore-scripts \
            --prefer-offline --offline --frozen-lockfile --immutable --legacy-peer-deps --silent -s --quiet --verbose \
            -O --save-optional --production --dry-run --dev",
    values: &[("-w --workspace", Name), ("--omit --include", OneOf("dev optional peer"))],
    ..SHAPE
};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "npm|pnpm|yarn|bun test|t",
        why: "It runs the tests of the project; `--prefix` and `--script-shell` would run something else",
        ..SCRIPT
    },
    Shape { call: "npm|pnpm|yarn|bun run test*", why: "The same under another name", ..SCRIPT },
    Shape {
        call: "npm|pnpm|yarn|bun run build*|lint*",
        kind: CommandKind::Build,
        why: "It runs scripts of the project that build it",
        ..SCRIPT
    },
    Shape {
        call: "npm|pnpm|yarn|bun install|i|add",
        operands: Operands::Each(NpmPackage),
        why: "It installs packages of the registry; addresses, folders and files are none, and `-g` installs elsewhere",
        ..INSTALL
    },
    Shape { call: "npm ci", why: "It installs what the lock file names", ..INSTALL },
    Shape { call: "yarn", why: "The same for yarn", ..INSTALL },
    Shape {
        call: "jest|mocha",
        kind: CommandKind::Test,
        flags: RUNNER_FLAGS,
        values: RUNNER_VALUES,
        operands: Operands::Each(Path),
        why: "It runs tests of the project",
        ..SHAPE
    },
    Shape {
        call: "vitest",
        kind: CommandKind::Test,
        flags: RUNNER_FLAGS,
        values: RUNNER_VALUES,
        operands: Operands::Each(Path),
        why: "It runs tests of the project; `run` is an operand",
        ..SHAPE
    },
    Shape {
        call: "tsc",
        kind: CommandKind::Build,
        style: Style::Words,
        flags: "--noEmit -b --build --pretty --strict --listFiles --skipLibCheck --incremental --declaration \
                --emitDeclarationOnly --esModuleInterop --allowJs --checkJs --sourceMap",
        values: &[
            ("-p --project", Path),
            ("--outDir --declarationDir", OutputFolder),
            ("-t --target -m --module --jsx --lib --moduleResolution", Name),
        ],
        operands: Operands::Each(Source("ts tsx mts cts js jsx json")),
        why: "It checks and compiles, and runs none of the code",
        ..SHAPE
    },
    Shape {
        call: "esbuild",
        kind: CommandKind::Build,
        style: Style::Words,
        flags: "--bundle --minify --sourcemap --splitting --keep-names",
        values: &[
            ("--outfile=", Output),
            ("--outdir=", OutputFolder),
            ("--format= --platform= --target= --jsx= --log-level= --sourcemap=", Name),
        ],
        operands: Operands::Each(Source("ts tsx mts cts js jsx mjs cjs css json")),
        why: "It bundles; its output has an extension of its own",
        ..SHAPE
    },
    Shape {
        call: "webpack",
        kind: CommandKind::Build,
        values: &[("--mode", OneOf("production development none"))],
        why: "It builds as the project's settings say; `--config` would name others",
        ..SHAPE
    },
    Shape {
        call: "vite build",
        kind: CommandKind::Build,
        values: &[("--mode -m", Word), ("--outDir", OutputFolder)],
        why: "It builds as the project's settings say; `--config` would name others",
        ..SHAPE
    },
];
