/** The one error type of the management port: what went wrong, and whether the command may have run. */

/**
 * - `refused`: by us, before a byte was written: an argument that cannot be sent safely, or too many commands waiting.
 * - `rejected`: the cache answered with another status than 200; 201 (cut at `cli_limit`: it did run) is one of them.
 * - `auth-refused`: the secret is wrong, or cannot be read by us or by the cache.
 * - `timeout`: no answer in time; the connection is closed, for replies match commands by their order alone.
 * - `lost`: the connection ended first. Unless `sent` is false the command may have run: never resent by us.
 * - `garbled`: the peer broke the protocol, or an answer is not what its command answers; the first also closes.
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
  /** The cache's status, when it answered. */
  readonly status?: number
  /** All that the cache said, as it said it. */
  readonly text?: string
  /** False: no byte of the command left, so it has not run. */
  readonly sent?: boolean
  readonly cause?: unknown
}

/** The cache's own words in `message` are cut here; `text` has them whole. */
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

/** The engine's refusal of a command, with its words. */
export function rejectionOf(command: string, status: number, text: string): ManagementPortError {
  const words = text.trim().slice(0, messageLimitCharacters)
  const message =
    status === 201
      ? 'the answer was cut at cli_limit (status 201); the command did run: raise cli_limit'
      : `the cache answered ${status}${words === '' ? ' without words' : `: ${words}`}`
  return new ManagementPortError('rejected', message, { command, status, text })
}
