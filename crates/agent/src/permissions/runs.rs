//! Files that programs run because of their names: build files, pipelines, hooks, and executable settings.

use std::sync::LazyLock;

use super::{PathPatterns, paths, public};

/// Names of such files. Hidden files are among them, whatever their names: see [`runs_later`].
pub(crate) const RUNS: &[&str] = &[
    // Build files.
    "Makefile*",
    "makefile*",
    "GNUmakefile*",
    "BSDmakefile*",
    "*.mk",
    "*.mak",
    "justfile*",
    "Justfile*",
    "*.just",
    "Taskfile*",
    "taskfile*",
    "Rakefile*",
    "rakefile*",
    "*.rake",
    "Gruntfile*",
    "Gulpfile*",
    "gulpfile*",
    "CMakeLists.txt",
    "CMakePresets.json",
    "CMakeUserPresets.json",
    "*.cmake",
    "*.ninja",
    "meson.build",
    "meson_options.txt",
    "SConstruct*",
    "SConscript*",
    "wscript",
    "BUILD",
    "BUILD.bazel",
    "WORKSPACE*",
    "*.bzl",
    "build.rs",
    "build.zig",
    "build.gradle*",
    "settings.gradle*",
    "gradle.properties",
    "gradlew*",
    "mvnw*",
    "pom.xml",
    "build.xml",
    "build.sbt",
    "Cargo.toml",
    "Cargo.lock",
    "package.json",
    "package-lock.json",
    "pnpm-*.yaml",
    "yarn.lock",
    "deno.json*",
    "go.mod",
    "go.work",
    "*.csproj",
    "*.fsproj",
    "*.vbproj",
    "*.sln",
    "Directory.Build.*",
    "*.targets",
    "*.props",
    "Gemfile*",
    "*.gemspec",
    "*.podspec",
    "Podfile*",
    "composer.json",
    "mix.exs",
    "*.nix",
    "dune",
    "dune-project",
    // Lock files name the code that is fetched.
    "*.lock",
    "*.lockb",
    "go.sum",
    "npm-shrinkwrap.json",
    "bunfig.toml",
    "pnpmfile.*",
    "*.gradle",
    "*.gradle.kts",
    "*.vcxproj",
    "*.pbxproj",
    "nuget.config",
    "MODULE.bazel",
    "BUCK",
    "pants.toml",
    "xmake.lua",
    "premake*.lua",
    "configure",
    "configure.ac",
    "autogen.sh",
    "Earthfile",
    "mise.toml",
    // Python runs these before any test.
    "conftest.py",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "tox.ini",
    "pytest.ini",
    "noxfile.py",
    "tasks.py",
    "fabfile.py",
    "dodo.py",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    "requirements*",
    "*requirements.txt",
    "constraints*",
    "Pipfile*",
    "uv.toml",
    // Settings of JavaScript tools are programs.
    "*.config.*",
    "*.conf.js",
    "*.conf.ts",
    "tsconfig*",
    "lerna.json",
    "nx.json",
    "turbo.json",
    "*.setup.*",
    "setupTests*",
    "globalSetup*",
    // Pipelines, containers, services.
    "Jenkinsfile*",
    "*azure-pipelines*",
    "*bitbucket-pipelines*",
    "*appveyor*",
    "*cloudbuild*",
    "*buildspec*",
    "*gitlab-ci*",
    "*travis*",
    "*circle.y*",
    "*codefresh*",
    "*drone.y*",
    "*wercker*",
    "Procfile*",
    "Vagrantfile*",
    "Dockerfile*",
    "*.Dockerfile",
    "Containerfile*",
    "docker-compose*",
    "docker-bake*",
    "compose.y*",
    "Tiltfile*",
    "skaffold*",
    "*.service",
    "*.timer",
    "*.desktop",
    "*.plist",
    "crontab*",
    "*.cron",
    "action.y*",
    "lefthook*",
    "*pre-commit-config*",
    "dangerfile*",
    "Dangerfile*",
    "Brewfile*",
    // Instructions and settings of agents.
    "CLAUDE*.md",
    "AGENTS*.md",
    "GEMINI*.md",
    "SKILL.md",
    "mcp.json",
    "opencode.json*",
    "*.code-workspace",
    "*.sublime-project",
    "*.iml",
    // Start files of shells, as some tools keep them.
    "bashrc",
    "zshrc",
    "zshenv",
    "bash_profile",
    "*/profile.d/*",
    // Git hooks have these names in any folder.
    "applypatch-msg*",
    "pre-applypatch*",
    "post-applypatch*",
    "pre-commit*",
    "pre-merge-commit*",
    "prepare-commit-msg*",
    "commit-msg*",
    "post-commit*",
    "pre-rebase*",
    "post-checkout*",
    "post-merge*",
    "pre-push*",
    "pre-receive*",
    "post-receive*",
    "post-update*",
    "reference-transaction*",
    "push-to-checkout*",
    "pre-auto-gc*",
    "post-rewrite*",
    "fsmonitor-watchman*",
    "post-index-change*",
    // Files and folders that contain such files.
    "*/workflows/*",
    "workflows/*",
    "*/git-hooks/*",
    "git-hooks/*",
    "*/githooks/*",
    "githooks/*",
    "*.git/hooks/*",
    "*/gradle/wrapper/*",
    "gradle/wrapper/*",
    "*/systemd/*",
    "*/autostart/*",
    "*/cron.d/*",
];

/// Hidden files that no program runs.
const PLAIN_DOTFILES: &[&str] = &[".gitignore", ".gitkeep", ".keep"];

/// True if a program runs a file of this name without an explicit command. Some disks ignore case.
pub(crate) fn runs_by_its_name(path: &str) -> bool {
    static PATTERNS: LazyLock<[PathPatterns<'static>; 2]> = LazyLock::new(|| {
        // `BUILD` is a build file, and `build` a folder.
        let (any_case, upper): (Vec<&str>, Vec<&str>) =
            RUNS.iter().partition(|pattern| pattern.bytes().any(|b| b.is_ascii_lowercase()));
        let lower = any_case.into_iter().map(|pattern| &*pattern.to_ascii_lowercase().leak());
        [PathPatterns::new(lower), PathPatterns::new(upper)]
    });
    let [lower, upper] = &*PATTERNS;
    lower.match_path(&path.to_ascii_lowercase()) || upper.match_path(path)
}

/// True if writing a file lets something run later: a build file, a hook, a pipeline, settings of an agent or
/// an editor, a start file of a shell. Hidden files count as such, except for a few; folders above the
/// session's do not matter.
pub(crate) fn runs_later(path: &str, folder: Option<&str>) -> bool {
    let inside = folder
        .filter(|folder| paths::lies_in(path, folder))
        .and_then(|folder| path.strip_prefix(folder))
        .unwrap_or(path);
    let inside = inside.trim_matches('/');
    let (above, name) = inside.rsplit_once('/').unwrap_or(("", inside));
    let is_plain = PLAIN_DOTFILES.contains(&name);
    public::hides(above) || (public::hides(name) && !is_plain) || runs_by_its_name(inside)
}

/// True if a name is a usual one for lists of Python packages.
pub(super) fn is_requirements(name: &str) -> bool {
    PathPatterns::new(["requirements*", "*requirements.txt", "constraints*"]).match_path(name)
}
