/** The organizations: made and changed by the system administrator; within one only that is seen. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import { Button } from '../../parts/button.js'
import { Empty } from '../../parts/empty.js'
import { StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { readWho } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { useRemoval } from './change-object.js'
import { ObjectList } from '../../parts/object-list.js'
import { OrganizationDialog } from './organization-dialog.js'
import { deedsColumn } from './row-deeds.js'

export function View() {
  const list = useList<Organization>('/organizations')
  const text = useSearchText()
  const edited = useSignal<Organization | 'new' | null>(null)
  const { deed, remove } = useRemoval(list.reload)
  const isSystem = readWho()?.role === 'system'
  const columns = useMemo(() => {
    if (!isSystem) return facts
    const edit = (organization: Organization): void => {
      edited.value = organization
    }
    return [
      ...facts,
      deedsColumn(
        ({ name }) => name,
        edit,
        (one) => void remove(questionOf(one), `/organizations/${one.id}`, 'Deleted.'),
      ),
    ]
  }, [isSystem, list.reload])
  const makeNew = (): void => {
    edited.value = 'new'
  }

  return (
    <>
      <AdministrationHead title="Organizations">
        {isSystem && (
          <Button kind="main" icon="add" onClick={makeNew}>
            New organization
          </Button>
        )}
      </AdministrationHead>
      <ObjectList
        label="Organizations"
        {...{ list, columns, problem: deed.error }}
        rows={list.rows.filter(({ name }) => name.toLowerCase().includes(text))}
      >
        <Empty icon="administration" title="No organizations yet">
          <p>
            Without one the fleet is the system administrator's alone. Each organization sees its
            own files, groups and domains, and its users get permissions there.
          </p>
        </Empty>
      </ObjectList>
      {edited.value && (
        <OrganizationDialog
          before={edited.value === 'new' ? null : edited.value}
          onSaved={list.reload}
          onClose={() => {
            edited.value = null
          }}
        />
      )}
    </>
  )
}

const facts: readonly Column<Organization>[] = [
  { title: 'Name', show: ({ name }) => name, sortBy: ({ name }) => name },
  {
    title: 'State',
    width: '7.5rem',
    show: ({ locked }) =>
      locked ? <StateChip state="Locked" /> : <StateChip state="Open" tone="good" />,
    sortBy: ({ locked }) => Number(locked),
  },
  {
    title: 'Access token lives',
    width: '11rem',
    from: 'wide',
    isEnd: true,
    show: ({ accessTTL }) => `${accessTTL} s`,
    sortBy: ({ accessTTL }) => accessTTL,
  },
  {
    title: 'Refresh token lives',
    width: '11rem',
    from: 'wide',
    isEnd: true,
    show: ({ refreshTTL }) => `${refreshTTL} s`,
    sortBy: ({ refreshTTL }) => refreshTTL,
  },
  {
    title: 'Made',
    width: '9rem',
    from: 'medium',
    show: ({ created }) => <Time at={created} isAgo />,
    sortBy: ({ created }) => created,
  },
]

function questionOf({ name }: Organization) {
  return {
    title: `Delete the organization ${name}?`,
    text: 'Its users and their tokens go with it. While it owns anything else it is not deleted.',
    verb: 'Delete',
    name,
  }
}
