/** Filters the caches by state, tag, configuration and version; the choice is kept in the address. */
import { useMemo } from 'preact/hooks'
import type { Agent } from '../../../resources/agent.js'
import { Choices } from '../../parts/choices.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import {
  countStates,
  countWords,
  facets,
  type AgentFilter,
  type CountedWord,
  type Facet,
} from './filter-agents.js'

export interface Filters {
  readonly filter: AgentFilter
  readonly set: Readonly<Record<Facet | 'state', (word: string) => void>>
}

export function useFilters(): Filters {
  const text = useSearchText()
  const [state, setState] = useAddressField('state')
  const [tag, setTag] = useAddressField('tag')
  const [config, setConfig] = useAddressField('config')
  const [version, setVersion] = useAddressField('version')
  const filter = useMemo(
    () => ({ text, state, tag, config, version }),
    [text, state, tag, config, version],
  )
  return {
    filter,
    set: { state: setState, tag: setTag, config: setConfig, version: setVersion },
  }
}

interface FilterBarProps extends Filters {
  readonly rows: readonly Agent[]
}

export function FilterBar({ rows, filter, set }: FilterBarProps) {
  const states = useMemo(() => countStates(rows), [rows])
  return (
    <div class="caches-filters">
      <Choices
        label="State"
        value={filter.state}
        onChoose={set.state}
        choices={[{ value: '', title: 'All', count: rows.length }, ...states]}
      />
      <FacetFilter rows={rows} filter={filter} set={set} facet="tag" label="Tag" all="All tags" />
      <FacetFilter
        rows={rows}
        filter={filter}
        set={set}
        facet="config"
        label="Config"
        all="Any config"
      />
      <FacetFilter
        rows={rows}
        filter={filter}
        set={set}
        facet="version"
        label="Version"
        all="All versions"
      />
    </div>
  )
}

interface FacetFilterProps extends FilterBarProps {
  readonly facet: Facet
  readonly label: string
  readonly all: string
}

function FacetFilter({ rows, filter, set, facet, label, all }: FacetFilterProps) {
  const words = useMemo(() => countWords(rows, facets[facet]), [rows, facet])
  const value = filter[facet]
  // A value that all caches share filters nothing.
  const isOffered = value !== '' || words.some(({ count }) => count < rows.length)
  return (
    isOffered && (
      <WordFilter label={label} all={all} words={words} value={value} onChoose={set[facet]} />
    )
  )
}

interface WordFilterProps {
  readonly label: string
  /** Label of the option that turns the filter off. */
  readonly all: string
  readonly words: readonly CountedWord[]
  /** Empty: all. */
  readonly value: string
  readonly onChoose: (word: string) => void
}

function WordFilter({ label, all, words, value, onChoose }: WordFilterProps) {
  // A link may name a value that no cache has any more.
  const isKnown = value === '' || words.some(({ word }) => word === value)
  return (
    <select
      class="field-input caches-words"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => {
        onChoose(currentTarget.value)
      }}
    >
      <option value="">{all}</option>
      {!isKnown && <option value={value}>{value} (0)</option>}
      {words.map(({ word, count }) => (
        <option key={word} value={word}>
          {word} ({count})
        </option>
      ))}
    </select>
  )
}
