/** The files: VCL and what it includes, with their versions and who uses them. */
import { useMemo } from 'preact/hooks'
import type { FileUser, FleetFile } from '../../api/file.js'
import { useList } from '../../api/list.js'
import { Choices } from '../../parts/choices.js'
import { agoColumn, countColumn, nameColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ObjectList } from '../../parts/object-list.js'
import { Labels } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { MakeFiles } from './make-files.js'
import { countTypes, fileTypeNames, findUsers, pickFiles } from './pick-files.js'

interface Row extends FleetFile {
  readonly users: readonly string[]
}

export function View() {
  const list = useList<FleetFile>('/files', { follow: ['file'] })
  const { rows, phase } = list
  const text = useSearchText()
  const [type, setType] = useAddressField('type')
  const users = useUsers()
  const shown = useMemo(
    () =>
      pickFiles(rows, { text, type }).map((file) => ({ ...file, users: users.get(file.id) ?? [] })),
    [rows, text, type, users],
  )

  return (
    <>
      <ViewHead title="VCL">
        {mayWrite('file') && (
          <MakeFiles known={phase === 'ready' ? rows : null} onMade={list.reload} />
        )}
      </ViewHead>
      {rows.length > 0 && (
        <Choices
          label="Type"
          value={type}
          onChoose={setType}
          choices={[{ value: '', title: 'All', count: rows.length }, ...countTypes(rows)]}
        />
      )}
      <ObjectList
        {...{ list, label: 'Files', rows: shown }}
        columns={mayRead('vclgroup') ? columns : columnsAlone}
        linkOf={({ id }) => `/files/${id}`}
        sorting={{ title: 'Name', isDescending: false }}
      >
        <Empty icon="file" title="No files yet">
          <p>Make one here, or upload the *.vcl of a cache; a VCL group then puts it on caches.</p>
        </Empty>
      </ObjectList>
    </>
  )
}

/** Of who may not see groups there are none. */
function useUsers(): ReadonlyMap<number, readonly string[]> {
  const groups = useList<FileUser>('/vclgroups', { follow: ['vclgroup'] })
  return useMemo(() => findUsers(groups.rows), [groups.rows])
}

const columns: readonly Column<Row>[] = [
  nameColumn(({ name }) => name),
  {
    title: 'Type',
    width: '6rem',
    show: ({ fileType }) => fileTypeNames[fileType],
    sortBy: ({ fileType }) => fileType,
  },
  countColumn('Version', ({ version }) => version),
  {
    title: 'Used by',
    from: 'medium',
    show: ({ users }) => <Labels words={users} />,
    sortBy: ({ users }) => users.length,
  },
  agoColumn('Changed', ({ updated }) => updated, { from: 'medium' }),
]
const columnsAlone = columns.filter(({ title }) => title !== 'Used by')
