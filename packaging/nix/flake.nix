# Nix packages of the sources it lies in:
#
#     nix build ./weft?dir=packaging/nix             the library and the weft command
#     nix run ./weft?dir=packaging/nix -- info       the command
#     nix develop ./weft?dir=packaging/nix           a shell with all that the tests need
{
  description = "Work-stealing fork-join parallelism for C";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-24.05";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "i686-linux" ];
      forAll = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      lines = builtins.filter builtins.isString
        (builtins.split "\n" (builtins.readFile ../../include/weft/base.h));
      part = name: builtins.head (builtins.head (builtins.filter (found: found != null)
        (map (builtins.match "#define WEFT_VERSION_${name} ([0-9]+)") lines)));
      version = "${part "MAJOR"}.${part "MINOR"}.${part "PATCH"}";
    in {
      packages = forAll (pkgs: rec {
        weft = pkgs.stdenv.mkDerivation {
          pname = "weft";
          inherit version;
          src = ../..;
          nativeBuildInputs = [ pkgs.cmake ];
          cmakeFlags = [
            "-DWEFT_BUILD_TESTS=OFF"
            "-DWEFT_BUILD_BENCH=OFF"
            "-DWEFT_BUILD_EXAMPLES=OFF"
            "-DWEFT_PTHREADPOOL=OFF"
          ];
          meta = {
            description = "Work-stealing fork-join parallelism for C";
            license = pkgs.lib.licenses.mit;
            platforms = pkgs.lib.platforms.linux;
            mainProgram = "weft";
          };
        };
        default = weft;
      });

      devShells = forAll (pkgs: {
        default = pkgs.mkShell {
          packages = with pkgs; [ cmake ninja pkg-config gdb valgrind zlib ];
        };
      });
    };
}
