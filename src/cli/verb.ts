/**
 * The structure of the command line: nouns and verbs are data for the parser (program.ts), the help and the completion. A verb's
 * implementation is imported when it runs, which keeps the start fast.
 */
import type { Api, ReportCall } from './api.js'
import type { Column } from './cells.js'
import { usageError, type ExitCode } from './cli-error.js'
import type { TextForm } from '../resources/resource.js'
import type { Output } from './output.js'
import type { Environment } from './session-file.js'

export interface Verb {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  /** In commander's notation: `<id>`, `[path]`, `<id...>`. */
  readonly arguments?: readonly string[]
  readonly flags?: readonly Flag[]
  /** The command line after `cachefleet`. */
  readonly example: string
  /** For scripts: omitted from help and completion. */
  readonly isHidden?: boolean
  /** Undefined means `done`. */
  readonly run: (invocation: Invocation) => Promise<ExitCode | undefined>
}

export interface Flag {
  /** For example `--wait <time>`; without an argument it is a switch. */
  readonly form: string
  readonly summary: string
  /** True if the flag may be repeated. */
  readonly repeatable?: boolean
}

/** A kind of object that is found by its id, or by the name in `nameField`. */
export interface Named {
  readonly path: string
  readonly singular: string
  /** A path such as `account.name` selects an inner field; null allows ids only. */
  readonly nameField: string | null
  /** Converts a name that can be typed in several ways to the API's form. */
  readonly toStoredName?: (typed: string) => string
}

export interface Field {
  /** Name in the API; the flag is the same in kebab-case. */
  readonly name: string
  readonly type: FieldType
  readonly summary: string
  /** Undefined: both verbs have it. */
  readonly only?: 'add' | 'update'
  /** `--no-FIELD` sends null; booleans always have this form. */
  readonly clearable?: boolean
}

export type FieldType =
  | { readonly kind: 'text' | 'integer' | 'boolean' }
  /** Seconds since 1970; may also be typed as a time from now or a date. */
  | { readonly kind: 'moment' }
  /** For example `openid,profile`; `form`: the form of each word. */
  | { readonly kind: 'words'; readonly form?: TextForm }
  /** For example `files=100,agents=20`. */
  | { readonly kind: 'numbers' }
  /** For example `tag:read,file:write`. */
  | { readonly kind: 'grants' }
  /** The text itself, `@FILE` or `-`; binary content is sent as base64 with `encoded`. */
  | { readonly kind: 'source' }
  | { readonly kind: 'reference'; readonly of: Named }
  /** `newNames`: names are sent unresolved, and the API creates missing objects. */
  | { readonly kind: 'references'; readonly of: Named; readonly newNames?: boolean }

interface NounWords {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  readonly example: string
}

/** The parts of a noun for objects of the API from which its verbs are built. */
export interface NounParts extends Named, NounWords {
  readonly columns: readonly Column[]
  readonly fields: readonly Field[]
  /** Name of an object in examples, by default `web`. */
  readonly exampleObject?: string
}

/** A noun of the API with its verbs. */
export interface Noun extends NounParts {
  readonly verbs: readonly Verb[]
}

/** A noun whose data exists only on this machine. */
export interface LocalNoun extends NounWords {
  readonly verbs: readonly Verb[]
}

export interface Grammar {
  /** Global flags, allowed before and after every noun and verb. */
  readonly flags: readonly Flag[]
  readonly verbs: readonly Verb[]
  readonly nouns: readonly (Noun | LocalNoun)[]
}

/** One parsed run of the program. */
export interface Invocation {
  readonly words: readonly string[]
  /** Keyed by kebab-case name; a switch is true, its `--no-` form false. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly output: Output
  readonly system: System
  readonly settings: ConnectionSettings
  readonly grammar: Grammar
  /** Connects at the first call. Throws CliError if the user is not logged in. */
  openApi(): Promise<Api>
}

export interface System {
  readonly environment: Environment
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly now: () => number
  /** Sets the line to print on Ctrl-C; empty prints nothing. */
  readonly setInterruptMessage: (line: string) => void
}

export interface ConnectionSettings {
  /** `--server`. */
  readonly server: string | undefined
  /** `--context`. */
  readonly context: string
  /** `--verbose`. */
  readonly report: ReportCall
}

export function textFlag({ flags }: Invocation, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/** All values of a repeatable flag. */
export function textsFlag({ flags }: Invocation, name: string): readonly string[] {
  const values = flags[name]
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : []
}

export function isSet({ flags }: Invocation, name: string): boolean {
  return flags[name] === true
}

export function isOfApi(noun: Noun | LocalNoun): noun is Noun {
  return 'path' in noun
}

/** The parser has already checked that required arguments are present. */
export function word({ words }: Invocation, index: number): string {
  const value = words[index]
  if (value === undefined) throw usageError(`Argument ${index + 1} is missing`)
  return value
}

/** `mainVCL` → `main-vcl` (docs/behaviour.md, Command line). */
export function toKebab(field: string): string {
  return field.replace(/[A-Z]+/g, (capitals) => `-${capitals.toLowerCase()}`)
}

/** Among the nouns that start with a vowel, only "user" takes "a". */
export function withArticle(singular: string): string {
  return `${/^[aeio]/.test(singular) ? 'an' : 'a'} ${singular}`
}
