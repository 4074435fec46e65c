/**
 * The shape of the command line: nouns and verbs are data, read by the parser (program.ts), the help and the
 * completion. What a verb does is imported when it runs, so that starting stays cheap.
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
  /** As commander writes them: `<id>`, `[path]`, `<id...>`. */
  readonly arguments?: readonly string[]
  readonly flags?: readonly Flag[]
  /** What is typed behind `cachefleet`. */
  readonly example: string
  /** For programs: help and completion leave it out. */
  readonly isHidden?: boolean
  /** Without a result: done. */
  readonly run: (invocation: Invocation) => Promise<ExitCode | undefined>
}

export interface Flag {
  /** `--wait <time>`; without an argument it is a switch. */
  readonly form: string
  readonly summary: string
  /** May be given more than once. */
  readonly repeatable?: boolean
}

/** How objects of a kind are found: by id, or by what stands in `nameField`. */
export interface Named {
  readonly path: string
  readonly singular: string
  /** `account.name` reaches into an object; null: by id only. */
  readonly nameField: string | null
  /** How the API writes a name that may be typed in several ways. */
  readonly toStoredName?: (typed: string) => string
}

export interface Field {
  /** Of the API; its flag is the same in kebab-case. */
  readonly name: string
  readonly type: FieldType
  readonly summary: string
  /** Left out: both. */
  readonly only?: 'add' | 'update'
  /** `--no-FIELD` sends null; booleans always have it. */
  readonly clearable?: boolean
}

export type FieldType =
  | { readonly kind: 'text' | 'integer' | 'boolean' }
  /** Seconds since 1970; typed also as a time from now, or a date. */
  | { readonly kind: 'moment' }
  /** `openid,profile`; `form`: of each. */
  | { readonly kind: 'words'; readonly form?: TextForm }
  /** `files=100,agents=20`. */
  | { readonly kind: 'numbers' }
  /** `tag:read,file:write`. */
  | { readonly kind: 'grants' }
  /** The text itself, `@FILE` or `-`; what is not text is sent as base64 with `encoded`. */
  | { readonly kind: 'source' }
  | { readonly kind: 'reference'; readonly of: Named }
  /** `newNames`: a name is sent as it is, and the API makes what is missing. */
  | { readonly kind: 'references'; readonly of: Named; readonly newNames?: boolean }

interface NounWords {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  readonly example: string
}

/** What the verbs of a noun are made of that stands for objects of the API. */
export interface NounParts extends Named, NounWords {
  readonly columns: readonly Column[]
  readonly fields: readonly Field[]
  /** What examples call one; `web` otherwise. */
  readonly exampleObject?: string
}

/** With its verbs. */
export interface Noun extends NounParts {
  readonly verbs: readonly Verb[]
}

/** What is kept on this machine only. */
export interface LocalNoun extends NounWords {
  readonly verbs: readonly Verb[]
}

export interface Grammar {
  /** Before or behind every noun and verb. */
  readonly flags: readonly Flag[]
  readonly verbs: readonly Verb[]
  readonly nouns: readonly (Noun | LocalNoun)[]
}

/** One call of the program, parsed. */
export interface Invocation {
  readonly words: readonly string[]
  /** By kebab-case name; a switch is true, its `--no-` form false. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly output: Output
  readonly system: System
  readonly settings: ConnectionSettings
  readonly grammar: Grammar
  /** Connects at its first call. Throws CliError when nobody is logged in. */
  openApi(): Promise<Api>
}

export interface System {
  readonly environment: Environment
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly now: () => number
  /** What is said on Ctrl-C from now on; empty: nothing. */
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

/** Of one that may be given more than once. */
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

/** The parser has checked that it is there. */
export function word({ words }: Invocation, index: number): string {
  const value = words[index]
  if (value === undefined) throw usageError(`Argument ${index + 1} is missing`)
  return value
}

/** `mainVCL` → `main-vcl` (docs/behaviour.md, Command line). */
export function toKebab(field: string): string {
  return field.replace(/[A-Z]+/g, (capitals) => `-${capitals.toLowerCase()}`)
}

/** Of the nouns that begin with a vowel, "user" alone is not spoken so. */
export function withArticle(singular: string): string {
  return `${/^[aeio]/.test(singular) ? 'an' : 'a'} ${singular}`
}
