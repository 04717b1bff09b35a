# Evaluates packaging/nix/flake.nix with stand-ins for nixpkgs, which is out of reach without a
# network; gives the name, version and options of its package, and what its shell has.
#
#     nix-instantiate --eval --strict --argstr flake $PWD/packaging/nix/flake.nix tests/package/flake.nix
{ flake }:
let
  lib = {
    genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);
    licenses.mit = "MIT";
    platforms.linux = [ "x86_64-linux" ];
  };
  pkgs = {
    inherit lib;
    stdenv.mkDerivation = options: options;
    mkShell = options: options;
    cmake = "cmake"; ninja = "ninja"; pkg-config = "pkg-config"; gdb = "gdb";
    valgrind = "valgrind"; zlib = "zlib";
  };
  nixpkgs = {
    inherit lib;
    legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" "i686-linux" ] (system: pkgs);
  };
  outputs = (import flake).outputs { self = outputs; inherit nixpkgs; };
  package = outputs.packages.x86_64-linux.default;
in "${package.pname} ${package.version} ${toString package.cmakeFlags} "
  + toString outputs.devShells.aarch64-linux.default.packages
