/** Whose graphs are shown: a cache or a group, by its name, kept in the address. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useId, useMemo } from 'preact/hooks'
import type { Agent } from '../../../resources/agent.js'
import type { CallError } from '../../api/http.js'
import { useObject, type LoadedObject } from '../../api/object.js'
import type { PermissionType } from '../../../resources/permission.js'
import type { Reference } from '../../../resources/resource.js'
import { Choices } from '../../parts/choices.js'
import { mayRead } from '../../session/rights.js'
import { useAddressField } from '../../shell/address.js'
import { listSubjects, type Subject, type SubjectKind } from './list-subjects.js'

export interface Subjects {
  readonly all: readonly Subject[]
  /** Null: there is none. */
  readonly chosen: Subject | null
  readonly choose: (path: string) => void
  readonly isReady: boolean
  readonly error: CallError | null
}

export function useSubjects(): Subjects {
  const agents = useObject<readonly Agent[]>(mayRead('agent') ? '/agents' : null)
  const groups = useObject<readonly Reference[]>(mayRead('vclgroup') ? '/vclgroups' : null)
  const [word, choose] = useAddressField('of')
  const all = useMemo(
    () => listSubjects(agents.value ?? [], groups.value ?? []),
    [agents.value, groups.value],
  )
  return {
    all,
    chosen: all.find(({ path }) => path === word) ?? all[0] ?? null,
    choose,
    isReady: isRead(agents, 'agent') && isRead(groups, 'vclgroup'),
    error: agents.error ?? groups.error,
  }
}

function isRead({ value, error }: LoadedObject<unknown>, type: PermissionType): boolean {
  return value !== null || error !== null || !mayRead(type)
}

/** Browsers show a list of so many well; typing finds the rest. */
const offeredMost = 200

export function SubjectPicker({ all, chosen, choose }: Subjects) {
  const kind = chosen?.kind ?? 'agents'
  const text = useSignal(chosen?.name ?? '')
  const id = useId()
  useLayoutEffect(() => {
    text.value = chosen?.name ?? ''
  }, [chosen?.path])
  const ofKind = all.filter((one) => one.kind === kind)
  const fitting = ofKind.filter(({ name }) => name.toLowerCase().includes(text.value.toLowerCase()))
  // The chosen name does not filter.
  const offered = (text.value === chosen?.name ? ofKind : fitting).slice(0, offeredMost)
  return (
    <>
      <Choices
        label="Of"
        choices={listKinds(all)}
        value={kind}
        onChoose={(next) => {
          const first = all.find((one) => one.kind === next)
          if (first) choose(first.path)
        }}
      />
      <input
        class="field-input graphs-subject"
        list={id}
        aria-label={kind === 'agents' ? 'Cache' : 'Group'}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
          const found = ofKind.find(({ name }) => name === currentTarget.value)
          if (found) choose(found.path)
        }}
        onFocus={({ currentTarget }) => {
          currentTarget.select()
        }}
        onBlur={() => {
          text.value = chosen?.name ?? ''
        }}
      />
      <datalist id={id}>
        {offered.map(({ path, name }) => (
          <option key={path} value={name} />
        ))}
      </datalist>
    </>
  )
}

const kinds: readonly { readonly value: SubjectKind; readonly title: string }[] = [
  { value: 'agents', title: 'Cache' },
  { value: 'vclgroups', title: 'Group' },
]

/** Those that there are any of. */
function listKinds(all: readonly Subject[]) {
  return kinds.filter(({ value }) => all.some(({ kind }) => kind === value))
}
