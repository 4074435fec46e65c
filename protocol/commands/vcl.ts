/** VCL programs and labels: load, use, label, state, discard, list, show (varnish-cli(7), mgt_vcl.c). */

import {
  expectBytes,
  expectNote,
  expectOk,
  garbledAnswer,
  loadTimeoutMs,
  type Command,
} from '../command.js'
import { ManagementPortError } from '../errors.js'
import type { Reply } from '../frame.js'
import { isJsonObject, numberOrNull, readObject, readString } from '../json.js'
import { readJsonList } from '../long-list.js'
import { childCommandLine, commandLine, hereDocument } from '../quote.js'

/** The parts of a VCL with its includes, counted once per inclusion; our VCLs have at most a thousand. */
const maxParts = 2_000

type VclTemperature = 'auto' | 'cold' | 'warm'

export interface VclRow {
  /** Unique only among rows that are not `discarded`: a discarded program stays listed while something refers to it. */
  readonly name: string
  readonly status: 'active' | 'available' | 'discarded'
  /** `auto`, `cold`, `warm` or, for a label, `label`. */
  readonly state: string
  /** `init`, `cold`, `warm`, `busy` or `cooling`. */
  readonly temperature: string
  /** References by sessions and workers; null while the child is stopped. */
  readonly busy: number | null
  /** Number of labels that refer to this program. */
  readonly labels: number
  /** The program to which a label refers, and the number of programs that return(vcl()) it; null for a program. */
  readonly label: { readonly target: string; readonly refs: number } | null
}

export interface VclPart {
  /** Path, `<vcl.inline>` or `<builtin>`. */
  readonly file: string
  readonly source: Buffer
}

/** The folder `vcl_<name>.<time>` must fit NAME_MAX (255). */
const programNameLimit = 233
/** Labels have no folder, and the cache does not limit their names. */
const labelNameLimit = 1_000

/** Compiles and loads a text under a new name. Returns the compiler's notes, usually empty. */
export function vclInline(name: string, source: string | Buffer): Command<string> {
  const start = `vcl.inline ${checkName('vcl.inline', name, programNameLimit)}`
  return {
    name: 'vcl.inline',
    line: joinLine(start, hereDocument(source, 'vcl.inline')),
    parse: expectNote,
    timeoutMs: loadTimeoutMs,
  }
}

/** Makes a program (or that of a label) serve all traffic. */
export function vclUse(name: string): Command<void> {
  return vclCommand('vcl.use', [name])
}

/** Creates or moves a label. */
export function vclLabel(label: string, program: string): Command<void> {
  return vclCommand('vcl.label', [label, program])
}

export function vclState(name: string, state: VclTemperature): Command<void> {
  return vclCommand('vcl.state', [name], state)
}

/** All or nothing, in any order; up to 6.5 the cache accepts exactly one name. */
export function vclDiscard(names: readonly string[]): Command<void> {
  if (names.length === 0)
    throw new ManagementPortError('refused', 'no name to discard', { command: 'vcl.discard' })
  return vclCommand('vcl.discard', names)
}

/** All rows, including discarded ones. An empty reply is an error: the child did not respond. */
export function vclList(): Command<readonly VclRow[]> {
  return {
    name: 'vcl.list',
    line: 'vcl.list -j',
    parse: (reply, name) => readJsonList(reply, name, (row) => readVclRow(row, name)),
  }
}

/** The source as loaded, byte for byte; for a label that of its program, without a name that of the active VCL (from 7.1). */
export function vclShow(name?: string): Command<Buffer> {
  return {
    name: 'vcl.show',
    line: vclShowLine([], name),
    parse: (reply, command) => Buffer.from(expectBytes(reply, command)),
  }
}

/** The source with its includes and the built-in VCL. */
export function vclShowParts(name?: string): Command<readonly VclPart[]> {
  return { name: 'vcl.show', line: vclShowLine(['-v'], name), parse: parseVclParts }
}

/** Throws if the cache would not accept the name (mgt_vcl.c, mcf_vcl_check). */
function checkName(command: string, name: string, limitCharacters: number): string {
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name) || name.length > limitCharacters)
    throw new ManagementPortError(
      'refused',
      `refused before sending: ${JSON.stringify(name.slice(0, 80))} is not a VCL name: a letter, then letters, digits, _ and -, at most ${limitCharacters} characters`,
      { command },
    )
  return name
}

function vclCommand(command: string, names: readonly string[], ...words: string[]): Command<void> {
  const checked = names.map((name) => checkName(command, name, labelNameLimit))
  return { name: command, line: commandLine(command, [...checked, ...words]), parse: expectOk }
}

function vclShowLine(flags: readonly string[], name: string | undefined): string {
  const names = name === undefined ? [] : [checkName('vcl.show', name, labelNameLimit)]
  return childCommandLine('vcl.show', [...flags, ...names])
}

function joinLine(start: string, end: string | Buffer): string | Buffer {
  return typeof end === 'string' ? start + end : Buffer.concat([Buffer.from(start), end])
}

function readVclRow(item: unknown, name: string): VclRow {
  const row = readObject(item, name)
  const label = row['label']
  return {
    name: readString(row, 'name', name),
    status: readVclStatus(readString(row, 'status', name), name),
    state: readString(row, 'state', name),
    temperature: readString(row, 'temperature', name),
    busy: numberOrNull(row['busy']),
    labels: numberOrNull(row['labels']) ?? 0,
    label: isJsonObject(label)
      ? { target: readString(label, 'name', name), refs: numberOrNull(label['refs']) ?? 0 }
      : null,
  }
}

export function readVclStatus(word: string, command: string): VclRow['status'] {
  if (word === 'active' || word === 'available' || word === 'discarded') return word
  throw garbledAnswer(command, `a program cannot be ${JSON.stringify(word)}`)
}

/** Each part is `// VCL.SHOW <n> <bytes> <file>` LF source LF (cache_vcl.c, vcl_cli_show). */
function parseVclParts(reply: Reply, name: string): readonly VclPart[] {
  const body = expectBytes(reply, name)
  const parts: VclPart[] = []
  let at = 0
  while (at < body.length) {
    const end = body.indexOf('\n', at)
    const header = body.toString('utf8', at, end < 0 ? body.length : end)
    const found = /^\/\/ VCL\.SHOW \d+ (\d+) (.*)$/.exec(header)
    const sourceEnd = end + 1 + Number(found?.[1])
    if (found?.[2] === undefined || end < 0 || sourceEnd > body.length)
      throw garbledAnswer(name, 'a part does not begin with "// VCL.SHOW"')
    if (parts.length === maxParts) throw garbledAnswer(name, `it has over ${maxParts} parts`)
    parts.push({ file: found[2], source: Buffer.from(body.subarray(end + 1, sourceEnd)) })
    at = sourceEnd + 1
  }
  return parts
}
