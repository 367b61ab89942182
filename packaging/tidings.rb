# Homebrew formula, for a tap. It was parsed, never built: the addresses and checksums are filled in by a release.
class Tidings < Formula
  desc "Watch, approve and search every Claude Code session from any device"
  homepage "https://example.com/tidings"
  version "0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://example.com/tidings/releases/v0.1.0/tidings-0.1.0-aarch64-apple-darwin.tar.xz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://example.com/tidings/releases/v0.1.0/tidings-0.1.0-x86_64-apple-darwin.tar.xz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  on_linux do
    on_intel do
      url "https://example.com/tidings/releases/v0.1.0/tidings-0.1.0-x86_64-unknown-linux-gnu.tar.xz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  def install
    bin.install "bin/tidings"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/tidings"
    zsh_completion.install "share/zsh/site-functions/_tidings"
    fish_completion.install "share/fish/vendor_completions.d/tidings.fish"
  end

  service do
    run [opt_bin/"tidings", "serve", "--log", "json"]
    keep_alive successful_exit: false
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tidings --version")
  end
end
