/** The organizations: made and changed by the system administrator; within one only that is seen. */
import { useMemo } from 'preact/hooks'
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import { agoColumn, lockedColumn, nameColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { NewButton } from '../../parts/new-button.js'
import type { Column } from '../../parts/table.js'
import { readWho } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { useEdited, useRemoval } from './change-object.js'
import { ObjectList } from '../../parts/object-list.js'
import { OrganizationDialog } from './organization-dialog.js'
import { deedsColumn } from './row-deeds.js'

export function View() {
  const list = useList<Organization>('/organizations')
  const text = useSearchText()
  const { edit, makeNew, asked } = useEdited<Organization>()
  const { deed, remove } = useRemoval(list.reload)
  const isSystem = readWho()?.role === 'system'
  const columns = useMemo(() => {
    if (!isSystem) return facts
    return [
      ...facts,
      deedsColumn(
        ({ name }) => name,
        edit,
        (one) => void remove(questionOf(one), `/organizations/${one.id}`, 'Deleted.'),
      ),
    ]
  }, [isSystem, list.reload])
  return (
    <>
      <AdministrationHead title="Organizations">
        {isSystem && <NewButton noun="organization" onPress={makeNew} />}
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
      {asked && <OrganizationDialog {...asked} onSaved={list.reload} />}
    </>
  )
}

const facts: readonly Column<Organization>[] = [
  nameColumn(({ name }) => name),
  lockedColumn(),
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
  agoColumn('Made', ({ created }) => created, { from: 'medium' }),
]

function questionOf({ name }: Organization) {
  return {
    title: `Delete the organization ${name}?`,
    text: 'Its users and their tokens go with it. While it owns anything else it is not deleted.',
    verb: 'Delete',
    name,
  }
}
