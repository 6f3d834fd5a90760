//! Version 0.1, as generated from `wit/v0.1`.

wasmtime::component::bindgen!({
    path: "../wit/v0.1",
    world: "plugin",
    imports: {
        "tacklebox:hooks/process.available": async,
        "tacklebox:hooks/process.run": async,
    },
    exports: { default: async },
});
