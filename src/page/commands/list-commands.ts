/** Lists the commands that match the typed text; pure functions. */

export interface Command {
  /** Unique. */
  readonly key: string
  readonly title: string
  /** Kind of the command: "Group", "View", "Action". */
  readonly kind: string
  /** Address that the command opens. */
  readonly href: string
}

export interface NounSearch {
  /** Path in the API. */
  readonly path: string
  /** The field that is searched. */
  readonly field: 'name' | 'fqdn'
  readonly kind: string
  /** Path of the view; an object's view is below it. */
  readonly view: string
}

export interface FoundObject {
  readonly noun: NounSearch
  readonly id: number
  readonly name: string
}

/** Verbs that may precede an object's name: `deploy shop`. */
const verbs = /^(?:deploy|clear cache(?: of)?|graphs(?: of)?|open|go to)\s+(?=\S)/i

/** Returns the part of the text that names an object. */
export function readName(text: string): string {
  return text.trim().replace(verbs, '')
}

/** Builds the API's patterns, which are case-sensitive: the text as typed and in other usual cases. */
export function composePattern(name: string): string {
  const [first = '', ...rest] = name
  const forms = [name, name.toLowerCase(), name.toUpperCase(), first.toUpperCase() + rest.join('')]
  return [...new Set(forms)].map((form) => `*${form.replace(/[\\*,]/g, '\\$&')}*`).join(',')
}

interface ObjectRights {
  readonly deploys: boolean
  readonly clears: boolean
  readonly graphs: boolean
}

/** Returns the command that opens an object and the actions on it. */
export function listOfObject(
  { noun, id, name }: FoundObject,
  { deploys, clears, graphs }: ObjectRights,
): readonly Command[] {
  const key = `${noun.path} ${id}`
  const action = (verb: string, title: string, href: string): Command => {
    return { key: `${verb} ${key}`, title, kind: 'Action', href }
  }
  const isGroup = noun.path === '/vclgroups'
  return [
    { key, title: name, kind: noun.kind, href: `${noun.view}/${id}` },
    ...(isGroup && deploys ? [action('deploy', `Deploy ${name}`, `/groups/${id}/deploy`)] : []),
    ...(isGroup && clears
      ? [action('clear', `Clear cache of ${name}`, `/invalidations/new?vclGroup=${id}`)]
      : []),
    ...(graphs && ['/vclgroups', '/agents', '/tags'].includes(noun.path)
      ? [action('graphs', `Graphs of ${name}`, `/graphs?of=${noun.path.slice(1)}/${id}`)]
      : []),
  ]
}

/** Maximum number of commands shown. */
const maxShown = 30

/** Returns the commands that contain every word; those that start with the text come first, then objects before actions on them. */
export function filterCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const start = words.join(' ')
  return commands
    .filter(({ title, kind }) => {
      const whole = `${title} ${kind}`.toLowerCase()
      return words.every((word) => whole.includes(word))
    })
    .map((command, at) => ({ command, rank: rankOf(command, start), at }))
    .sort((a, b) => a.rank - b.rank || a.at - b.at)
    .slice(0, maxShown)
    .map(({ command }) => command)
}

function rankOf({ title }: Command, start: string): number {
  const name = title.toLowerCase()
  if (name === start) return 0
  return name.startsWith(start) ? 1 : 2
}
