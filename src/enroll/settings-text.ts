/** Adds the settings of an enrolment to the agent's settings file: everything else in it stays, including comments. Pure. */
import { Document, isMap, parseDocument } from 'yaml'
import { EnrollError } from './enroll-error.js'

/** Null removes a setting. */
export type Values = Readonly<Record<string, string | null>>

const head = ' Settings of this agent: cachefleetd --help tells all.'

interface Added {
  /** They override the file. */
  readonly values: Values
  /** The file overrides these. */
  readonly defaults: Values
}

/** `text`: the content of the file; null: it does not exist. Throws EnrollError if it is no YAML or already enrols. */
export function addSettings(
  file: string,
  text: string | null,
  { values, defaults }: Added,
): string {
  const document = parse(file, text)
  const enrolled: unknown =
    document.get('coordinatorUrl') ?? document.get('coordinator-url') ?? undefined
  if (typeof enrolled === 'string')
    throw new EnrollError(
      `${file} enrols at ${enrolled} already: for another cache on this host add --instance NAME, for another coordinator take coordinatorUrl out of the file`,
    )
  const missing = Object.entries(defaults).filter(
    ([name]) => !document.has(name) && !document.has(flagOf(name)),
  )
  return changeSettings(document, { ...values, ...Object.fromEntries(missing) })
}

/** Removes settings from a file that `addSettings` wrote. */
export function takeOutSettings(file: string, text: string, names: readonly string[]): string {
  const gone = Object.fromEntries(names.map((name) => [name, null]))
  return changeSettings(parse(file, text), gone)
}

function changeSettings(document: Document, values: Values): string {
  for (const [name, value] of Object.entries(values)) {
    // A setting may be named like its flag; both count as one.
    const gone =
      value === null ? [name, flagOf(name)] : [flagOf(name)].filter((one) => one !== name)
    for (const one of gone) if (document.has(one)) document.delete(one)
    if (value !== null) document.set(name, value)
  }
  return document.toString({ flowCollectionPadding: false, lineWidth: 0 })
}

function flagOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function parse(file: string, text: string | null): Document {
  if (text === null) {
    const document = new Document({})
    document.commentBefore = head
    return document
  }
  const document: Document = parseDocument(text)
  const [error] = document.errors
  const isSettings = document.contents === null || isMap(document.contents)
  if (error ?? !isSettings)
    throw new EnrollError(
      `${file} cannot be read as settings: ${error?.message.split('\n')[0] ?? 'it must hold names with values'}; mend it, or move it away`,
    )
  return document
}
