/** Status codes of the management port (include/vcli.h, enum VCLI_status_e). */

export const cliStatus = {
  /** The line cannot be parsed (quoting) or is empty. */
  syntax: 100,
  /** No such command here and now; also for the child's commands while it is stopped. */
  unknown: 101,
  /** `-j` on a command without JSON. */
  unimplemented: 102,
  tooFew: 104,
  tooMany: 105,
  /** An invalid argument: compile errors, unknown names, values out of range. */
  parameter: 106,
  /** The challenge; only as the first message of a connection. */
  auth: 107,
  ok: 200,
  /** The command did run, but its reply was truncated at the cache's `cli_limit`. */
  truncated: 201,
  /** Valid, but impossible in the current state. */
  cannot: 300,
  /** The manager lost its child while it was waiting for the reply. */
  communication: 400,
  /** After `quit` or a failed authentication; the server closes. */
  close: 500,
} as const

/** Three digits, a blank, the body's length left-aligned in 8 characters, LF (include/vcli.h, CLI_LINE0_LEN). */
export const replyHeaderBytes = 13
