// Package runtime is the memory that passes between the host and the bindings.
package runtime

import (
	"runtime"
	"unsafe"
)

// What the host has written for the call that is about to begin.
var arguments runtime.Pinner

// Allocate gives memory that stays where it is until the pinner lets go.
func Allocate(pinner *runtime.Pinner, size, align uintptr) unsafe.Pointer {
	if size == 0 {
		return nil
	}
	var memory unsafe.Pointer
	if align == 1 {
		memory = unsafe.Pointer(unsafe.SliceData(make([]byte, size)))
	} else {
		// Words of eight bytes stand well for all others.
		memory = unsafe.Pointer(unsafe.SliceData(make([]uint64, (size+7)/8)))
	}
	pinner.Pin(memory)
	return memory
}

// Unpin leaves the arguments to the collector: by now Go's own values refer to them.
func Unpin() {
	arguments.Unpin()
}

// The host asks for memory here. A component's start calls no exports but this one's initializer, so Go runs already.
//
//go:wasmexport cabi_realloc
func realloc(former unsafe.Pointer, formerSize, align, size uintptr) unsafe.Pointer {
	if former != nil || formerSize != 0 {
		panic("the host makes nothing larger")
	}
	return Allocate(&arguments, size, align)
}
