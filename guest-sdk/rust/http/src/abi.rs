//! The calls of `wasi:http` as the canonical ABI has them, for the world in `wit/http.wit`.
//!
//! By hand, and not by wit-bindgen: an error code comes back in four places, each with forty cases, and the code that reads
//! what they hold is larger than most plugins. Here its number is enough. What each function takes and where its result
//! lies follows from `wit/deps`, and so does `sender.component-type`: `scripts/sender-type.sh` writes it, as wit-bindgen would.

use std::mem::MaybeUninit;

/// The type of that world, from which the linker makes the component's imports; it knows the section by its name.
#[cfg(target_arch = "wasm32")]
#[unsafe(link_section = "component-type:wit-bindgen:0.61.1:tacklebox:http:sender:encoded world")]
#[allow(dead_code, unreachable_pub, reason = "read by the linker alone")]
pub static WORLD: [u8; include_bytes!("../wit/sender.component-type").len()] =
    *include_bytes!("../wit/sender.component-type");

/// The number of an error code.
pub(crate) type Code = u8;

/// Why a stream gives no more.
pub(crate) enum Broken {
    /// It is at its end.
    Ended,
    /// Something went wrong; the code, where it is one of HTTP's.
    Failed(Option<Code>),
}

/// Where a result is written: as large as the largest, and aligned for each.
#[repr(C, align(8))]
struct Place(MaybeUninit<[u8; 64]>);

impl Place {
    /// Has it filled.
    fn filled(fill: impl FnOnce(*mut u8)) -> Self {
        let mut place = Self(MaybeUninit::zeroed());
        fill(place.0.as_mut_ptr().cast());
        place
    }

    fn byte(&self, at: usize) -> u8 {
        // SAFETY: it was all zero before it was written to.
        unsafe { self.0.assume_init_ref()[at] }
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|n| self.byte(at + n)))
    }

    /// The handle or nothing in a `result` of small cases.
    fn handle(&self) -> Option<u32> {
        (self.byte(0) == 0).then(|| self.word(4))
    }
}

macro_rules! imports {
    ($module:literal $($link:literal fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        #[cfg(target_arch = "wasm32")]
        #[link(wasm_import_module = $module)]
        unsafe extern "C" {
            $(#[link_name = $link] fn $name($($argument: $kind),*) $(-> $result)?;)*
        }
        $(
            /// There is no host outside the sandbox.
            #[cfg(not(target_arch = "wasm32"))]
            unsafe fn $name($(_: $kind),*) $(-> $result)? {
                unreachable!("requests are sent in the sandbox alone")
            }
        )*
    };
}

imports! { "wasi:http/types@0.2.0"
    "[static]fields.from-list" fn fields_from_list(list: *const Field, len: usize, place: *mut u8);
    "[method]fields.entries" fn fields_entries(fields: u32, place: *mut u8);
    "[constructor]outgoing-request" fn request_new(fields: u32) -> u32;
    "[method]outgoing-request.body" fn request_body(request: u32, place: *mut u8);
    "[method]outgoing-request.set-method" fn request_method(request: u32, case: u32, text: *const u8, len: usize) -> u32;
    "[method]outgoing-request.set-path-with-query"
        fn request_path(request: u32, some: u32, text: *const u8, len: usize) -> u32;
    "[method]outgoing-request.set-scheme"
        fn request_scheme(request: u32, some: u32, case: u32, text: *const u8, len: usize) -> u32;
    "[method]outgoing-request.set-authority"
        fn request_authority(request: u32, some: u32, text: *const u8, len: usize) -> u32;
    "[method]outgoing-body.write" fn body_write(body: u32, place: *mut u8);
    "[static]outgoing-body.finish" fn body_finish(body: u32, some: u32, trailers: u32, place: *mut u8);
    "[method]future-incoming-response.subscribe" fn answer_subscribe(answer: u32) -> u32;
    "[method]future-incoming-response.get" fn answer_get(answer: u32, place: *mut u8);
    "[method]incoming-response.status" fn response_status(response: u32) -> u32;
    "[method]incoming-response.headers" fn response_headers(response: u32) -> u32;
    "[method]incoming-response.consume" fn response_consume(response: u32, place: *mut u8);
    "[method]incoming-body.stream" fn incoming_stream(body: u32, place: *mut u8);
    "http-error-code" fn error_code(error: u32, place: *mut u8);
}

imports! { "wasi:http/outgoing-handler@0.2.0"
    "handle" fn send_out(request: u32, some: u32, options: u32, place: *mut u8);
}

imports! { "wasi:io/poll@0.2.0"
    "[method]pollable.block" fn pollable_block(pollable: u32);
    "[resource-drop]pollable" fn pollable_drop(pollable: u32);
}

imports! { "wasi:io/streams@0.2.0"
    "[method]input-stream.blocking-read" fn stream_read(stream: u32, len: u64, place: *mut u8);
    "[method]output-stream.blocking-write-and-flush"
        fn stream_write(stream: u32, bytes: *const u8, len: usize, place: *mut u8);
    "[resource-drop]output-stream" fn stream_drop(stream: u32);
}

/// A header's name and value, as a list holds them.
#[repr(C)]
struct Field {
    name: *const u8,
    name_len: usize,
    value: *const u8,
    value_len: usize,
}

/// The numbers of methods that have one, in their order.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// Makes a request with these headers: itself and its body. `None` where a part of it is refused.
pub(crate) fn request(
    method: &str,
    secure: bool,
    authority: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Option<(u32, u32)> {
    let list: Vec<_> = headers.iter().map(|(name, value)| field(name, value)).collect();
    // SAFETY: each pointer is to a text that outlives its call.
    unsafe {
        let fields = Place::filled(|place| fields_from_list(list.as_ptr(), list.len(), place)).handle()?;
        let request = request_new(fields);
        let case = METHODS.iter().position(|known| *known == method).unwrap_or(METHODS.len());
        let refused = request_method(request, case as u32, method.as_ptr(), method.len())
            | request_scheme(request, 1, u32::from(secure), std::ptr::null(), 0)
            | request_authority(request, 1, authority.as_ptr(), authority.len())
            | request_path(request, 1, path.as_ptr(), path.len());
        let body = Place::filled(|place| request_body(request, place)).handle()?;
        (refused == 0).then_some((request, body))
    }
}

fn field(name: &str, value: &str) -> Field {
    Field { name: name.as_ptr(), name_len: name.len(), value: value.as_ptr(), value_len: value.len() }
}

/// Sends a request: what the answer will be.
pub(crate) fn handle(request: u32) -> Result<u32, Code> {
    // SAFETY: it is handed over whole.
    let place = Place::filled(|place| unsafe { send_out(request, 0, 0, place) });
    if place.byte(0) == 0 { Ok(place.word(8)) } else { Err(place.byte(8)) }
}

/// Writes all of a request's body, in pieces of at most 4096 bytes, and ends it.
pub(crate) fn write(body: u32, bytes: &[u8]) -> Result<(), Broken> {
    // SAFETY: the bytes outlive the calls; the stream is gone before its body is.
    unsafe {
        let stream = Place::filled(|place| body_write(body, place)).handle().ok_or(Broken::Failed(None))?;
        for piece in bytes.chunks(4096) {
            let place = Place::filled(|place| stream_write(stream, piece.as_ptr(), piece.len(), place));
            if place.byte(0) != 0 {
                return Err(broken(&place));
            }
        }
        stream_drop(stream);
        let place = Place::filled(|place| body_finish(body, 0, 0, place));
        if place.byte(0) == 0 { Ok(()) } else { Err(Broken::Failed(Some(place.byte(8)))) }
    }
}

/// Waits for an answer's head. `None` is an answer that was taken before.
pub(crate) fn wait(answer: u32) -> Option<Result<u32, Code>> {
    // SAFETY: the pollable is gone before what it watches is.
    let place = unsafe {
        let pollable = answer_subscribe(answer);
        pollable_block(pollable);
        pollable_drop(pollable);
        Place::filled(|place| answer_get(answer, place))
    };
    match (place.byte(0), place.byte(8), place.byte(16)) {
        (1, 0, 0) => Some(Ok(place.word(24))),
        (1, 0, _) => Some(Err(place.byte(24))),
        _ => None,
    }
}

/// The status of a response.
pub(crate) fn status(response: u32) -> u16 {
    // SAFETY: a number for a number.
    unsafe { response_status(response) as u16 }
}

/// Its headers, each with name and value.
pub(crate) fn headers(response: u32) -> Vec<[Vec<u8>; 2]> {
    // SAFETY: each list was allocated for this call, with its very length, and is owned from here on.
    unsafe {
        let fields = response_headers(response);
        let place = Place::filled(|place| fields_entries(fields, place));
        let list: Vec<Field> = owned(place.word(0) as usize as *mut Field, place.word(4) as usize);
        let pair = |field: &Field| {
            [owned(field.name.cast_mut(), field.name_len), owned(field.value.cast_mut(), field.value_len)]
        };
        list.iter().map(pair).collect()
    }
}

/// Its body, as a stream to read from.
pub(crate) fn stream(response: u32) -> Option<u32> {
    // SAFETY: numbers for numbers.
    unsafe {
        let body = Place::filled(|place| response_consume(response, place)).handle()?;
        Place::filled(|place| incoming_stream(body, place)).handle()
    }
}

/// Waits for some more of it.
pub(crate) fn read(stream: u32) -> Result<Vec<u8>, Broken> {
    // SAFETY: the list was allocated for this call, with its very length, and is owned from here on.
    unsafe {
        let place = Place::filled(|place| stream_read(stream, 64 << 10, place));
        match place.byte(0) {
            0 => Ok(owned(place.word(4) as usize as *mut u8, place.word(8) as usize)),
            _ => Err(broken(&place)),
        }
    }
}

/// # Safety
///
/// `start` is of an allocation of just so many elements that nobody else owns, or there are none.
unsafe fn owned<T>(start: *mut T, len: usize) -> Vec<T> {
    if len == 0 { Vec::new() } else { unsafe { Vec::from_raw_parts(start, len, len) } }
}

fn broken(place: &Place) -> Broken {
    if place.byte(4) == 1 {
        return Broken::Ended;
    }
    // SAFETY: numbers for numbers.
    let code = Place::filled(|code| unsafe { error_code(place.word(8), code) });
    Broken::Failed((code.byte(0) == 1).then(|| code.byte(8)))
}
