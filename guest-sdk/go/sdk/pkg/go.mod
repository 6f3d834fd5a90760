// Stands in for the module of this name, which the generated bindings import: what they use of it, and no more.
module go.bytecodealliance.org/pkg

go 1.25
