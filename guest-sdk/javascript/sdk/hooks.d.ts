// The host's interfaces, as `jco guest-types wit/v0.1/hooks.wit --world-name plugin` of jco 1.19.0 has them, in one file.
// Otherwise here, since componentize-qjs has it so: what is absent from `state` and `process` is null, and a number of 64 bits is a
// number, exact up to 2^53.

declare module 'tacklebox:hooks/callback@0.1.0' {
  /**
   * Called once, when the plugin is loaded, with no permissions.
   */
  export function describe(): PluginInfo;
  /**
   * Called at each matching event. `err` is a failure of the plugin: it gave no answer.
   */
  export function run(input: HookInput, context: HookContext): HookResult;
  export type HookInput = import('tacklebox:hooks/types@0.1.0').HookInput;
  export type HookContext = import('tacklebox:hooks/types@0.1.0').HookContext;
  export type HookResult = import('tacklebox:hooks/types@0.1.0').HookResult;
  export type PluginInfo = import('tacklebox:hooks/types@0.1.0').PluginInfo;
}

declare module 'tacklebox:hooks/config@0.1.0' {
  /**
   * The `config` of this hook's registration, a JSON object; `{}` where there is none.
   */
  export function get(): string;
}

declare module 'tacklebox:hooks/log@0.1.0' {
  export function write(level: Level, message: string): void;
  /**
   * # Variants
   *
   * ## `"trace"`
   *
   * ## `"debug"`
   *
   * ## `"info"`
   *
   * ## `"warn"`
   *
   * ## `"error"`
   */
  export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';
}

declare module 'tacklebox:hooks/process@0.1.0' {
  /**
   * Whether `run` could start this program now.
   */
  export function available(program: string): boolean;
  /**
   * `stdin` may be empty.
   */
  export function run(program: string, args: Array<string>, stdin: Uint8Array): Output;
  export interface Output {
    /**
     * None: ended by a signal.
     */
    exitCode: number | null,
    stdout: Uint8Array,
    stderr: Uint8Array,
  }
  export type Error = ErrorDenied | ErrorNotFound | ErrorTimedOut | ErrorFailed;
  export interface ErrorDenied {
    tag: 'denied',
  }
  export interface ErrorNotFound {
    tag: 'not-found',
  }
  export interface ErrorTimedOut {
    tag: 'timed-out',
  }
  export interface ErrorFailed {
    tag: 'failed',
    val: string,
  }
}

declare module 'tacklebox:hooks/state@0.1.0' {
  export function get(key: string): Uint8Array | null;
  export function set(key: string, value: Uint8Array): void;
  export function remove(key: string): void;
  /**
   * Adds to a number kept under this key, and gives the sum; calls at the same time lose nothing. The sum is kept whole, as a
   * decimal text, also where the number given back cannot say it.
   */
  export function add(key: string, delta: number): number;
  /**
   * The limit that was passed, in bytes: of a value, or of all values of this plugin and session.
   */
  export type Error = ErrorTooLarge | ErrorFull;
  export interface ErrorTooLarge {
    tag: 'too-large',
    val: number,
  }
  export interface ErrorFull {
    tag: 'full',
    val: number,
  }
}

declare module 'tacklebox:hooks/types@0.1.0' {
  export interface HookInput {
    /**
     * The event's name as in settings: `PreToolUse`, `SessionStart`, ...
     */
    event: string,
    /**
     * The name this hook is registered under; one plugin may register many.
     */
    hook: string,
    /**
     * The tool's name; on an event without a tool, the event's name.
     */
    toolName: string,
    /**
     * A JSON object: the tool's arguments, or the event's payload.
     */
    toolInput: string,
    /**
     * What the tool printed, or why it failed, where the event has it.
     */
    toolOutput?: string,
  }
  export interface HookContext {
    /**
     * Unique for this dispatch; all hooks of one event see the same.
     */
    dispatchId: string,
    sessionId: string,
    /**
     * The session at the root of this agent's tree.
     */
    rootSessionId: string,
    turn: number,
    cwd?: string,
    projectDir?: string,
    agentId?: string,
    agentType?: string,
    parentAgentId?: string,
    /**
     * 0 in the main agent, 1 in its sub-agents, and so on.
     */
    agentDepth: number,
    toolUseId?: string,
    /**
     * Stop: 1, 2, .. within one turn.
     */
    attempt?: number,
    /**
     * This input is another hook's rewrite; a block counts, a rewrite does not.
     */
    recheck: boolean,
    /**
     * After a tool ran: its arguments as the model gave them, and the hooks that changed them.
     */
    originalInput?: string,
    changedBy: Array<string>,
    /**
     * A JSON object for what later versions add (records cannot grow within one). Now: `commands` (a list of lists of words) and
     * `parsed`, on tools with a command argument.
     */
    extra: string,
  }
  /**
   * # Variants
   *
   * ## `"allow"`
   *
   * ## `"ask"`
   *
   * ## `"deny"`
   */
  export type Permission = 'allow' | 'ask' | 'deny';
  /**
   * What to change. Each event takes the parts that it can honour and ignores the rest.
   */
  export interface Modification {
    /**
     * A JSON object, merged into the tool's arguments.
     */
    input?: string,
    /**
     * Replaces the tool's output, or the prompt.
     */
    output?: string,
    /**
     * Text for the model.
     */
    context?: string,
    /**
     * On PermissionRequest the answer; on PreToolUse deny blocks, ask and allow say what to do about a prompt.
     */
    permission?: Permission,
  }
  export type HookResult = HookResultContinue | HookResultBlock | HookResultModify;
  export interface HookResultContinue {
    tag: 'continue',
  }
  /**
   * Why; the model reads it.
   */
  export interface HookResultBlock {
    tag: 'block',
    val: string,
  }
  export interface HookResultModify {
    tag: 'modify',
    val: Modification,
  }
  /**
   * What a failure of the plugin means: on a gate it blocks unless the hook says otherwise.
   * # Variants
   *
   * ## `"block"`
   *
   * ## `"pass"`
   */
  export type Failure = 'block' | 'pass';
  export interface HookRegistration {
    event: string,
    name: string,
    matcher?: string,
    /**
     * As `if` in settings: `bash(git *)`.
     */
    condition?: string,
    timeoutMs?: number,
    once: boolean,
    onError?: Failure,
  }
  export interface PluginInfo {
    name: string,
    version: string,
    description: string,
    hooks: Array<HookRegistration>,
  }
}
