# Nix flake. It was parsed, never built. The hash of the page's packages is filled in by its first build.
{
  description = "Watch, approve and search every Claude Code session from any device";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      source = ../.;
      version = "0.1.0";
    in
    {
      packages = each (pkgs:
        let
          page = pkgs.buildNpmPackage {
            pname = "tidings-page";
            inherit version;
            src = source + "/web";
            npmDepsHash = pkgs.lib.fakeHash;
            installPhase = "cp -r dist $out";
          };
        in
        {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "tidings";
            inherit version;
            src = source;
            cargoLock.lockFile = source + "/Cargo.lock";
            cargoBuildFlags = [ "-p" "tidings-cli" ];
            # The tests need the real CLI and the network: `make test` runs them.
            doCheck = false;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            preBuild = "cp -r ${page} web/dist";
            postInstall = ''
              $out/bin/tidings man man
              installManPage man/*
              for shell in bash zsh fish; do
                $out/bin/tidings completions $shell >tidings.$shell
                installShellCompletion --cmd tidings --$shell tidings.$shell
              done
            '';
            meta.mainProgram = "tidings";
          };
        });
    };
}
