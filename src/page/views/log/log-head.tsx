/** The head of both parts of the log: the caches or group, the filters and the query. All of it is kept in the URL. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useMemo } from 'preact/hooks'
import { useSearch } from 'wouter-preact'
import { toPrintableLine } from '../../../cli/printable-text.js'
import { handlings } from '../../../resources/logged-transaction.js'
import type { PermissionType } from '../../../resources/permission.js'
import type { Reference } from '../../../resources/resource.js'
import type { CallError } from '../../api/http.js'
import { useObject } from '../../api/object.js'
import { TextField } from '../../parts/field.js'
import { ChosenNames, NameField } from '../../parts/name-field.js'
import { Sections } from '../../parts/sections.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead } from '../../session/rights.js'
import { useAddressField } from '../../shell/address.js'
import { composeQuery, locateRefusal, statusClasses, type LogFilter } from './compose-query.js'

export function useLogFilter(): LogFilter {
  const search = useSearch()
  return useMemo(() => {
    const fields = new URLSearchParams(search)
    const read = (name: keyof LogFilter) => fields.get(name) ?? ''
    return {
      vclGroup: read('vclGroup'),
      agents: read('agents'),
      tags: read('tags'),
      domain: read('domain'),
      status: read('status'),
      handling: read('handling'),
      url: read('url'),
      query: read('query'),
    }
  }, [search])
}

interface LogHeadProps {
  readonly filter: LogFilter
  /** The refusal of the last call. */
  readonly error: CallError | null
}

export function LogHead({ filter, error }: LogHeadProps) {
  const search = useSearch()
  const words = search === '' ? '' : `?${search}`
  return (
    <>
      <ViewHead title="Log" />
      <Sections
        label="Parts of the log"
        items={[
          { href: `/log${words}`, title: 'Live' },
          { href: `/log/top${words}`, title: 'Top' },
        ]}
      />
      <div class="log-filters">
        <Names label="Group" field="vclGroup" path="/vclgroups?sort=name" needs="vclgroup" />
        <Names label="Caches" field="agents" path="/agents?sort=name" needs="agent" isMany />
        <Names label="Tags" field="tags" path="/tags?sort=name" needs="tag" isMany />
        <Names label="Domain" field="domain" path="/domains?sort=fqdn" needs="domain" />
        <Word label="Status" field="status" all="Any status" words={statusClasses} />
        <Word label="Handling" field="handling" all="Any handling" words={handlings} />
        <UrlField />
      </div>
      <QueryField filter={filter} error={error} />
    </>
  )
}

interface NamesProps {
  readonly label: string
  readonly field: keyof LogFilter
  readonly path: string
  readonly needs: PermissionType
  readonly isMany?: boolean
}

interface Named extends Reference {
  /** Domains have an fqdn instead of a name. */
  readonly fqdn?: string
}

function Names({ label, field, path, needs, isMany = false }: NamesProps) {
  const [word, setWord] = useAddressField(field, { isStep: true })
  const isReadable = mayRead(needs)
  const { value, error } = useObject<readonly Named[]>(isReadable ? path : null)
  const rows = useMemo(
    () => value?.map(({ id, name, fqdn }) => ({ id, name: fqdn ?? name })) ?? null,
    [value],
  )
  const names = useMemo(() => new Map(rows?.map(({ id, name }) => [id, name])), [rows])
  if (!isReadable) return null
  const chosen = word === '' ? [] : word.split(',').map(Number)
  return (
    <div class="field">
      <span class="field-label" aria-hidden="true">
        {label}
      </span>
      <NameField
        label={label}
        placeholder={error?.errorMsg ?? (chosen.length === 0 ? 'All' : isMany ? 'Add' : 'Another')}
        rows={rows}
        chosen={chosen}
        onChoose={(id) => {
          setWord((isMany ? [...chosen, id] : [id]).join(','))
        }}
      />
      {chosen.length > 0 && (
        <ChosenNames
          label={`Chosen: ${label}`}
          names={chosen.map((id) => ({ id, name: names.get(id) ?? String(id) }))}
          onDrop={(id) => {
            setWord(chosen.filter((one) => one !== id).join(','))
          }}
        />
      )}
    </div>
  )
}

interface WordProps {
  readonly label: string
  readonly field: keyof LogFilter
  readonly all: string
  readonly words: readonly string[]
}

function Word({ label, field, all, words }: WordProps) {
  const [word, setWord] = useAddressField(field, { isStep: true })
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <select
        class="field-input"
        value={word}
        onChange={({ currentTarget }) => {
          setWord(currentTarget.value)
        }}
      >
        <option value="">{all}</option>
        {words.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  )
}

function UrlField() {
  const { typed, commit } = useTyped('url')
  return (
    <form onSubmit={commit} onFocusOut={commit}>
      <TextField label="URL contains" placeholder="Any URL" value={typed} />
    </form>
  )
}

function QueryField({ filter, error }: LogHeadProps) {
  const { typed, commit } = useTyped('query')
  const refusal = error && locateRefusal(error, filter)
  const composed = composeQuery(filter)
  const hint =
    composed === filter.query.trim()
      ? 'As vsl-query(7) tells: RespStatus >= 500 and ReqHeader:Host eq "shop.example"'
      : `The caches are asked for: ${toPrintableLine(composed)}`
  return (
    <form onSubmit={commit} onFocusOut={commit}>
      <TextField
        label="Query"
        name="q"
        value={typed}
        placeholder="All requests"
        hint={hint}
        error={refusal?.error ?? null}
        mark={refusal?.mark ?? null}
      />
    </form>
  )
}

/** Text applies on Enter or blur: otherwise each letter would start a new stream. */
function useTyped(field: keyof LogFilter) {
  const [word, setWord] = useAddressField(field)
  const typed = useSignal(word)
  useLayoutEffect(() => {
    typed.value = word
  }, [word])
  const commit = (event: Event): void => {
    event.preventDefault()
    if (typed.peek() !== word) setWord(typed.peek())
  }
  return { typed, commit }
}
