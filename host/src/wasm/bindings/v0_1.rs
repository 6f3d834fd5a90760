//! Version 0.1, as generated from `wit/v0.1`.

#![expect(unreachable_pub, reason = "the macro makes everything public")]

wasmtime::component::bindgen!({
    path: "../wit/v0.1",
    world: "plugin",
    exports: { default: async },
});
