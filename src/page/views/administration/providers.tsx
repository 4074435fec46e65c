/** Identity providers: where the people of an organization log in instead of here. */
import { useMemo } from 'preact/hooks'
import type { Idp } from '../../api/idp.js'
import { useList } from '../../api/list.js'
import { Empty } from '../../parts/empty.js'
import { NewButton } from '../../parts/new-button.js'
import type { Column } from '../../parts/table.js'
import { mayWrite } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { useEdited, useRemoval } from './change-object.js'
import { ObjectList } from '../../parts/object-list.js'
import { ProviderDialog } from './provider-dialog.js'
import { deedsColumn } from './row-deeds.js'

export function View() {
  const list = useList<Idp>('/idps')
  const text = useSearchText()
  const { edit, makeNew, asked } = useEdited<Idp>()
  const { deed, remove } = useRemoval(list.reload)
  const isWriter = mayWrite('idp')
  const columns = useMemo(() => {
    if (!isWriter) return facts
    return [
      ...facts,
      deedsColumn(
        ({ organization }) => `the provider of ${organization.name}`,
        edit,
        (one) => void remove(questionOf(one), `/idps/${one.id}`, 'Deleted.'),
      ),
    ]
  }, [isWriter, list.reload])
  const shown = list.rows.filter(({ organization, baseURL }) =>
    `${organization.name} ${baseURL}`.toLowerCase().includes(text),
  )
  return (
    <>
      <AdministrationHead title="Identity providers">
        {isWriter && <NewButton noun="identity provider" onPress={makeNew} />}
      </AdministrationHead>
      <ObjectList
        label="Identity providers"
        rows={shown}
        {...{ list, columns, problem: deed.error }}
      >
        <Empty icon="administration" title="No identity providers yet">
          <p>
            With one the people of an organization log in where they do anyway (OpenID Connect).
          </p>
        </Empty>
      </ObjectList>
      {asked && <ProviderDialog {...asked} onSaved={list.reload} />}
    </>
  )
}

const facts: readonly Column<Idp>[] = [
  {
    title: 'Organization',
    show: ({ organization }) => organization.name,
    sortBy: ({ organization }) => organization.name,
  },
  { title: 'Address', show: ({ baseURL }) => baseURL, sortBy: ({ baseURL }) => baseURL },
  { title: 'Client', from: 'medium', show: ({ clientID }) => clientID },
  { title: 'Claim of the role', from: 'wide', show: ({ roleClaim }) => roleClaim || 'None' },
]

function questionOf({ organization, baseURL }: Idp) {
  return {
    title: `Delete the identity provider of ${organization.name}?`,
    text: `Nobody logs in by ${baseURL} any more. Accounts that came in by it stay.`,
    verb: 'Delete',
    name: organization.name,
  }
}
