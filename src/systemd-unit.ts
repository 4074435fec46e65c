/** How systemd starts our services on this host: read from the unit files, because the caller may be in a container without systemd. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface ServiceUnit {
  readonly name: string
  /** Null: the unit has none. */
  readonly stateDir: string | null
  /** Null: root. */
  readonly user: string | null
  /** `SupplementaryGroups=`. */
  readonly groups: readonly string[]
  /** `Environment=` and `EnvironmentFile=`. */
  readonly environment: Readonly<Record<string, string>>
  /** The arguments in `ExecStart=`, without the program. */
  readonly words: readonly string[]
  /** The last value of each setting in the [Service] section. */
  readonly settings: Readonly<Record<string, string>>
}

/** systemd.unit(5): the first folder that has the unit wins. */
const folders = [
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
]
const stateFolder = '/var/lib'

/** Undefined when the unit is not installed. `NAME@INSTANCE.service` reads the template. `root`: the root of the host's files. */
export function readServiceUnit(name: string, root = '/'): ServiceUnit | undefined {
  const places = folders.map((folder) => join(root, folder))
  const [template = '', instance] = name.replace('.service', '').split('@')
  const inFile = instance === undefined ? name : `${template}@.service`
  const unit = places.map((place) => join(place, inFile)).find((file) => existsSync(file))
  if (unit === undefined) return undefined
  const lines = [unit, ...listDropIns(places, `${inFile}.d`)]
    .flatMap(readServiceLines)
    .map(([key, value]): Line => [key, value.replaceAll(/%[iI]/g, instance ?? '')])
  const environment = readEnvironment(lines, root)
  const [stateDirectory] = valuesOf(lines, 'StateDirectory').flatMap(splitWords)
  return {
    name,
    // A colon may separate the name of a symlink.
    stateDir: stateDirectory ? join(root, stateFolder, stateDirectory.split(':')[0] ?? '') : null,
    environment,
    user: valuesOf(lines, 'User').at(-1) ?? null,
    groups: valuesOf(lines, 'SupplementaryGroups').flatMap(splitWords),
    settings: Object.fromEntries(lines),
    words: readProgramWords(valuesOf(lines, 'ExecStart').at(-1) ?? '', environment),
  }
}

type Line = readonly [key: string, value: string]

/** Sorted by name; of two with the same name the one in the first folder wins. */
function listDropIns(places: readonly string[], folder: string): readonly string[] {
  const found = new Map<string, string>()
  for (const place of places.toReversed()) {
    const whole = join(place, folder)
    const names = existsSync(whole) ? readdirSync(whole) : []
    for (const name of names) if (name.endsWith('.conf')) found.set(name, join(whole, name))
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file)
}

function readServiceLines(file: string): readonly Line[] {
  // A trailing backslash joins a line with the next.
  const text = readFileSync(file, 'utf8').replaceAll('\\\n', ' ')
  let section = ''
  return text.split('\n').flatMap((line): Line[] => {
    section = /^\[(\w+)\]/.exec(line)?.[1] ?? section
    const at = line.indexOf('=')
    const isSetting = section === 'Service' && at > 0
    return isSetting ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []
  })
}

/** An empty value resets the earlier ones. */
function valuesOf(lines: readonly Line[], wanted: string): readonly string[] {
  const values = lines.filter(([key]) => key === wanted).map(([, value]) => value)
  return values.slice(values.lastIndexOf('') + 1)
}

function readEnvironment(lines: readonly Line[], root: string): Record<string, string> {
  const files = valuesOf(lines, 'EnvironmentFile').map((value) => value.replace(/^-/, ''))
  const texts = files.map((file) => join(root, file)).filter((file) => existsSync(file))
  const pairs = [
    ...valuesOf(lines, 'Environment').flatMap(splitWords),
    ...texts.flatMap((file) => readFileSync(file, 'utf8').split('\n')).map(readFileLine),
  ]
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const [, name, value] = /^\s*(\w+)=(.*)$/.exec(pair) ?? []
      return name === undefined ? [] : [[name, value ?? '']]
    }),
  )
}

/** A value in an environment file may be quoted and extends to the end of the line. */
function readFileLine(line: string): string {
  return line.trim().replace(/^(\w+=)(["'])(.*)\2$/, '$1$3')
}

function readProgramWords(
  command: string,
  environment: Readonly<Record<string, string>>,
): readonly string[] {
  const words = splitWords(command)
  const program = words.findIndex((word) => /^cachefleetd(?:\.js)?$/.test(basename(word)))
  return words.slice(program + 1).flatMap((word) => {
    const whole = /^\$(\w+)$/.exec(word)?.[1]
    if (whole !== undefined) return splitWords(environment[whole] ?? '')
    return [word.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => environment[name] ?? '')]
  })
}

/** Splits at blanks outside quotes. */
function splitWords(text: string): readonly string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  return words.map((word) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, a?: string, b?: string) => a ?? b ?? ''),
  )
}
