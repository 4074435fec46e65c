/** Status codes of the management port (include/vcli.h, enum VCLI_status_e). */

export const cliStatus = {
  /** The line could not be parsed: quoting, or nothing in it. */
  syntax: 100,
  /** No such command here and now: also a command of the child while it is stopped. */
  unknown: 101,
  /** `-j` on a command without JSON. */
  unimplemented: 102,
  tooFew: 104,
  tooMany: 105,
  /** A bad argument: compile errors, unknown names, values out of range. */
  parameter: 106,
  /** The challenge; only as first message of a connection. */
  auth: 107,
  ok: 200,
  /** The command did run, but its answer was cut at the cache's `cli_limit`. */
  truncated: 201,
  /** Understood, impossible in the present state. */
  cannot: 300,
  /** The manager lost its child while it waited for the answer. */
  communication: 400,
  /** After `quit` or a failed authentication; the server closes. */
  close: 500,
} as const

/** Three digits, a blank, the body's length left-aligned in 8, LF (include/vcli.h, CLI_LINE0_LEN). */
export const replyHeaderBytes = 13
