//! How much work a file is for the compiler, told from its bytes before it is compiled: a compilation cannot be stopped.
//!
//! The compiler is linear in what compilers of plugins emit, and in nothing else: with the values that live over many branches, with
//! nested loops and with nested blocks its time and memory grow by the square and more. 16 KiB of the worst take seconds and
//! 280 MB, 64 KiB were not done after two minutes. So each function is held to five to ten times what the largest one of any
//! language takes, and all of them together to eight times what the heaviest file takes. The figures stand beside the bounds.

use wasmparser::{FuncToValidate, FunctionBody, Operator, ValidPayload, Validator, ValidatorResources, WasmFeatures};

use super::load_error::LoadError;

/// How large one function may be, in bytes: 4 MiB. Python's interpreter has one of 427 KB.
const LARGEST_BODY: usize = 4 << 20;
/// How many functions a file may have. Python's interpreter has 13 353; a hundred thousand empty ones take half a minute.
const MOST_FUNCTIONS: usize = 100_000;
/// How deep blocks may be nested. In Python's interpreter they are 781 deep.
const DEEPEST: usize = 8_000;
/// How deep loops may be nested. In a JavaScript engine they are 21 deep.
const DEEPEST_LOOP: usize = 128;
/// How many values may live over blocks and branches of one function, each counted at each: locals, and what lies on the stack.
/// A block counts a value for each [`BLOCKS`] before it, too. A JavaScript engine has a function with 720 000, Python's
/// interpreter one with 480 000.
const MOST_LIVING: u64 = 4_000_000;
/// How many blocks cost the compiler at each further one what a value does, and how many loops at each further one all values
/// once more.
const BLOCKS: u64 = 64;
/// How many loops that are nested cost the compiler at each branch as much again.
const LOOPS: usize = 4;
/// The same for all functions together. In a JavaScript engine they are 8 000 000.
const MOST_LIVING_TOGETHER: u64 = 64_000_000;

/// What a file takes, or the largest of its functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    functions: usize,
    body: usize,
    depth: usize,
    loop_depth: usize,
    living: u64,
    living_together: u64,
}

/// A bound of the compiler's work that a file is beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// Functions.
    #[error("it has more than {MOST_FUNCTIONS} functions")]
    Functions,
    /// Bytes of one function.
    #[error("one of its functions is larger than {} MiB", LARGEST_BODY >> 20)]
    Body,
    /// Nested blocks.
    #[error("one of its functions nests more than {DEEPEST} blocks")]
    Depth,
    /// Nested loops.
    #[error("one of its functions nests more than {DEEPEST_LOOP} loops")]
    LoopDepth,
    /// Values that live over blocks of one function.
    #[error(
        "one of its functions has too many locals for as many branches: more than {MOST_LIVING}, locals times branches"
    )]
    Living,
    /// The same of all functions.
    #[error(
        "its functions have too many locals and branches together: more than {MOST_LIVING_TOGETHER}, locals times branches"
    )]
    LivingTogether,
}

/// Refuses a file that would keep the compiler busy for longer than any plugin of good will does.
///
/// # Errors
///
/// Where it is beyond a bound; where it is not valid, too, since what is not looked at could be anything.
pub(super) fn check(bytes: &[u8]) -> Result<Weight, LoadError> {
    let mut weight = Weight::default();
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut buffers = wasmparser::FuncValidatorAllocations::default();
    for payload in wasmparser::Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(malformed)?;
        if let ValidPayload::Func(function, body) = validator.payload(&payload).map_err(malformed)? {
            weight.functions += 1;
            weight.body = weight.body.max(body.range().len());
            weight.bounded()?;
            buffers = weight.take(function, &body, buffers)?;
        }
    }
    Ok(weight)
}

impl Weight {
    fn take(
        &mut self,
        function: FuncToValidate<ValidatorResources>,
        body: &FunctionBody<'_>,
        buffers: wasmparser::FuncValidatorAllocations,
    ) -> Result<wasmparser::FuncValidatorAllocations, LoadError> {
        let mut validator = function.into_validator(buffers);
        let mut reader = body.get_binary_reader();
        validator.read_locals(&mut reader).map_err(malformed)?;
        let mut operators = wasmparser::OperatorsReader::new(reader);
        let mut one = Function::default();
        while !operators.eof() {
            let (operator, at) = operators.read_with_offset().map_err(malformed)?;
            validator.op(at, &operator).map_err(malformed)?;
            one.take(&operator, u64::from(validator.len_locals()) + u64::from(validator.operand_stack_height()));
            self.depth = self.depth.max(one.loops.len());
            self.loop_depth = self.loop_depth.max(one.loop_depth);
            self.living = self.living.max(one.living);
            if branches(&operator) {
                self.bounded()?;
            }
        }
        operators.finish().map_err(malformed)?;
        self.living_together = self.living_together.saturating_add(one.living);
        self.bounded()?;
        Ok(validator.into_allocations())
    }

    fn bounded(&self) -> Result<(), LoadError> {
        let bounds = [
            (self.functions > MOST_FUNCTIONS, TooMuch::Functions),
            (self.body > LARGEST_BODY, TooMuch::Body),
            (self.depth > DEEPEST, TooMuch::Depth),
            (self.loop_depth > DEEPEST_LOOP, TooMuch::LoopDepth),
            (self.living > MOST_LIVING, TooMuch::Living),
            (self.living_together > MOST_LIVING_TOGETHER, TooMuch::LivingTogether),
        ];
        let passed = bounds.into_iter().find(|(passed, _)| *passed);
        passed.map_or(Ok(()), |(_, what)| Err(LoadError::TooMuchWork(what)))
    }
}

/// One function as far as it was read.
#[derive(Default)]
struct Function {
    /// Whether each open block is a loop.
    loops: Vec<bool>,
    loop_depth: usize,
    /// How many loops began.
    all_loops: u64,
    blocks: u64,
    living: u64,
}

impl Function {
    /// `values` are those that there are behind it: locals, and what lies on the stack.
    fn take(&mut self, operator: &Operator<'_>, values: u64) {
        match operator {
            Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } | Operator::Try { .. } => {
                self.loops.push(false);
            }
            Operator::Loop { .. } => {
                self.loops.push(true);
                self.loop_depth += 1;
                self.all_loops += 1;
                self.living = self.living.saturating_add(values.saturating_mul(self.all_loops / BLOCKS));
            }
            Operator::End if self.loops.pop() == Some(true) => self.loop_depth -= 1,
            _ => {}
        }
        if branches(operator) {
            self.blocks += 1;
            let times = 1 + self.loop_depth / LOOPS;
            self.living = self.living.saturating_add((values + self.blocks / BLOCKS).saturating_mul(times as u64));
        }
    }
}

/// Whether the compiler ends a block of its own there.
fn branches(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::TryTable { .. }
            | Operator::Try { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. }
    )
}

fn malformed(error: wasmparser::BinaryReaderError) -> LoadError {
    LoadError::Malformed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with one function of so many locals, and this in it.
    fn with(locals: usize, inside: &str) -> Result<Weight, LoadError> {
        let locals = "i32 ".repeat(locals);
        check(&wat::parse_str(format!("(module (memory 1) (func (local {locals}) {inside}))")).unwrap())
    }

    fn is(refused: Result<Weight, LoadError>, what: TooMuch) {
        assert_eq!(refused, Err(LoadError::TooMuchWork(what)));
    }

    #[test]
    fn what_the_compiler_needs_more_than_its_share_of_time_for_is_refused_by_its_bytes() {
        let nested = |open: &str, times: usize| format!("{}{}", open.repeat(times), "end ".repeat(times));
        with(1, &nested("block ", DEEPEST)).unwrap();
        is(with(1, &nested("block ", DEEPEST + 1)), TooMuch::Depth);
        with(1, &nested("loop ", DEEPEST_LOOP)).unwrap();
        is(with(1, &nested("loop ", DEEPEST_LOOP + 1)), TooMuch::LoopDepth);
        let branches = |times: usize| "block local.get 0 br_if 0 end ".repeat(times);
        with(1, &branches(10_000)).unwrap();
        is(with(1, &branches(12_000)), TooMuch::Living);
        let loops = |depth: usize| nested("loop ", depth).repeat(3_840 / depth);
        with(20, &loops(1)).unwrap();
        is(with(300, &loops(1)), TooMuch::Living);
        is(with(20, &loops(DEEPEST_LOOP)), TooMuch::Living);
        with(1_000, &branches(1_900)).unwrap();
        is(with(1_000, &branches(2_100)), TooMuch::Living);
    }

    #[test]
    fn values_on_the_stack_live_as_locals_do() {
        let stack = |values: usize| {
            let (push, pop) = ("i32.const 0 i32.load ".repeat(values), "drop ".repeat(values));
            with(1, &format!("{push} {} {pop}", "block local.get 0 br_if 0 end ".repeat(2_100)))
        };
        stack(900).unwrap();
        is(stack(1_000), TooMuch::Living);
    }

    #[test]
    fn parameters_are_locals_and_all_functions_count_together() {
        let function = |params: usize| {
            let branches = "block local.get 0 br_if 0 end ".repeat(1_900);
            format!("(func (param {}) {branches})", "i32 ".repeat(params))
        };
        let module = |functions: usize| {
            let functions = function(1_000).repeat(functions);
            check(&wat::parse_str(format!("(module {functions})")).unwrap())
        };
        let one = module(1).unwrap();
        assert!(one.living > 3_800_000 && one.living_together == one.living, "{one:?}");
        assert_eq!(module(16).unwrap().living_together, 16 * one.living);
        is(module(17), TooMuch::LivingTogether);
    }

    #[test]
    fn one_function_has_a_size_and_a_file_a_number_of_them() {
        is(with(1, &"i32.const 1 drop ".repeat(LARGEST_BODY / 3 + 1)), TooMuch::Body);
        let functions =
            |number: usize| check(&wat::parse_str(format!("(module {})", "(func)".repeat(number))).unwrap());
        functions(MOST_FUNCTIONS).unwrap();
        is(functions(MOST_FUNCTIONS + 1), TooMuch::Functions);
    }

    #[test]
    fn what_is_not_valid_is_not_compiled_to_find_that_out() {
        let broken = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x0a\x05\x01\x03\0\x6a\x0b";
        assert!(matches!(check(broken), Err(LoadError::Malformed(_))));
    }

    #[test]
    fn no_plugin_of_this_repository_comes_near_a_bound() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let plugins = ["example-plugins/no-rm-rf/no-rm-rf.wasm", "tests/guests/sender/sender.wasm"];
        let commands = ["guest-sdk/c/command/command.wasm", "guest-sdk/rust/conformance/conformance.wasm"];
        for path in plugins.into_iter().chain(commands) {
            let weight = check(&std::fs::read(root.join(path)).unwrap()).unwrap();
            let far = weight.body * 100 < LARGEST_BODY && weight.living * 40 < MOST_LIVING;
            assert!(far && weight.loop_depth * 10 < DEEPEST_LOOP, "{path}: {weight:?}");
        }
    }
}
