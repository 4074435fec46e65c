/** Describes in sentences what an unlock would change. */
import type { UnlockDifference } from '../../../resources/agent.js'

/** Maximum number of names in one sentence. */
const namesShown = 10

export function describeUnlock(difference: UnlockDifference): readonly string[] {
  const { use, load, labels, discard, params, backends, omitted } = difference
  return [
    ...(use === null ? [] : [`${use} becomes active`]),
    ...describeNames('Loads', load),
    ...describeNames(
      'Sets labels',
      labels.map(({ label, program }) => `${label} to ${program}`),
    ),
    ...describeNames('Discards, with the source saved on its host,', discard),
    ...describeNames(
      'Sets parameters',
      params.map(({ name, value }) => `${name} to ${value ?? 'its default'}`),
    ),
    ...describeNames(
      'Sets backends',
      backends.map(({ name, health }) => `${name} to ${health}`),
    ),
    ...(omitted > 0 ? [`And ${omitted} more`] : []),
  ]
}

function describeNames(verb: string, names: readonly string[]): string[] {
  if (names.length === 0) return []
  const more = names.length - namesShown
  const shown = names.slice(0, namesShown).join(', ')
  return [`${verb} ${shown}${more > 0 ? ` and ${more} more` : ''}`]
}
