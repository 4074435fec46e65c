/** The only error type of the management port: what failed, and whether the command may have run. */

/**
 * - `refused`: before a byte was written: an argument cannot be sent safely, or too many commands are waiting.
 * - `rejected`: the cache replied with a status other than 200, including 201 (truncated at `cli_limit`; the command did run).
 * - `auth-refused`: the secret is wrong, or unreadable for us or for the cache.
 * - `timeout`: no reply in time; the connection is closed, because replies match commands by order alone.
 * - `lost`: the connection ended first. Unless `sent` is false the command may have run; it is never sent again.
 * - `garbled`: the peer violated the protocol, which also closes the connection, or a reply does not fit its command.
 */
type ManagementPortErrorKind =
  | 'refused'
  | 'rejected'
  | 'auth-refused'
  | 'timeout'
  | 'lost'
  | 'garbled'

interface ManagementPortErrorDetail {
  /** First word of the command. */
  readonly command?: string
  /** The status of the cache's reply, if any. */
  readonly status?: number
  /** The cache's complete message, unchanged. */
  readonly text?: string
  /** False if no byte of the command was sent, so that it did not run. */
  readonly sent?: boolean
  readonly cause?: unknown
}

/** Limit for the cache's message within `message`; `text` contains all of it. */
const messageLimitCharacters = 2_000

export class ManagementPortError extends Error {
  override readonly name = 'ManagementPortError'
  readonly command: string | undefined
  readonly status: number | undefined
  readonly text: string | undefined
  readonly sent: boolean

  constructor(
    readonly kind: ManagementPortErrorKind,
    message: string,
    detail: ManagementPortErrorDetail = {},
  ) {
    super(
      detail.command === undefined ? message : `${detail.command}: ${message}`,
      detail.cause === undefined ? {} : { cause: detail.cause },
    )
    this.command = detail.command
    this.status = detail.status
    this.text = detail.text
    this.sent = detail.sent ?? kind !== 'refused'
  }
}

/** An error for a command that the cache refused, with its message. */
export function rejectionOf(command: string, status: number, text: string): ManagementPortError {
  const words = text.trim().slice(0, messageLimitCharacters)
  const message =
    status === 201
      ? 'the answer was cut at cli_limit (status 201); the command did run: raise cli_limit'
      : `the cache answered ${status}${words === '' ? ' without words' : `: ${words}`}`
  return new ManagementPortError('rejected', message, { command, status, text })
}
