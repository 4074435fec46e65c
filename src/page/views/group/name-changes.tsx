/** Compares the domains or deployments of two deploys. */
import { compareNames } from './compare-pins.js'

const signs = { added: '+', removed: '−', kept: '' } as const
const tones = { added: 'tone-good', removed: 'tone-bad', kept: 'quiet' } as const
const words = { added: 'added', removed: 'removed', kept: 'no change' } as const

interface NameChangesProps {
  readonly label: string
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly none: string
}

export function NameChanges({ label, before, after, none }: NameChangesProps) {
  const changes = compareNames(before, after)
  if (changes.length === 0) return <p class="quiet">{none}</p>
  return (
    <ul class="plain-list group-names" aria-label={label}>
      {changes.map(({ name, what }) => (
        <li key={`${what} ${name}`} class={`group-change ${tones[what]}`}>
          {signs[what]} {name} <span class="unseen">{words[what]}</span>
        </li>
      ))}
    </ul>
  )
}
