/** What can be done or opened, by what was typed: values in, values out. */

export interface Command {
  /** Different for each. */
  readonly key: string
  readonly title: string
  /** What it is: "Group", "View", "Action". */
  readonly kind: string
  /** Where it leads. */
  readonly href: string
}

export interface NounSearch {
  /** Of the API. */
  readonly path: string
  /** The field that it is found by. */
  readonly field: 'name' | 'fqdn'
  readonly kind: string
  /** Of the page: an object stands below it. */
  readonly view: string
}

export interface FoundObject {
  readonly noun: NounSearch
  readonly id: number
  readonly name: string
}

/** What may be said before an object's name: `deploy shop`. */
const verbs = /^(?:deploy|clear cache(?: of)?|graphs(?: of)?|open|go to)\s+(?=\S)/i

/** The part of the text that names an object. */
export function readName(text: string): string {
  return text.trim().replace(verbs, '')
}

/** Patterns of the API, which tells small letters from capitals: the text as it is, and as it may be written. */
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

/** An object, and what is done with it from elsewhere. */
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

/** What is shown of them. */
const shownMost = 30

/** Those that have every word of the text; what begins with it comes first, then objects before what is done with them. */
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
    .slice(0, shownMost)
    .map(({ command }) => command)
}

function rankOf({ title }: Command, start: string): number {
  const name = title.toLowerCase()
  if (name === start) return 0
  return name.startsWith(start) ? 1 : 2
}
