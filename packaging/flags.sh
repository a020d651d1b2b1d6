# To be sourced, in the checkout's root: what a program is compiled with that leaves this machine (scripts/install, scripts/release).
#
# The flags replace the run paths of .cargo/config.toml, which are for programs inside of a checkout: what is left is
# cli/build.rs's `$ORIGIN/../lib/coreach`. And the messages of a crash shall not tell where it was built.
command -v cargo >/dev/null 2>&1 || PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
cargo_home=$(cd -- "${CARGO_HOME:-$HOME/.cargo}" && pwd -P)
if [ -n "${PKG_CONFIG_PATH-}" ] && [ -e native/z3/z3.pc ]; then
    export PKG_CONFIG_PATH=$PWD/native/z3:$PKG_CONFIG_PATH
fi
CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$PWD=/coreach"$'\x1f'"--remap-path-prefix=$cargo_home=/cargo"
CFLAGS="${CFLAGS:+$CFLAGS }-ffile-prefix-map=$PWD=/coreach -ffile-prefix-map=$cargo_home=/cargo"
export CARGO_ENCODED_RUSTFLAGS CFLAGS
