/** The files: VCL and what it includes, with their versions and who uses them. */
import { useMemo } from 'preact/hooks'
import type { FileUser, FleetFile } from '../../api/file.js'
import { useList } from '../../api/list.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Labels } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { MakeFiles } from './make-files.js'
import { countTypes, fileTypeNames, findUsers, pickFiles } from './pick-files.js'

interface Row extends FleetFile {
  readonly users: readonly string[]
}

export function View() {
  const { rows, phase, error, reload } = useList<FleetFile>('/files')
  const text = useSearchText()
  const [type, setType] = useAddressField('type')
  const users = useUsers()
  const shown = useMemo(
    () =>
      pickFiles(rows, { text, type }).map((file) => ({ ...file, users: users.get(file.id) ?? [] })),
    [rows, text, type, users],
  )
  const isEmpty = phase === 'ready' && !error && shown.length === 0

  return (
    <>
      <ViewHead title="VCL">
        {mayWrite('file') && <MakeFiles known={rows} onMade={reload} />}
      </ViewHead>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {rows.length > 0 && (
        <Choices
          label="Type"
          value={type}
          onChoose={setType}
          choices={[{ value: '', title: 'All', count: rows.length }, ...countTypes(rows)]}
        />
      )}
      {shown.length > 0 && (
        <Table
          label="Files"
          rows={shown}
          columns={mayRead('vclgroup') ? columns : columnsAlone}
          linkOf={({ id }) => `/files/${id}`}
          sorting={{ title: 'Name', isDescending: false }}
          fills
        />
      )}
      {isEmpty && <NoFiles areAny={rows.length > 0} />}
    </>
  )
}

function NoFiles({ areAny }: { readonly areAny: boolean }) {
  if (areAny) return <Empty icon="search" title="No file fits these filters" />
  return (
    <Empty icon="file" title="No files yet">
      <p>Make one here, or upload the *.vcl of a cache; a VCL group then puts it on caches.</p>
    </Empty>
  )
}

/** Of who may not see groups there are none. */
function useUsers(): ReadonlyMap<number, readonly string[]> {
  const groups = useList<FileUser>('/vclgroups')
  return useMemo(() => findUsers(groups.rows), [groups.rows])
}

const columns: readonly Column<Row>[] = [
  { title: 'Name', show: ({ name }) => name, sortBy: ({ name }) => name },
  {
    title: 'Type',
    width: '6rem',
    show: ({ fileType }) => fileTypeNames[fileType],
    sortBy: ({ fileType }) => fileType,
  },
  {
    title: 'Version',
    width: '6rem',
    isEnd: true,
    show: ({ version }) => version,
    sortBy: ({ version }) => version,
  },
  {
    title: 'Used by',
    from: 'medium',
    show: ({ users }) => <Labels words={users} />,
    sortBy: ({ users }) => users.length,
  },
  {
    title: 'Changed',
    width: '9.5rem',
    from: 'medium',
    show: ({ updated }) => <Time at={updated} isAgo />,
    sortBy: ({ updated }) => updated,
  },
]
const columnsAlone = columns.filter(({ title }) => title !== 'Used by')
