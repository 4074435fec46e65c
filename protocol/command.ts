/**
 * A command is data: the line to send and how to read the answer. `connection.run(command)` does the rest.
 */

import { ManagementPortError, rejectionOf } from './errors.js'
import { replyText, type Reply } from './frame.js'
import { checkTypedLine } from './quote.js'
import { cliStatus } from './status.js'

export interface Command<Result> {
  /** The first word, for errors and logs. */
  readonly name: string
  /** Without the line feed that ends it. */
  readonly line: string | Buffer
  /** Gives the result or throws a ManagementPortError. */
  readonly parse: (reply: Reply, name: string) => Result | Promise<Result>
  /** How long this kind of command may take in the cache, when the default is too short. */
  readonly timeoutMs?: number
  /** The line holds what must not reach a log. */
  readonly sensitive?: boolean
}

/** One compile holds up everybody on the cache's one manager thread (docs/behaviour.md, Deploy). */
export const loadTimeoutMs = 120_000

/**
 * What is read of an answer in one go. Reading more would hold up all else that the process does; lists that may be longer, of bans
 * and VCLs, are read in pieces.
 */
export const readLimitBytes = 1 << 20
/** The source of a VCL, and the answer to what somebody typed, are handed on as they are; ours have at most 2 MiB. */
const wholeLimitBytes = 4 << 20

/** For commands whose answer is no more than "done". */
export function expectOk(reply: Reply, name: string): void {
  if (reply.status !== cliStatus.ok) throw rejectionOf(name, reply.status, replyText(reply))
}

/** For commands whose answer is text for people. */
export function expectText(reply: Reply, name: string): string {
  expectOk(reply, name)
  requireShort(reply, name, readLimitBytes)
  return replyText(reply)
}

/** For lists as text, which take longer to read than JSON: some 3,000 rows, of releases that have no other form. */
function expectLines(reply: Reply, name: string): string {
  expectOk(reply, name)
  requireShort(reply, name, readLimitBytes / 4)
  return replyText(reply)
}

/** Of a command that was done, whatever the cache has to say about it: the start of a long text. */
export function expectNote(reply: Reply, name: string): string {
  expectOk(reply, name)
  return replyText(reply)
}

/** The bytes of an answer that is not looked into. */
export function expectBytes(reply: Reply, name: string): Buffer {
  expectOk(reply, name)
  requireShort(reply, name, wholeLimitBytes)
  return reply.body
}

/** As an answer that the cache itself has cut: there is more of it than can be taken. */
function requireShort({ body }: Reply, name: string, limitBytes: number): void {
  if (body.length <= limitBytes) return
  const message = `the answer has ${body.length} bytes, more than the ${limitBytes} that are read of it; the command did run`
  throw new ManagementPortError('rejected', message, { command: name, status: cliStatus.truncated })
}

/** One whose answer is text for programs. */
export function textCommand<Result>(
  name: string,
  line: string,
  parse: (text: string, name: string) => Result,
): Command<Result> {
  return { name, line, parse: (reply) => parse(expectLines(reply, name), name) }
}

interface JsonAnswer {
  /** Of the answer's shape: 1 to 3, by command. */
  readonly version: number
  readonly payload: readonly unknown[]
}

/**
 * Reads `[version, [words], time, …payload]` (lib/libvarnish/vcli_serve.c, VCLI_JSON_begin). Some lists without
 * members end in a comma on some releases (`param.show -j changed` on 7.1.1).
 */
export function expectJson(reply: Reply, name: string): JsonAnswer {
  return readJsonAnswer(expectText(reply, name), name)
}

export function readJsonAnswer(text: string, name: string): JsonAnswer {
  const answer = parseJson(text.replace(/,\s*\]\s*$/, ']'), name)
  if (Array.isArray(answer)) {
    const [version, words, , ...payload] = answer as readonly unknown[] // unknown[] is what isArray leaves of `any[]`
    if (typeof version === 'number' && Array.isArray(words)) return { version, payload }
  }
  throw garbledAnswer(name, 'JSON, but not [version, [command], time, …]')
}

/** What the cache said cannot be what this command answers. */
export function garbledAnswer(name: string, what: string): ManagementPortError {
  return new ManagementPortError('garbled', `the answer is not understood: ${what}`, {
    command: name,
  })
}

/** A line that somebody typed, checked, and whatever is answered: errors of the cache are replies too. */
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
  // The child's commands are 200 with an empty body when the child did not answer in time (mgt_vcl.c, mcf_vcl_list).
  if (text.trim() === '') throw garbledAnswer(name, 'it is empty, the child process gave none')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw garbledAnswer(name, error instanceof Error ? error.message : 'not JSON')
  }
}
