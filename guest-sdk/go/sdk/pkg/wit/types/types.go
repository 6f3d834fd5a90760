// Package types has the values of the interface that Go has no words for.
package types

// Tags of an Option.
const (
	OptionNone = 0
	OptionSome = 1
)

// Tags of a Result.
const (
	ResultOk  = 0
	ResultErr = 1
)

// Unit is what a Result has where there is nothing to say.
type Unit struct{}

// Option is a value or none.
type Option[T any] struct {
	some  bool
	value T
}

// Some has a value.
func Some[T any](value T) Option[T] { return Option[T]{true, value} }

// None has none.
func None[T any]() Option[T] { return Option[T]{} }

// Tag is OptionNone or OptionSome.
func (o Option[T]) Tag() uint8 {
	if o.some {
		return OptionSome
	}
	return OptionNone
}

// Some is the value; it panics where there is none.
func (o Option[T]) Some() T {
	if !o.some {
		panic("there is no value")
	}
	return o.value
}

// Get is the value, and whether there is one.
func (o Option[T]) Get() (T, bool) { return o.value, o.some }

// Result is a value or an error.
type Result[T, E any] struct {
	failed bool
	value  T
	err    E
}

// Ok has a value.
func Ok[T, E any](value T) Result[T, E] { return Result[T, E]{value: value} }

// Err has an error.
func Err[T, E any](err E) Result[T, E] { return Result[T, E]{failed: true, err: err} }

// Tag is ResultOk or ResultErr.
func (r Result[T, E]) Tag() uint8 {
	if r.failed {
		return ResultErr
	}
	return ResultOk
}

// IsErr tells whether it is an error.
func (r Result[T, E]) IsErr() bool { return r.failed }

// Ok is the value; it panics where there is an error.
func (r Result[T, E]) Ok() T {
	if r.failed {
		panic("there is an error and no value")
	}
	return r.value
}

// Err is the error; it panics where there is a value.
func (r Result[T, E]) Err() E {
	if !r.failed {
		panic("there is a value and no error")
	}
	return r.err
}
