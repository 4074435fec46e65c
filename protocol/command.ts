/** A command is data: the line to send and a parser for the reply. `connection.run(command)` does the rest. */

import { ManagementPortError, rejectionOf } from './errors.js'
import { replyText, type Reply } from './frame.js'
import { checkTypedLine } from './quote.js'
import { cliStatus } from './status.js'

export interface Command<Result> {
  /** The first word of the line, for errors and logs. */
  readonly name: string
  /** Without the trailing line feed. */
  readonly line: string | Buffer
  /** Returns the result or throws a ManagementPortError. */
  readonly parse: (reply: Reply, name: string) => Result | Promise<Result>
  /** Time limit of this command, if the default is too short. */
  readonly timeoutMs?: number
  /** The line contains data that must not be logged. */
  readonly sensitive?: boolean
}

/** A compile blocks the cache's only manager thread (docs/behaviour.md, Deploy). */
export const loadTimeoutMs = 120_000

/**
 * The most that is parsed of a reply at once. More would block all other work of the process; lists that may be longer, of bans and VCLs,
 * are parsed in pieces.
 */
export const readLimitBytes = 1 << 20
/** For VCL sources and replies to typed commands, which are passed on unparsed; our VCLs have at most 2 MiB. */
const wholeLimitBytes = 4 << 20

/** For commands whose reply only confirms success. */
export function expectOk(reply: Reply, name: string): void {
  if (reply.status !== cliStatus.ok) throw rejectionOf(name, reply.status, replyText(reply))
}

/** For commands whose reply is text for people. */
export function expectText(reply: Reply, name: string): string {
  expectOk(reply, name)
  requireShort(reply, name, readLimitBytes)
  return replyText(reply)
}

/** For lists as text, which are slower to parse than JSON: some 3,000 rows, from releases without JSON. */
function expectLines(reply: Reply, name: string): string {
  expectOk(reply, name)
  requireShort(reply, name, readLimitBytes / 4)
  return replyText(reply)
}

/** The cache's note about a successful command; only the start of a long one. */
export function expectNote(reply: Reply, name: string): string {
  expectOk(reply, name)
  return replyText(reply)
}

/** The bytes of a reply that is not parsed. */
export function expectBytes(reply: Reply, name: string): Buffer {
  expectOk(reply, name)
  requireShort(reply, name, wholeLimitBytes)
  return reply.body
}

/** Reports a reply over the limit like one that the cache itself truncated. */
function requireShort({ body }: Reply, name: string, limitBytes: number): void {
  if (body.length <= limitBytes) return
  const message = `the answer has ${body.length} bytes, more than the ${limitBytes} that are read of it; the command did run`
  throw new ManagementPortError('rejected', message, { command: name, status: cliStatus.truncated })
}

/** A command whose reply is text for programs. */
export function textCommand<Result>(
  name: string,
  line: string,
  parse: (text: string, name: string) => Result,
): Command<Result> {
  return { name, line, parse: (reply) => parse(expectLines(reply, name), name) }
}

interface JsonAnswer {
  /** Version of the reply's format: 1 to 3, depending on the command. */
  readonly version: number
  readonly payload: readonly unknown[]
}

/**
 * Parses `[version, [words], time, …payload]` (lib/libvarnish/vcli_serve.c, VCLI_JSON_begin). In some releases a list without members ends
 * with a comma (`param.show -j changed` on 7.1.1).
 */
export function expectJson(reply: Reply, name: string): JsonAnswer {
  return readJsonAnswer(expectText(reply, name), name)
}

export function readJsonAnswer(text: string, name: string): JsonAnswer {
  const answer = parseJson(text.replace(/,\s*\]\s*$/, ']'), name)
  if (Array.isArray(answer)) {
    const [version, words, , ...payload] = answer as readonly unknown[] // Array.isArray narrows to any[]
    if (typeof version === 'number' && Array.isArray(words)) return { version, payload }
  }
  throw garbledAnswer(name, 'JSON, but not [version, [command], time, …]')
}

/** An error for a reply that does not fit the command. */
export function garbledAnswer(name: string, what: string): ManagementPortError {
  return new ManagementPortError('garbled', `the answer is not understood: ${what}`, {
    command: name,
  })
}

/** A line typed by a user, checked. Every reply is a result, including errors of the cache. */
export function typedLine(line: string): Command<Reply> {
  const checked = checkTypedLine(line)
  return {
    name: /^\s*-?(\S*)/.exec(checked)?.[1] ?? '',
    line: checked,
    parse: (reply, name) => {
      requireShort(reply, name, wholeLimitBytes)
      return { status: reply.status, body: Buffer.from(reply.body) }
    },
  }
}

export function parseJson(text: string, name: string): unknown {
  // The child's commands return 200 with an empty body if the child does not respond in time (mgt_vcl.c, mcf_vcl_list).
  if (text.trim() === '') throw garbledAnswer(name, 'it is empty, the child process gave none')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw garbledAnswer(name, error instanceof Error ? error.message : 'not JSON')
  }
}
